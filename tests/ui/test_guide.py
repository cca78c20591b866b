"""The guide: its texts, its pages over HTTP, and how a visitor uses it."""

import codecs
import csv
import re
from html import unescape

import httpx
import pytest
from playwright.sync_api import expect

from tests.support import fake_alignment
from tests.test_readme import ROOT
from tests.ui.test_accessibility import WIDTHS, check, opened
from vsdemo.ui import TABS
from vsdemo.ui.guide import content, view
from vsdemo.ui.layout import SHARED

KEYS = [tab.key for tab in TABS]
PHONE = {"width": 390, "height": 844}


def pages():
    """Return the names of all pages."""
    names = ["home", "glossary", *(f"explain-{tab}" for tab in KEYS)]
    names += [f"tour-{i + 1}" for i in range(len(content.tour()))]
    lessons = enumerate(content.lessons(), start=1)
    return names + [f"lesson-{i}-{j + 1}" for i, one in lessons for j in range(len(one.steps))]


@pytest.mark.parametrize("name", pages())
def test_every_page_is_complete(name):
    html = view.fragment(name)
    assert html
    assert "{{" not in html
    assert "[[" not in html
    terms = {term.name for term in content.glossary()}
    assert set(re.findall(r'data-term="([^"]*)"', html)) <= terms
    targets = set(re.findall(r'data-guide="([^"]*)"', html))
    assert targets <= {*pages(), "here"}
    for address in re.findall(r'data-(?:go|show)="\?([^"]*)"', html):
        assert re.match(r"tab=([a-z]+)", address)[1] in KEYS


def test_every_tab_is_explained_with_an_equation_and_a_file():
    assert list(content.explanations()) == KEYS
    for tab, explanation in content.explanations().items():
        assert (ROOT / explanation.file).is_file()
        html = view.fragment(f"explain-{tab}")
        assert "<math" in html
        assert re.search(r"\d", view.with_figures(explanation.figure))


@pytest.mark.parametrize(
    "name",
    [
        *("", "x", "explain-", "explain-x", "tour-0", "tour-99", "lesson-1", "lesson-9-1"),
        *(
            "tour-x-1",
            "lesson-1-x-2",
            "../guide/home",
            pytest.param("tour-" + "1" * 5000, id="long"),
        ),
    ],
)
def test_there_is_no_other_page(name):
    assert view.fragment(name) is None


def test_texts_are_escaped_and_terms_are_buttons():
    html = view.with_terms("a <b> [[rank]] and [[fragment|fragments]]")
    assert "&lt;b&gt;" in html
    assert 'data-term="rank">rank</button>' in html
    assert 'data-term="fragment">fragments</button>' in html


def test_the_guide_is_sent_page_by_page(apps):
    with httpx.Client(base_url=apps["toy"], timeout=30) as http:
        assert "Glossary" in http.get("guide/glossary").text
        assert http.get("guide/..%2f..%2fapp").status_code == 404
        assert http.get("guide/nothing").status_code == 404
        sheet = http.get("guide/worksheet-1.csv")
        rows = list(csv.DictReader(sheet.text.splitlines()))
        assert [row["question"] for row in rows] == [
            step.question for step in content.lessons()[0].steps
        ]
        assert sheet.content.startswith(codecs.BOM_UTF8)  # for Excel
        german = http.get("guide/worksheet-1.csv", headers={"Accept-Language": "de"})
        rows = list(csv.reader(german.content.decode("utf-8-sig").splitlines(), delimiter=";"))
        assert {len(row) for row in rows} == {6}
        for number in ("0", "99", "x", "1" * 5000):
            assert http.get(f"guide/worksheet-{number}.csv").status_code == 404
        teacher = http.get("guide/teacher").text
        for lesson in content.lessons():
            assert lesson.title in teacher
            for step in lesson.steps:
                assert step.title in unescape(teacher)


def test_the_page_of_the_guide_is_no_part_of_a_visit():
    assert "learn" in SHARED


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
def test_a_visitor_reads_about_the_open_tab_and_looks_up_a_term(visit, viewport):
    page = visit(viewport=viewport) if viewport else visit()
    expect(page.locator("#grid .score-bar").first).to_be_visible()
    learn = page.get_by_role("button", name="Learn", exact=True)
    learn.focus()
    page.keyboard.press("Enter")
    guide = page.get_by_role("complementary", name="Learn")
    expect(guide.get_by_role("heading", name="Sentences as trees")).to_be_visible()
    guide.get_by_role("button", name="embedding").click()
    expect(page.locator("#term-embedding")).to_be_focused()
    check(page)
    page.keyboard.press("Escape")
    expect(guide).to_be_hidden()
    expect(learn).to_be_focused()


def test_the_explanation_follows_the_tab(visit):
    page = visit(path="?learn=explain-search")
    guide = page.locator("#guide")
    expect(guide.get_by_role("heading", name="Sentences as trees")).to_be_visible()
    page.get_by_role("tab", name="Sentences").click()
    expect(guide.get_by_role("heading", name="Meaning without photos")).to_be_visible()


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
def test_the_tour_leads_through_the_tabs_and_is_left_and_found_again(visit, viewport):
    page = visit(path="?learn=home", viewport=viewport or {"width": 1440, "height": 900})
    guide = page.locator("#guide")
    guide.get_by_role("button", name="Start the tour").click()
    for number, step in enumerate(content.tour(), start=1):
        expect(guide.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        expect(page.locator(f".framed:is({step.look})")).to_be_visible()
        if number == 3:
            guide.get_by_role("button", name="Close").click()
            expect(page.locator(".framed")).to_have_count(0)
            page.go_back()
            page.get_by_role("button", name="Learn", exact=True).click()
            expect(guide.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        if number < len(content.tour()):
            guide.get_by_role("button", name="Next").click()
    guide.get_by_role("button", name="Start using it").click()
    expect(guide).to_be_hidden()


def test_a_lesson_asks_opens_the_page_and_tells_the_answer(visit):
    page = visit(path="?learn=lesson-1-1")
    guide, step = page.locator("#guide"), content.lessons()[0].steps[0]
    expect(guide.get_by_text(step.see)).to_be_hidden()
    guide.get_by_label("No", exact=True).check()
    guide.get_by_role("button", name=step.button).click()
    expect(guide.get_by_text("Not quite")).to_be_visible()
    expect(guide.get_by_text(step.see)).to_be_visible()
    expect(guide.locator(".revealed")).to_be_focused()  # for screen readers
    expect(page.locator("#query input, #query textarea").first).to_have_value("a fox in the snow")
    expect(page).to_have_url(re.compile("learn=lesson-1-1"))
    guide.get_by_role("button", name="Close").click()
    expect(page).not_to_have_url(re.compile("learn="))
    page.get_by_role("button", name="Learn", exact=True).click()
    expect(guide.get_by_text(step.see)).to_be_visible()
    guide.get_by_role("button", name="Next step").click()
    expect(page).to_have_url(re.compile("learn=lesson-1-2"))


def test_back_and_forward_leave_the_guide_as_it_is(visit):
    page = visit(path="?tab=search&q=one+yellow+bar")
    expect(page.locator("#grid .score-bar").first).to_be_visible()
    page.get_by_role("tab", name="Sentences").click()
    expect(page).to_have_url(re.compile("tab=sentences"))
    page.get_by_role("button", name="Learn", exact=True).click()
    guide = page.locator("#guide")
    expect(guide.get_by_role("heading", name="Meaning without photos")).to_be_visible()
    page.go_back()
    expect(guide.get_by_role("heading", name="Sentences as trees")).to_be_visible()
    expect(page).to_have_url(re.compile("yellow.*learn=explain-search"))
    guide.get_by_role("button", name="Close").click()
    page.go_forward()
    expect(page).to_have_url(re.compile("tab=sentences"))
    expect(guide).to_be_hidden()
    expect(page).not_to_have_url(re.compile("learn="))


@pytest.mark.parametrize("name", ["../", "..%2Fgradio_api%2Finfo", "home%2F..%2Fhome", "Home"])
def test_an_address_can_name_only_pages_of_the_guide(visit, name):
    page = visit(path=f"?learn={name}")
    expect(page.locator("#grid .score-bar").first).to_be_visible()
    expect(page.locator("#guide")).to_be_hidden()
    page.get_by_role("button", name="Learn", exact=True).click()
    expect(page.locator("#guide h2")).to_have_text("Sentences as trees")


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("tab", KEYS)
def test_axe_has_no_objection_to_any_explanation(
    visit, tab, width, scheme, monkeypatch, fake_parser
):
    fake_alignment.install(monkeypatch)  # so that Align shows results
    page = opened(visit, tab, width, scheme, f"&learn=explain-{tab}")
    expect(page.locator("#guide math")).to_be_visible()
    check(page)


@pytest.mark.parametrize(
    "name",
    [
        "lesson-2-1",
        *(pytest.param(n, marks=pytest.mark.long) for n in ("home", "glossary", "tour-2")),
    ],
)
def test_axe_has_no_objection_to_a_page_of_the_guide(visit, name):
    page = visit(path=f"?learn={name}")
    expect(page.locator("#guide h2")).to_be_visible()
    expect(page.locator("#grid .score-bar").first).to_be_visible()
    check(page)
