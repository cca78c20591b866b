"""Storybook in the app: drawn while the page waits, looked at where nothing can be searched."""

import re
import shutil
import urllib.error
from types import SimpleNamespace

import gradio as gr
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.conftest import BACKBONE
from vsdemo.core.errors import UserError
from vsdemo.data import caption_bank
from vsdemo.data.storybook import store
from vsdemo.ui import callbacks
from vsdemo.ui.describe import tab as caption
from vsdemo.ui.describe.tab import Described
from vsdemo.ui.library import Library
from vsdemo.ui.search import tab as search

GALLERY = "storybook-test"
WORLD = ("gru", GALLERY)


@pytest.fixture
def few(checkpoints, monkeypatch, tmp_path):
    """A fresh machine, and of Storybook's test split six pictures."""
    monkeypatch.setitem(store.SPLITS, "test", range(4500, 4506))
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    monkeypatch.setattr(callbacks, "PATIENCE", 20)
    return Library


@pytest.fixture
def offline(few, monkeypatch):
    """The same without data, weights and internet."""

    def fail(*args, **options):
        raise urllib.error.URLError("no route")

    monkeypatch.delenv("VSDEMO_DATA")
    monkeypatch.setattr("torch.hub.load_state_dict_from_url", fail)
    return few


def tab_of(library):
    with gr.Blocks():
        return search.build(library)


def clicked(number):
    return SimpleNamespace(_data={"number": number})


def test_a_fresh_machine_offers_storybook_and_draws_nothing_before_it_is_asked(offline):
    (gallery,) = offline().galleries.values()
    assert (gallery.key, gallery.label) == (GALLERY, "Storybook test (6)")
    assert "kite" in gallery.examples[0]
    assert not store.folder().exists()


def test_a_gallery_is_opened_once_and_again_after_a_failure(offline, monkeypatch):
    library = offline()

    def fail(*args):
        raise UserError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(store, "draw", fail)
        with pytest.raises(UserError, match="disk"):
            library.loading(*WORLD).engine.result()
    opening = library.opening(GALLERY)
    assert len(opening.photos.result().photos) == 6
    assert (opening.done, opening.of) == (6, 6)
    assert library.opening(GALLERY) is opening
    with pytest.raises(UserError, match="no 'x' here"):
        library.opening("x")


def test_without_weights_photos_are_looked_at(offline):
    tab = tab_of(offline())
    updates = list(tab.look("", *WORLD, 4))
    assert any("Drawing the pictures" in u.get(tab.note, "") for u in updates)
    last = updates[-1]
    assert last[tab.grid].count("<img") == 4
    assert last[tab.detail].count('class="sentence"') == 5
    assert [last[b] for b in tab.examples][2] == "an animal in the snow"
    shown = last[tab.shown]
    assert shown.address == {"model": "gru", "gallery": GALLERY}
    more = list(tab.show_more(shown))[-1]
    assert more[tab.grid].count("<img") == 6
    assert more[tab.more]["interactive"] is False
    large = list(tab.select(shown, clicked(3)))[-1]
    assert "/3/large" in large[tab.detail]
    assert large[tab.shown].address["photo"] == "3"


def test_without_weights_the_page_says_what_is_missing_and_undoes_no_click(offline):
    tab = tab_of(offline())
    shown = list(tab.look("", *WORLD, 4))[-1][tab.shown]
    last = list(tab.answer(shown))[-1]
    assert tab.grid not in last
    assert re.search(f"searching has to wait.*{BACKBONE} is not here", last[tab.note])
    with pytest.raises(UserError, match="could not be downloaded"):
        list(tab.run("a red ball", *WORLD, 4))
    with pytest.raises(UserError, match="could not be downloaded"):
        list(tab.answer(list(tab.look("a red ball", *WORLD, 4))[-1][tab.shown]))


def test_without_weights_a_picture_has_its_own_sentences(offline):
    library = offline()
    with gr.Blocks():
        tab = caption.build(library, gr.Dropdown(), gr.Dropdown())
    list(tab.offer(GALLERY))
    last = list(tab.show(Described(*WORLD, photo=2)))[-1]
    own = library.opening(GALLERY).photos.result().own_captions(2)
    assert last[tab.described].sentences == tuple(own)
    assert last[tab.sentences].count('class="sentence"') == 5
    assert "Written for this photo" in last[tab.note]


def test_with_weights_storybook_is_searched_and_described_as_any_gallery(few):
    library = few()
    tab = tab_of(library)
    looked = list(tab.look("", *WORLD, 4))[-1]
    assert looked[tab.query] == "a girl flying a kite on the beach"
    assert tab.grid not in looked  # no photos that give way to others at once
    shown = list(tab.answer(looked[tab.shown]))[-1][tab.shown]
    assert len(shown.hits) == 4
    with gr.Blocks():
        told = caption.build(library, gr.Dropdown(), gr.Dropdown())
    described = list(told.show(Described(*WORLD, photo=2)))[-1][told.described]
    captions = library.opening(GALLERY).photos.result().captions
    assert set(described.sentences) <= set(captions)


def test_a_visitors_photo_is_described_by_a_model_that_has_seen_photos(
    few, checkpoints, tmp_path, monkeypatch, toy_root
):
    own = shutil.copytree(checkpoints, tmp_path / "checkpoints")
    painter = shutil.copytree(own / "toy" / "gru", own / "drawn" / "painter")
    spec = (painter / "config.json").read_text()
    (painter / "config.json").write_text(spec.replace('"dataset": "toy"', '"dataset": "storybook"'))
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(own))
    library = few()
    with gr.Blocks():
        tab = caption.build(library, gr.Dropdown(), gr.Dropdown())
    photo = next((toy_root / "toy" / "images").iterdir())
    told = {}
    for model in ("gru", "painter"):
        last = list(tab.show(Described(model, GALLERY, upload=str(photo))))[-1]
        assert set(last[tab.described].sentences) <= set(caption_bank.sentences())
        assert last[tab.sentences].count('class="sentence"') == caption.SENTENCES
        told[model] = last[tab.note]
    assert "by gru, as painter has only seen drawings" in told["painter"]
    assert "drawings" not in told["gru"]
    assert library.reading("painter") is library.reading("gru")


def test_photos_that_take_long_to_search_are_shown_until_they_can_be(few, monkeypatch):
    library = few()
    tab = tab_of(library)
    monkeypatch.setattr(callbacks, "soon", lambda *_: False)
    shown = list(tab.look("", *WORLD, 4))[-1][tab.shown]
    last = list(tab.answer(shown))[-1]
    assert "6 photos. Type a sentence" in last[tab.note]
    assert tab.grid not in last
    assert library.loading(*WORLD).what == "Looking at the photos"
    looked = list(tab.look("a red ball", *WORLD, 4))[-1][tab.shown]
    shown = list(tab.answer(looked))[-1][tab.shown]
    assert shown.photo == shown.hits[0].number


def test_a_fresh_machine_shows_pictures_and_their_sentences(visit):
    page = visit("fresh")
    photos = page.locator("#grid button.frame")
    expect(photos).to_have_count(12)
    page.wait_for_function("[...document.querySelectorAll('#grid img')].every(i => i.naturalWidth)")
    expect(page.get_by_role("status").first).to_contain_text("searching has to wait")
    assert page.locator(".toast-body").count() == 0
    expect(page.get_by_label("Gallery")).to_have_value("Storybook test (16)")
    photos.nth(5).click()
    expect(page.locator("#detail .large img")).to_have_attribute("src", re.compile("/5/large$"))
    expect(page.locator("#detail .written button")).to_have_count(5)
    page.get_by_role("button", name="Show more").first.click()
    expect(photos).to_have_count(16)
    page.get_by_role("button", name="an animal in the snow").click()
    expect(page.get_by_role("alert").first).to_contain_text("could not be downloaded")
    expect(photos).to_have_count(16)
    page.get_by_role("button", name="Describe", exact=True).click()
    expect(page.locator("#sentences button.sentence")).to_have_count(5)
    expect(page.locator("#photo img")).to_be_visible()


def test_what_ships_searches_storybook_and_describes_any_photo(visit, tmp_path):
    """Without data, internet and a word of set-up; every word of the photo's sentences is ours."""
    page = visit("shipped")
    expect(page.locator("#grid .fit")).to_have_count(12, timeout=60_000)
    page.get_by_role("button", name="an animal in the snow").click()
    expect(page).to_have_url(re.compile("q=an\\+animal"))
    expect(page.locator("#grid .fit")).to_have_count(12)
    page.get_by_role("tab", name="Describe").click()
    expect(page.locator("#sentences button.sentence")).to_have_count(10)
    Image.effect_noise((90, 60), 50).save(tmp_path / "noise.png")
    page.locator("#photo button[aria-label='Remove Image']").click()
    page.locator("#photo input[type=file]").set_input_files(tmp_path / "noise.png")
    expect(page.get_by_text("only seen drawings")).to_be_visible()
    told = page.locator("#sentences button.sentence").all_text_contents()
    assert set(told) <= set(caption_bank.sentences())


def test_storybook_is_chosen_among_other_galleries(visit):
    page = visit()
    expect(page.locator("#grid button.frame")).to_have_count(8)
    page.get_by_label("Gallery").click()
    page.get_by_role("option", name="Storybook test (16)").click()
    expect(page.locator("#grid button.frame")).to_have_count(12)
    expect(page.locator("#grid .fit")).to_have_count(12)
    page.get_by_role("button", name="two small brown dogs").click()
    expect(page).to_have_url(re.compile("q=two\\+small.*gallery=storybook-test"))
