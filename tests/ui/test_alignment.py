"""The callbacks of the tab Align, with a fake model."""

import html
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from PIL import Image

from tests.support.fake_alignment import alignment, install
from tests.support.pages import last, show, shown, tab_of, visit
from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.plots.region_marks import marks
from vsdemo.search import engine
from vsdemo.ui import callbacks
from vsdemo.ui.alignment import view
from vsdemo.ui.alignment.comparison import NONE
from vsdemo.ui.alignment.tab import AlignTab
from vsdemo.ui.components.html import tidy
from vsdemo.ui.library import Library
from vsdemo.ui.tabs import Visit

KEY = ("gru", "toy-test")
TEXT = "a small dog runs after one red ball"


@pytest.fixture
def able(checkpoints, monkeypatch, fake_parser):
    """Let every model align."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    install(monkeypatch)
    monkeypatch.setattr(callbacks.gr, "Warning", lambda *_, **__: None)


@pytest.fixture
def tab(able):
    return tab_of(AlignTab)


def clicked(number):
    return SimpleNamespace(_data={"number": number})


def opened(tab, text=TEXT):
    return shown(tab, visit(*KEY, text, photo=2))


def first_caption(photo):
    return tidy(datasets.load("toy", "test").own_captions(photo)[0])


def record(parts):
    (text,) = re.findall(r'data-alignment="([^"]*)"', parts)
    return json.loads(html.unescape(text))


def test_opening_the_tab_aligns_once(tab):
    update = opened(tab)
    expected = alignment(TEXT)
    assert update[tab.state].alignment == expected
    assert update[tab.query] == TEXT
    assert "/2/large" in update[tab.photo]
    assert f'alt="{first_caption(2)}"' in update[tab.photo]
    assert update[tab.photo].count('role="button"') == len(marks(expected))
    assert update[tab.captions].count('class="chip"') == 5
    assert update[tab.picks].count("<img") == 8
    data = record(update[tab.parts])
    assert data["words"] == TEXT.split()
    assert len(data["scores"]) == len(expected.fragments)
    assert (data["wordFragments"][0], data["fragments"][0]["isRest"]) == (None, True)  # "a"
    assert update[tab.parts].count("data-word") == 2 * 7  # words and tree
    assert 'data-word="0"' not in update[tab.parts]
    assert data["numbers"] == {str(r): m.number for r, m in marks(expected).items()}
    assert f"of {len(expected.content_fragments)} phrases" in update[tab.parts]
    again = replace(visit(*KEY), selection=update[tab.state].selection)
    recorded = shown(tab, again, update[tab.state])
    assert tab.parts not in recorded
    assert set(tab.context.place) <= set(recorded)


def test_the_photo_is_shown_before_its_alignment(tab):
    first = next(u for u in show(tab, visit(*KEY, photo=3)) if tab.photo in u)
    assert "waiting" in first[tab.parts]
    assert "canvas" not in first[tab.photo]
    assert first[tab.state].text == first[tab.query] != ""  # of its own captions


def test_another_sentence_is_typed_or_a_caption(tab):
    state = opened(tab)[tab.state]
    typed = last(tab, tab.run, " one  red bar ", state)
    assert typed[tab.state].text == "one red bar"
    assert typed[tab.state].address == {
        "tab": "align",
        "q": "one red bar",
        "model": "gru",
        "gallery": "toy-test",
        "photo": "2",
    }
    used = last(tab, tab.use_caption, state, clicked(2))
    assert used[tab.query] == used[tab.state].text
    assert used[tab.captions].count("aria-current") == 1


def test_an_unread_word_is_marked_and_corrected(tab):
    update = last(tab, tab.run, "one red trianlge", opened(tab)[tab.state])
    assert "<mark>trianlge</mark>" in update[tab.words]
    corrected = last(tab, tab.correct, update[tab.state], clicked(0))
    assert corrected[tab.query] == corrected[tab.state].text == "one red triangle"
    assert corrected[tab.words] == ""


@pytest.mark.parametrize(
    ("text", "message"), [("", "empty"), ("wug", "no word"), ("a\0", "control")]
)
def test_a_bad_sentence_keeps_the_alignment(tab, text, message):
    update = last(tab, tab.run, text, opened(tab)[tab.state])
    assert message in update[tab.note]
    assert 'role="alert"' in update[tab.note]
    assert tab.parts not in update


def test_a_bad_sentence_in_the_address_shows_only_the_photo(tab):
    update = opened(tab, text="wug")
    assert "no word" in update[tab.note]
    assert update[tab.parts] == ""
    assert "/2/large" in update[tab.photo]


def test_a_picked_photo_brings_its_caption_and_a_region_keeps_the_sentence(tab):
    state = opened(tab)[tab.state]
    picked = last(tab, tab.pick, state, clicked(4))[tab.state]
    assert (picked.photo, picked.text == TEXT) == (4, False)
    moved = last(tab, tab.change_photo, state, clicked(4))[tab.state]
    assert (moved.photo, moved.text) == (4, TEXT)
    refused = last(tab, tab.pick, state, clicked(99))
    assert "no longer on the page" in refused[tab.note]


def test_an_uploaded_photo_is_aligned_and_not_in_the_address(tab, tmp_path):
    Image.new("RGB", (90, 60), "red").save(tmp_path / "red.png")
    state = opened(tab)[tab.state]
    update = last(tab, tab.use_upload, str(tmp_path / "red.png"), state)
    assert "gradio_api/file=" in update[tab.photo]
    assert "--ratio:1.5000" in update[tab.photo]
    assert 'alt="Your photo"' in update[tab.photo]
    tab.context.uploads.describe(str(tmp_path / "red.png"), "A red wall .")
    update = last(tab, tab.use_upload, str(tmp_path / "red.png"), state)
    assert 'alt="Your photo: A red wall."' in update[tab.photo]
    assert "photo" not in update[tab.state].address
    (tmp_path / "red.png").write_bytes(b"no photo")
    bad = last(tab, tab.use_upload, str(tmp_path / "red.png"), state)
    assert "red.png" in bad[tab.note]
    assert tab.photo not in bad


def test_the_tab_follows_model_and_gallery(tab):
    state = opened(tab)[tab.state]
    other = Visit("gru", "toy-all", selection=state.selection)
    moved = shown(tab, other, state)[tab.state]
    assert moved.alignment is not None
    assert (moved.gallery, moved.photo, moved.text == TEXT) == ("toy-all", 0, False)
    used = last(tab, tab.use_caption, state, clicked(2))[tab.state]
    other = Visit("other", "toy-test", selection=used.selection)
    first = next(u for u in show(tab, other, used) if tab.state in u)[tab.state]
    assert (first.model, first.photo, first.text) == ("other", 2, used.text)


def test_what_is_selected_elsewhere_is_aligned(tab):
    state = opened(tab)[tab.state]
    other = shown(tab, visit(*KEY, "one red bar", photo=5), state)[tab.state]
    assert (other.photo, other.text) == (5, "one red bar")
    only_photo = shown(tab, visit(*KEY, photo=6), other)[tab.state]
    assert only_photo.photo == 6
    assert only_photo.text not in ("", "one red bar")  # a caption of its own


def test_the_downloads_hold_the_alignment(tab):
    update = opened(tab)
    png, svg, path = (Path(update[button]["value"]) for button in tab.files)
    with Image.open(png) as picture:
        assert picture.format == "PNG"
    texts = [text.text for text in ElementTree.parse(svg).getroot().iter() if text.text]
    assert {"small", "dog"} <= set(texts)
    message = json.loads(path.read_text())
    assert (message["sentence"], message["model"]) == (TEXT, "gru")
    assert message["total"] == alignment(TEXT).total
    assert message["photo"].endswith(".png")
    assert message["function_words"] == [0]  # "a"
    assert message["regions"] == [
        alignment(TEXT).best_region(m) for m in range(len(alignment(TEXT).fragments))
    ]


def test_a_part_that_rounds_to_0_has_no_minus(fake_parser):
    """The parts of denied words are negative, and so can the total be."""
    whole = alignment(TEXT)
    denied = replace(whole, parts=(-0.25, *(-0.001 for _ in whole.parts[1:])), total=-0.25)
    shown = view.parts(denied, None)
    assert "-0.25" in shown
    assert "0.00" in shown
    assert "-0.00" not in re.sub(r"style=\"[^\"]*\"", "", shown)


def test_regions_are_found_for_a_fragment_a_word_or_the_sentence(tab):
    state = opened(tab)[tab.state]
    panel = tab.regions
    first_word = len(state.alignment.fragments)
    for number, text in (
        (1, "small dog"),
        (first_word + 7, "ball"),
        (state.choice_count - 1, TEXT),
    ):
        assert state.choice_text(number) == text
    update = list(panel.find_regions(state, clicked(state.choice_count - 1)))[-1]
    assert update[panel.hits].count('data-event="select"') == 3
    assert "left:-100.00%;top:-0.00%;width:200.00%;height:100.00%" in update[panel.hits]
    assert f"“{TEXT}”" in update[panel.note]
    with pytest.raises(UserError, match="no longer"):
        list(panel.find_regions(state, clicked(state.choice_count)))


def test_more_regions_are_found_page_by_page(tab, monkeypatch):
    counts = []
    real = engine.Engine.regions

    def regions(self, text, k):
        counts.append(k)
        return real(self, text, k)

    monkeypatch.setattr(engine.Engine, "regions", regions)
    state, panel = opened(tab)[tab.state], tab.regions
    first = list(panel.find_regions(state, clicked(1)))[-1]
    assert first[panel.more]["visible"] is True
    second = list(panel.show_more(state, first[panel.shown]))[-1]
    photos = len(datasets.load("toy", "test").photos)
    assert counts == [min(12, photos), min(24, photos)]
    assert second[panel.shown].text == "small dog"


def test_a_changed_sentence_says_how_the_score_changed(tab):
    state = opened(tab)[tab.state]
    assert "compared with" not in state.summary
    longer = last(tab, tab.run, f"{TEXT} here", state)[tab.state]
    change = longer.alignment.total - state.alignment.total
    assert f"{change:+.2f} compared with “{TEXT}”." in longer.summary
    again = last(tab, tab.run, f"{TEXT} here", longer)[tab.state]
    assert f"compared with “{TEXT}”." in again.summary
    other = last(tab, tab.pick, again, clicked(1))[tab.state]
    assert "compared with" not in other.summary


def test_another_model_is_shown_beside_the_first(tab, monkeypatch):
    monkeypatch.setattr(tab.library, "aligners", lambda gallery: ["gru", "bow"])
    update = opened(tab)
    panel, state = tab.comparison, update[tab.state]
    assert update[panel.choice]["choices"] == [(NONE, NONE), "bow"]
    state = replace(state, aligned_by="bow")
    shown_beside = list(panel.show(state, "gru"))[-1][panel.other]
    assert "The same by gru" in shown_beside
    assert "<svg" in shown_beside
    assert "data:image/jpeg;base64," in shown_beside
    assert list(panel.show(state, NONE))[-1][panel.other] == ""


def test_without_a_model_that_aligns_the_tree_is_shown(tab, monkeypatch):
    monkeypatch.setattr(engine.Reader, "can_align", False)
    update = opened(tab)
    assert "Only the tree" in update[tab.parts]
    assert "one embedding for a whole photo" in update[tab.parts]
    assert 'class="deptree"' in update[tab.parts]
    assert "data-alignment" not in update[tab.parts]
    assert [update[button]["interactive"] for button in tab.files] == [False] * 3


def test_another_model_aligns_if_the_chosen_one_cannot(able, checkpoints, tmp_path, monkeypatch):
    own = shutil.copytree(checkpoints, tmp_path / "checkpoints")
    shutil.copytree(own / "toy" / "gru", own / "toy" / "regions")
    shutil.copytree(own / "toy" / "gru", own / "toy" / "damaged")
    (own / "toy" / "damaged" / "vocab.json").write_text("[")
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(own))

    def read(folder, *args):
        reader = engine.Reader.__new__(engine.Reader)
        if folder.name == "damaged":
            raise UserError("The checkpoint is damaged.")
        reader.can_align = folder.name == "regions"
        reader.check_backbone = lambda: None
        reader.unread_words = lambda text: []
        return reader

    monkeypatch.setattr(engine.Reader, "can_align", None, raising=False)
    monkeypatch.setattr("vsdemo.ui.library.Reader", read)
    library = Library()
    tab = tab_of(AlignTab, library)
    update = opened(tab)
    assert (
        "Aligned by regions, because gru has one embedding for a whole photo." in update[tab.parts]
    )
    assert library.aligner(*KEY) is library.aligner(*KEY)
