"""The tab Hierarchy in a browser, with maps that are drawn quickly."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.ui.conftest import served_here
from vsdemo.hierarchy import projection
from vsdemo.ui.hierarchy import loader

PHONE = {"width": 390, "height": 844}
WORDS = "Concepts of WordNet"
PATH = "?tab=hierarchy&q=a+dog"
LOCATE = "(number) => document.querySelector('#map .map').locate(number)"


@pytest.fixture(autouse=True)
def fast_maps(monkeypatch):
    """Draw maps by PCA, without UMAP."""
    monkeypatch.setattr(projection, "MIN_FOR_UMAP", 10_000)


def expect_node(page, text):
    here = page.locator("#trail [aria-current=location]")
    expect(here).to_have_text(re.compile(rf"^\s*{re.escape(text)}\s*(true|not true)?\s*$"))


def crumbs(page):
    return page.locator("#trail li button")


def go(page, text):
    page.locator("#hierarchy-query").locator("input, textarea").fill(text)
    page.get_by_role("button", name="Go", exact=True).click()


def test_a_visitor_goes_down_back_and_returns_by_the_address(visit):
    page = visit(path=PATH)
    expect_node(page, "a dog")
    titles = {"above": "Above", "here": "Here: concept", "below": "Below"}
    for elem_id, title in titles.items():
        expect(page.locator(f"#{elem_id} h2").first).to_contain_text(title)
    expect(page.get_by_role("status").filter(has_text="By order, over").first).to_be_visible()
    expect(page.locator("#map .map")).to_have_attribute("data-drawn", re.compile(r"\d"))
    crumbs(page).first.click()
    expect_node(page, "anything")
    expect(crumbs(page)).to_have_count(0)
    below = page.locator("#below button.sentence").first
    text = below.text_content()
    below.click()
    expect_node(page, text)
    expect(crumbs(page)).to_have_text(["anything"])
    expect(page).to_have_url(re.compile("tab=hierarchy&.*" + re.escape(urlencode({"q": text}))))
    page = visit(path=page.url.split("/")[-1])  # as a shared link
    expect_node(page, text)
    photo = page.locator("#here button.frame").first
    photo.click()
    expect(page).to_have_url(re.compile("photo="))
    expect(page.locator("#here .large img")).to_have_js_property("complete", True)
    expect(crumbs(page).last).to_have_text(text)


def test_an_address_names_a_model_by_its_folder_too(visit):
    page = visit(path=f"{PATH}&model=toy/order")
    expect_node(page, "a dog")
    expect(page).to_have_url(re.compile("model=order&"))
    expect(page.locator(".toast-body")).to_have_count(0)
    page = visit(path=f"{PATH}&model=toy/other", is_new=True)
    toast = page.locator(".toast-body").filter(has_text="There is no model 'toy/other' here")
    expect(toast).to_be_visible()
    expect_node(page, "a dog")


def test_typed_texts_are_shown_and_unknown_words_reported(visit):
    page = visit(path=PATH)
    expect_node(page, "a dog")
    go(page, "A boat.")
    expect_node(page, "a boat")
    for typed, message in (("wug", "knows no word"), ("", "is empty")):
        go(page, typed)
        expect(page.get_by_role("alert").filter(has_text=message).first).to_be_visible()
        expect_node(page, "a boat")
    page.locator("#hierarchy-query").locator("input, textarea").fill("a red circle by a cat")
    page.keyboard.press("Enter")
    expect_node(page, "a red circle by a cat")
    expect(page).to_have_url(re.compile(r"q=a\+red\+circle\+by\+a\+cat"))


def test_two_nodes_are_joined_and_removed_with_their_hierarchy(visit):
    page = visit(path=PATH)
    expect_node(page, "a dog")
    keep = page.get_by_role("button", name="Keep", exact=True)
    keep.click()
    expect(page.locator("#tray li")).to_have_count(1)
    page.locator("#compose").click()
    expect(page.get_by_role("alert").filter(has_text="Keep at least two").first).to_be_visible()
    go(page, "a cat")
    expect_node(page, "a cat")
    keep.click()
    expect(page.locator("#tray li")).to_have_count(2)
    page.locator("#compose").click()
    expect(page.locator("#joined h2").first).to_have_text("Compose: a dog + a cat")
    result = page.locator("#joined .words button").first
    text = result.text_content()
    result.click()
    expect_node(page, text)
    page.locator("label").filter(has_text=WORDS).click()
    expect_node(page, "dog")
    expect(page.locator("#joined button")).to_have_count(0)
    expect(page.locator("#tray li")).to_have_count(0)


def test_concepts_are_shown_without_photos(visit):
    page = visit(path="?tab=hierarchy&of=concepts&q=puppy")
    expect_node(page, "puppy")
    expect(crumbs(page)).to_have_text(["entity", "living thing", "animal", "dog"])
    expect(page.locator("#below")).to_contain_text("No word or sentence is below.")
    expect(page.locator("#here button.frame")).to_have_count(0)
    crumbs(page).nth(2).click()
    expect_node(page, "animal")
    go(page, "pupy")
    expect(page.get_by_role("alert").filter(has_text="try puppy").first).to_be_visible()
    expect_node(page, "animal")


def test_a_missing_model_of_concepts_is_reported(visit, apps, app_checkpoints, monkeypatch):
    monkeypatch.setattr(loader, "concept_models", list)
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(app_checkpoints))
    with served_here(apps, "bare"):
        page = visit("bare", PATH)
        expect_node(page, "a dog")
        page.locator("label").filter(has_text=WORDS).click()
        alert = page.get_by_role("alert").filter(has_text="No model of concepts is available")
        expect(alert.first).to_be_visible()
        expect_node(page, "a dog")
        page.close()


def test_the_map_opens_an_item_and_lists_a_selection(visit):
    page = visit(path=PATH)
    expect_node(page, "a dog")
    expect(page.locator("#map .map")).to_have_attribute("data-drawn", re.compile(r"\d"))
    page.locator("#map canvas").scroll_into_view_if_needed()
    page.mouse.click(*page.evaluate(LOCATE, 0))
    expect_node(page, "anything")
    page.locator("#map").get_by_role("button", name="Select an area").click()
    box = page.locator("#map canvas").bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] - 2, steps=5)
    page.mouse.up()
    expect(page.locator("#map-selection h2")).to_contain_text("8 photos")
    page.locator("#map-selection").get_by_role("button", name="an animal", exact=True).click()
    expect_node(page, "an animal")


def test_search_opens_a_photo_in_the_hierarchy(visit):
    page = visit(path="?q=one+yellow+bar&photo=3")
    expect(page.locator("#detail .large img")).to_have_attribute("src", re.compile("/3/large$"))
    page.locator("#detail").get_by_role("button", name="Hierarchy").click()
    expect(page.get_by_role("tab", name="Hierarchy")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#here .large img")).to_have_attribute("src", re.compile("/3/large$"))
    expect(page).to_have_url(re.compile("tab=hierarchy.*photo=3$"))
    expect(crumbs(page).first).to_have_text("anything")


def test_the_page_fits_on_a_phone(visit):
    page = visit(path=PATH, viewport=PHONE)
    expect_node(page, "a dog")
    expect(page.locator("#map .map")).to_have_attribute("data-drawn", re.compile(r"\d"))
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert (
        page.locator("#map .map").bounding_box()["y"] < PHONE["height"] - 200
    )  # without scrolling
