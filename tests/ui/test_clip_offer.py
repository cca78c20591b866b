"""CLIP is offered beside a search over photos of the visitor's own, fetched and searched with."""

import functools
import re
import shutil
import threading
import time

import pytest
from playwright.sync_api import expect

from tests.support import fake_hub
from tests.support.clips import write_clip
from tests.support.model_menu import chosen_model
from tests.support.pages import PAGE, english, tab_of
from tests.support.serving import served_here
from vsdemo.data.downloads import fetch, hub
from vsdemo.data.storybook import store
from vsdemo.models import checkpoint_names
from vsdemo.ui import build
from vsdemo.ui.layout import Page
from vsdemo.ui.library import Library
from vsdemo.ui.search.clip_offer import ClipOffer
from vsdemo.ui.search.tab import SearchTab
from vsdemo.ui.tabs import Selection

GALLERY, DRAWN = "own-all", "storybook-test"
NAME = "CLIP-ViT-B-32-laion2B-s34B-b79K"
OFFER = "CLIP finds much more in your own photos (605 MB, MIT)."


@pytest.fixture
def own_photos(web, checkpoints, own_home, toy_root, tmp_path, monkeypatch):
    """A folder of photos on a machine without CLIP; a local server is in the place of the Hub."""
    fake_hub.serve_model(web, tmp_path / "source")
    monkeypatch.setattr(hub, "HOST", web.url)
    monkeypatch.setitem(store.SPLITS, "test", range(4500, 4504))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    shutil.copytree(toy_root / "models", tmp_path / "data" / "models")
    shutil.copytree(toy_root / "toy" / "images", tmp_path / "own")
    return str(tmp_path / "own")


@pytest.fixture
def tab(own_photos):
    return tab_of(SearchTab, Library(own_photos))


def shown(offer, update):
    """Return the text of the line and the labels of its buttons; nothing if it is hidden."""
    if not update[offer.row]["visible"]:
        return "", []
    text = " ".join(re.sub("<[^>]+>", "", update[offer.line]).split())
    buttons = (offer.fetch, offer.cancel, offer.search)
    return text, [english(button.value) for button in buttons if update[button]["visible"]]


def wait_until_ended(downloads):
    for _ in range(600):
        if not downloads.busy:
            return
        time.sleep(0.05)
    pytest.fail("the download did not end")


def test_clip_is_offered_for_photos_of_ones_own_only(tab, web):
    offer = tab.offer
    assert shown(offer, offer.update(GALLERY, "gru", False)) == (OFFER, ["Fetch CLIP"])
    assert shown(offer, offer.update(DRAWN, "gru", False)) == ("", [])
    assert web.requests == []


def test_one_click_fetches_clip_and_another_one_searches_with_it(tab, web):
    offer, library, web.hold = tab.offer, tab.library, 1_000_000
    text, buttons = shown(offer, running := offer.start(GALLERY, "gru", False))
    assert text.startswith("Fetching CLIP ViT-B-32")
    assert buttons == ["Cancel"]
    assert running[offer.timer].active
    assert running[offer.followed]
    web.go.set()
    wait_until_ended(offer.downloads)
    here = offer.update(GALLERY, "gru", True)
    assert shown(offer, here) == ("CLIP is available.", ["Search with CLIP"])
    assert not here[offer.timer].active
    assert offer.model == NAME
    assert library.default_model(GALLERY) == NAME
    assert shown(offer, offer.update(GALLERY, "gru", False)) == ("", [])  # on a new page
    selection = Selection("a red circle")
    update = offer.choose(selection, "gru", GALLERY, 4, PAGE)
    visit = update[offer.visit]
    assert update[offer.context.model] == NAME
    assert (visit.model, visit.gallery, visit.k, visit.selection) == (NAME, GALLERY, 4, selection)
    gone = offer.update(GALLERY, NAME, True)
    assert shown(offer, gone) == ("", [])
    assert not gone[offer.followed]


def test_a_cancelled_download_is_offered_again(tab, web):
    offer, web.hold = tab.offer, 1_000_000
    offer.start(GALLERY, "gru", False)
    while offer.downloads.states["clip"].done < web.hold:
        time.sleep(0.02)
    text, buttons = shown(offer, offer.stop(GALLERY, "gru", True))
    assert text.startswith("Stopping CLIP ViT-B-32")
    assert buttons == ["Cancel"]
    web.pause = 0.3  # so that the rest does not arrive at once
    web.go.set()
    wait_until_ended(offer.downloads)
    text, buttons = shown(offer, offer.update(GALLERY, "gru", True))
    assert re.sub(r"\d+ [kM]B downloaded, ", "", text) == OFFER != text
    assert buttons == ["Fetch CLIP"]


def test_without_the_network_a_sentence_says_so(tab, monkeypatch):
    monkeypatch.setattr(hub, "HOST", "http://127.0.0.1:9")  # a closed port
    offer = tab.offer
    offer.start(GALLERY, "gru", False)
    wait_until_ended(offer.downloads)
    text, buttons = shown(offer, offer.update(GALLERY, "gru", True))
    assert text.startswith(f"{NAME} could not be fetched from 127.0.0.1 (")
    assert text.endswith("; fetch again when it can be reached.")
    assert buttons == ["Fetch CLIP"]


def test_who_has_clip_gets_no_offer(tab, own_photos):
    fetch.fetch("clip", lambda *_: None, threading.Event())
    offer = tab.offer
    assert shown(offer, offer.update(GALLERY, "gru", False))[1] == ["Fetch CLIP"]
    assert tab_of(SearchTab, Library(own_photos)).offer is None


def test_who_has_another_model_of_open_clip_gets_no_offer(tab, tmp_path):
    checkpoint_names.find(f"clip:local-dir:{write_clip(tmp_path / 'other')}")
    offer = tab.offer
    assert shown(offer, offer.update(GALLERY, "gru", False)) == ("", [])


def test_a_public_server_does_not_offer_clip(own_photos, monkeypatch):
    library = Library(own_photos)
    assert "Fetch CLIP" in str(build(library)[0].config)
    monkeypatch.setenv("SPACE_ID", "somebody/vsdemo")
    assert "Fetch CLIP" not in str(build(library)[0].config)
    assert tab_of(SearchTab, library).offer is None


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def test_the_answer_about_the_gallery_before_does_not_arrive_last(
    apps, visit, own_photos, monkeypatch
):
    drawn, update, load = threading.Event(), ClipOffer.update, Page.load
    galleries = []

    def late_answer(offer, gallery, *others):
        galleries.append(gallery)
        if gallery == DRAWN:
            drawn.set()
        elif len(galleries) > 1:  # Gradio reports a change twice
            drawn.wait(2)  # for nothing if the next request is sent after this answer
            time.sleep(0.5)
        return update(offer, gallery, *others)

    def late_load(*args):
        time.sleep(1)  # until both requests about the first gallery are under way
        return load(*args)

    functools.update_wrapper(late_load, load)
    monkeypatch.setattr(ClipOffer, "update", late_answer)
    monkeypatch.setattr(Page, "load", late_load)
    with served_here(apps, "own", gallery=own_photos):
        page = visit("own", f"?gallery={DRAWN}")
        assert drawn.wait(20)
        page.wait_for_timeout(1500)  # until the last answer has arrived
        expect(page.locator(".offer")).to_be_hidden()
        page.close()


def test_a_visitor_fetches_clip_and_repeats_the_search(apps, visit, own_photos, web):
    web.hold = 1_000_000
    with served_here(apps, "own", gallery=own_photos):
        page, other = visit("own", "?q=a+red+circle"), visit("own", f"?gallery={DRAWN}")
        offer = page.locator(".offer")
        expect(page.locator("#grid .note")).to_contain_text("by gru")
        expect(offer).to_contain_text(OFFER)
        assert web.requests == []  # nothing is asked before the click
        button(page, "Fetch CLIP").click()
        expect(offer).to_contain_text(re.compile(r"Fetching CLIP ViT-B-32: 1 MB of \d MB"))
        expect(offer.locator("progress")).to_be_visible()
        expect(button(offer, "Cancel")).to_be_visible()
        page.locator(".more-settings > button").click()  # it is the download of that panel
        expect(page.locator(".fetch").filter(has_text="Fetching CLIP")).to_be_visible()
        page.keyboard.press("Escape")
        web.go.set()
        button(page, "Search with CLIP").click()
        expect(page.locator("#grid .note")).to_contain_text(f"photos by {NAME}")
        expect(page).to_have_url(re.compile(f"q=a\\+red\\+circle&model={NAME}&gallery={GALLERY}"))
        expect(chosen_model(page)).to_have_text(NAME)
        expect(page.locator("#model-field")).to_contain_text("· ready")
        expect(offer).to_be_hidden()
        later = visit("own")
        expect(chosen_model(later)).to_have_text(NAME)
        expect(later.locator("#grid button.frame").first).to_be_visible()
        expect(later.locator(".offer")).to_be_hidden()
        expect(other.locator(".offer")).to_be_hidden()
        for opened in (page, other, later):
            opened.close()  # they would report that the app has ended
