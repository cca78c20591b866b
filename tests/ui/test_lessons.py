"""Each lesson from its first step to its last, in the app as it ships, without network."""

import re

import pytest
from playwright.sync_api import expect

from tests.ui.conftest import PATIENCE
from vsdemo.ui.guide import content

pytestmark = pytest.mark.long
WIDTHS = {1440: 900, 390: 844}
ANSWERS = {  # tab -> what is on the page when it has answered
    "search": "#grid .score-bar",
    "align": "#parts svg",
    "sentences": "#similarity section.similarity li",
    "compare": "#compare-results .rank",
    "hierarchy": "#here h2",
    "train": "#replay-results img, #command",
}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("number", range(len(content.lessons())))
def test_a_lesson_is_walked_to_its_end(shipped, browser, number, width):
    page = browser.new_page(viewport={"width": width, "height": WIDTHS[width]})
    page.set_default_timeout(PATIENCE)
    errors, hosts = [], set()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: hosts.add(request.url.split("/")[2].split(":")[0]))
    page.goto(f"{shipped}?learn=lesson-{number + 1}-1")
    guide, lesson = page.locator("#guide"), content.lessons()[number]
    for place, step in enumerate(lesson.steps, start=1):
        expect(guide.get_by_role("heading", name=step.title, exact=True)).to_be_visible(
            timeout=PATIENCE
        )
        if step.question:
            guide.get_by_label(step.options[step.answer], exact=True).check()
        guide.get_by_role("button", name=step.button, exact=True).click()
        if step.question:
            expect(guide.get_by_text("You were right")).to_be_visible()
        expect(guide.locator(".revealed")).to_be_visible()
        tab = re.match(r"\?tab=([a-z]+)", step.address)[1]
        expect(page.locator(ANSWERS[tab]).first).to_be_attached(timeout=PATIENCE)
        if "beside=" in step.address:  # two trainings to compare
            expect(page.locator("#replay-results img").first).to_be_visible(timeout=PATIENCE)
            page.locator("#replay-curves").scroll_into_view_if_needed()
            expect(page.locator("#replay-curves .curves .runs li")).to_have_count(2)
            expect(page.locator("#replay-curves [data-panel=dev] .point").first).to_be_attached()
        expect(page.locator("[role=tab][aria-selected=true]").first).to_have_text(tab.capitalize())
        expect(page.locator(".problem:visible")).to_have_count(0)
        if place < len(lesson.steps):
            guide.get_by_role("button", name="Next step").click()
    page.close()
    assert errors == []
    assert hosts <= {"127.0.0.1", ""}
