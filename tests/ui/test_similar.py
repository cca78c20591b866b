"""A photo as the query: one of the gallery, or a visitor's own."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.support import pages
from tests.support.pages import last, shown, tab_of
from tests.ui.test_navigation import SETTLED, is_open, photos
from vsdemo.ui.describe.tab import DescribeTab
from vsdemo.ui.library import Library
from vsdemo.ui.search.tab import SearchTab

KEY = ("gru", "toy-test")


@pytest.fixture
def library(checkpoints, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    library = Library()
    library.engine(*KEY).result()
    return library


@pytest.fixture
def tab(library):
    return tab_of(SearchTab, library)


@pytest.fixture
def red(tmp_path):
    path = tmp_path / "red.png"
    Image.new("RGB", (90, 60), "red").save(path)
    return str(path)


def numbers(update, tab):
    return [int(number) for number in re.findall(r'data-number="(\d+)"', update[tab.grid])]


def test_a_photo_of_the_gallery_is_the_query(tab, library):
    state = last(tab, tab.run, "a red circle", *KEY, 4)[tab.state]
    update = last(tab, tab.search_similar, state)
    engine = library.engine(*KEY).result()
    expected = [hit.number for hit in engine.similar_photos(state.photo, 4)]
    assert numbers(update, tab) == expected
    assert state.photo not in expected
    text = " ".join(update[tab.grid].split())
    assert "The 4 most similar of 8 photos by gru." in text
    assert f"/{state.photo}/small" in text.split("</p>")[0]
    assert update[tab.query] == ""
    assert update[tab.words] == ""
    address = update[tab.state].address
    assert address["similar"] == str(state.photo)
    assert "q" not in address
    assert list(tab.search_similar(None)) == []


def test_the_address_of_such_a_search_restores_it(tab):
    state = last(tab, tab.run, "a red circle", *KEY, 4)[tab.state]
    update = last(tab, tab.search_similar, state)
    again = shown(
        tab, pages.visit(*KEY, k=4, photo=state.photo, similar=str(state.photo)), None, ""
    )
    assert numbers(again, tab) == numbers(update, tab)
    assert again[tab.state].address == update[tab.state].address


@pytest.mark.parametrize("number", ["", "x", "-1", "1.5", "\uff19"])
def test_an_address_without_a_valid_number_starts_as_usual(tab, number):
    state = shown(tab, pages.visit(*KEY, k=4, similar=number), None, "")[tab.state]
    assert state.similar_to is None
    assert state.text


def test_a_sentence_takes_the_place_of_the_photo(tab):
    opened = pages.visit(*KEY, k=4, photo=2, similar="2")
    state = shown(tab, opened, None, "")[tab.state]
    other = replace(opened, gallery="toy-all")  # where number 2 is another photo
    typed = shown(tab, other, state, "a red circle")[tab.state]
    assert (typed.text, typed.similar_to) == ("a red circle", None)
    assert shown(tab, other, state, "")[tab.state].similar_to is None


def test_a_visitors_photo_is_the_query_and_stays_it_when_a_result_is_chosen(tab, library, red):
    opened = pages.visit(*KEY, k=4, upload=red, similar="own")
    update = shown(tab, opened, None, "a typed sentence")
    engine = library.engine(*KEY).result()
    with Image.open(red) as photo:
        expected = [hit.number for hit in engine.photos_like(photo.convert("RGB"), 4)]
    assert numbers(update, tab) == expected
    assert update[tab.query] == ""
    assert "gradio_api/file=" in update[tab.grid].split("</p>")[0]
    state = update[tab.state]
    assert state.address["similar"] == "own"
    assert red not in str(state.address)
    event = SimpleNamespace(_data={"number": expected[2]})
    chosen = last(tab, tab.select, state, event)
    token = tab.context.uploads.token(red)
    assert chosen[tab.state].photo == expected[2]
    assert chosen[tab.state].address["similar"] == "own"
    assert token in chosen[tab.context.address]
    more = last(tab, tab.show_more, chosen[tab.state])
    assert len(numbers(more, tab)) == 8
    assert token in more[tab.context.address]


def test_a_visitors_photo_that_is_gone_is_an_error(tab, tmp_path):
    opened = pages.visit(*KEY, k=4, upload=str(tmp_path / "gone.png"), similar="own")
    update = shown(tab, opened, None, "")
    assert 'class="note problem"' in update[tab.note]


def test_describe_passes_its_photo_to_search(library, red):
    tab = tab_of(DescribeTab, library)
    state = shown(tab, pages.visit(*KEY, photo=3))[tab.state]
    way = last(tab, tab.search_similar, state)
    selection = way[tab.context.selection]
    assert way[tab.context.tabs].selected == "search"
    assert (selection.photo, selection.value("similar")) == (3, "3")
    state = last(tab, tab.upload, red, state, *KEY)[tab.state]
    selection = last(tab, tab.search_similar, state)[tab.context.selection]
    assert (selection.upload, selection.value("similar")) == (red, "own")
    assert list(tab.search_similar(None)) == []


def test_a_visitor_finds_photos_like_an_upload(visit, red):
    page = visit(path="?tab=describe")
    expect(page.locator("#sentences button.sentence")).to_have_count(10)
    page.locator("#photo button[aria-label='Remove Image']").click()
    page.locator("#photo input[type=file]").set_input_files(red)
    expect(page).not_to_have_url(re.compile("photo="))
    page.get_by_role("button", name="Find similar photos").click()
    is_open(page, "Search")
    expect(page.locator("#grid .summary")).to_contain_text("most similar of 8 photos by gru")
    expect(page).to_have_url(re.compile("similar=own"))
    first = photos(page).first.get_attribute("data-number")
    page.wait_for_timeout(SETTLED)
    page.reload()
    expect(page.locator("#grid .summary")).to_contain_text("most similar of 8 photos by gru")
    assert photos(page).first.get_attribute("data-number") == first
    page.locator("#detail").get_by_role("button", name="More like this").click()
    expect(page).to_have_url(re.compile(f"similar={first}"))
    page.go_back()
    expect(page).to_have_url(re.compile("similar=own"))
