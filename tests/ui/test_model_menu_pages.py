"""The list of models in a browser: mouse, keyboard, small screens, and the answers' names."""

import functools
import re
from threading import Event

import pytest
from playwright.sync_api import Route, expect

from tests.support.model_menu import choose_model, chosen_model, open_list
from tests.support.serving import served_here
from vsdemo.ui.models.menu import ModelMenu

SMALL = {"width": 320, "height": 640}


@pytest.fixture
def opened(visit):
    """Open the app and wait for the first answer."""
    page = visit()
    expect(page.locator("#grid button.frame").first).to_be_visible()
    expect(note(page)).to_contain_text("by gru")
    return page


def note(page):
    return page.locator("#grid .note")


def panel(page):
    return page.locator("#models")


def focused(page):
    return page.evaluate("document.activeElement.dataset.name || document.activeElement.id")


def test_a_model_is_chosen_and_its_answers_have_its_name(opened):
    field = opened.get_by_role("button", name=re.compile("^Model gru"))
    expect(field).to_contain_text("· ready")
    expect(field).to_have_attribute("aria-expanded", "false")
    expect(panel(opened)).to_be_hidden()
    rows = open_list(opened)
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(rows).to_have_count(2)
    expect(panel(opened).get_by_role("heading", name="For toy")).to_be_visible()
    expect(rows.first).to_contain_text("Recurrent network over words")
    expect(rows.first).to_have_attribute("aria-current", "true")
    opened.locator('#models button[data-name="order"]').click()
    expect(panel(opened)).to_be_hidden()
    expect(chosen_model(opened)).to_have_text("order")
    expect(note(opened)).to_contain_text("photos by order")
    expect(opened.locator("#grid .score-bar").first).not_to_contain_text("cosine")
    expect(opened).to_have_url(re.compile("model=order"))
    expect(opened.locator("#model-field")).to_contain_text("· ready")
    opened.go_back()
    expect(chosen_model(opened)).to_have_text("gru")
    expect(note(opened)).to_contain_text("photos by gru")


def test_other_tabs_name_the_model_too(opened):
    choose_model(opened, "order")
    expect(note(opened)).to_contain_text("by order")
    opened.get_by_role("tab", name="Describe").click()
    expect(opened.locator("#sentences .note", has_text="sentences by order")).to_be_visible()
    choose_model(opened, "gru")
    expect(opened.locator("#sentences .note", has_text="sentences by gru")).to_be_visible()


def test_the_keyboard_opens_walks_chooses_and_closes(opened):
    opened.locator("#model-field").focus()
    opened.keyboard.press("Enter")
    expect(opened.locator("#models [aria-current]")).to_be_focused()
    assert focused(opened) == "gru"
    opened.keyboard.press("ArrowDown")
    assert focused(opened) == "order"
    opened.keyboard.press("ArrowDown")
    assert focused(opened) == "order"  # the last one
    opened.keyboard.press("Home")
    assert focused(opened) == "gru"
    opened.keyboard.press("Tab")
    assert focused(opened) == "order"
    opened.keyboard.press("Escape")
    expect(panel(opened)).to_be_hidden()
    assert focused(opened) == "model-field"
    opened.keyboard.press("ArrowDown")
    expect(opened.locator("#models [aria-current]")).to_be_focused()
    opened.keyboard.press("End")
    opened.keyboard.press("Enter")
    expect(chosen_model(opened)).to_have_text("order")
    assert focused(opened) == "model-field"


def test_a_click_outside_and_leaving_by_tab_close_the_panel(opened):
    open_list(opened)
    opened.locator("h1").click()
    expect(panel(opened)).to_be_hidden()
    rows = open_list(opened)
    expect(opened.locator("#models [aria-current]")).to_be_focused()
    rows.last.focus()
    opened.keyboard.press("Tab")
    expect(panel(opened)).to_be_hidden()
    open_list(opened)
    opened.locator("#model-field").click()
    expect(panel(opened)).to_be_hidden()


def test_a_click_that_is_refused_says_so_in_the_panel(opened):
    rows = open_list(opened)
    rows.last.evaluate("row => { row.dataset.name = '../order'; }")
    rows.last.click()
    expect(panel(opened).get_by_role("alert")).to_contain_text("no longer on the page")
    expect(chosen_model(opened)).to_have_text("gru")
    opened.keyboard.press("Escape")
    expect(panel(opened)).to_be_hidden()
    expect(open_list(opened)).to_have_count(2)


def test_a_panel_that_is_opened_right_after_closing_is_filled(
    apps, visit, app_checkpoints, monkeypatch
):
    open_panel, close, is_closed = ModelMenu.open, ModelMenu.close, Event()
    closings: list[Route] = []

    def open_late(*args):
        is_closed.wait(20)
        yield from open_panel(*args)

    def note_closing(*args):
        yield from close(*args)
        is_closed.set()

    def delay(route: Route) -> None:
        if route.request.post_data_json["data"] == []:
            closings.append(route)
        else:
            route.continue_()

    functools.update_wrapper(open_late, open_panel)
    functools.update_wrapper(note_closing, close)
    monkeypatch.setattr(ModelMenu, "open", open_late)
    monkeypatch.setattr(ModelMenu, "close", note_closing)
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(app_checkpoints))
    with served_here(apps, "late"):
        page = visit("late")
        expect(page.locator("#grid button.frame").first).to_be_visible()
        page.route("**/queue/join*", delay)
        rows = open_list(page)
        page.keyboard.press("Escape")
        open_list(page)
        page.wait_for_timeout(1000)  # until the request to fill the panel has arrived
        (closing,) = closings
        closing.continue_()
        expect(rows.first).to_be_visible()
        page.close()


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.long), "dark"])
def test_the_list_fits_a_small_screen(visit, scheme):
    page = visit(viewport=SMALL, color_scheme=scheme)
    expect(note(page)).to_contain_text("by gru")
    expect(open_list(page)).to_have_count(2)
    box = panel(page).bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= SMALL["width"]
    assert box["width"] > 260
    inside = panel(page).evaluate("panel => [panel.scrollWidth, panel.clientWidth]")
    assert inside[0] <= inside[1]


def test_a_model_that_is_not_here_says_why_and_cannot_be_chosen(visit, fresh_app):
    page = visit(fresh_app)
    expect(page.locator("#model-field")).to_contain_text("not available")
    page.locator("#model-field").click()
    row = panel(page).locator(".model-row")
    expect(row).to_contain_text("image network mobilenet_v3_small is not downloaded")
    assert panel(page).locator("button").count() == 0
    expect(panel(page).get_by_role("heading", name="Not available")).to_be_visible()
    page.close()
