"""The tab Align: its callbacks over a model that stands in for one."""

import html
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest
from PIL import Image

from tests.support.fake_alignment import alignment, install
from vsdemo.core.errors import UserError
from vsdemo.core.hits import RegionHit
from vsdemo.plots.region_marks import marks
from vsdemo.search import engine
from vsdemo.ui import callbacks
from vsdemo.ui.alignment import tab as tabs
from vsdemo.ui.alignment import view
from vsdemo.ui.alignment.state import Asked
from vsdemo.ui.library import Library

WORLD = ("gru", "toy-test")
TEXT = "a small dog runs after one red ball"
HOSTILE = '<img src=x onerror="alert(1)">\'&'


@pytest.fixture
def able(checkpoints, monkeypatch, fake_parser):
    """Every model as if it could align."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    install(monkeypatch)
    monkeypatch.setattr(callbacks.gr, "Warning", lambda *_, **__: None)


@pytest.fixture
def tab(able):
    library = Library()
    with gr.Blocks():
        return tabs.build(library, gr.Dropdown())


def last(tab, callback, *inputs):
    """What stands on the page in the end."""
    return list(tab.say(callback)(*inputs))[-1]


def clicked(number):
    return SimpleNamespace(_data={"number": number})


def opened(tab, **other):
    return last(tab, tab.open, replace(Asked(TEXT, *WORLD, 2), **other))


def record(parts):
    (text,) = re.findall(r'data-alignment="([^"]*)"', parts)
    return json.loads(html.unescape(text))


def test_what_waits_is_aligned_once(tab):
    shown = opened(tab)
    found = alignment(TEXT)
    assert shown[tab.asked].alignment == found
    assert shown[tab.query] == TEXT
    assert "/2/large" in shown[tab.photo]
    assert shown[tab.photo].count('role="button"') == len(marks(found))
    assert shown[tab.own].count('class="chip"') == 5
    assert shown[tab.picks].count("<img") == 8
    told = record(shown[tab.parts])
    assert told["words"] == TEXT.split()
    assert len(told["scores"]) == len(found.fragments)
    assert told["numbers"] == {str(r): m.number for r, m in marks(found).items()}
    assert f"of {len(found.fragments)} fragments" in shown[tab.note]
    assert tab.parts not in last(tab, tab.open, shown[tab.asked])


def test_the_photo_is_there_before_its_alignment(tab):
    first = next(u for u in tab.show(Asked("", *WORLD, 3)) if tab.photo in u)
    assert "waiting" in first[tab.parts]
    assert "canvas" not in first[tab.photo]
    assert first[tab.asked].text == first[tab.query] != ""  # of its own captions


def test_another_sentence_is_typed_or_taken_from_those_of_the_photo(tab):
    asked = opened(tab)[tab.asked]
    typed = last(tab, tab.run, " one  red bar ", asked)
    assert typed[tab.asked].text == "one red bar"
    assert typed[tab.asked].address == {
        "tab": "align",
        "q": "one red bar",
        "model": "gru",
        "gallery": "toy-test",
        "photo": "2",
    }
    used = last(tab, tab.use, asked, clicked(2))
    assert used[tab.query] == used[tab.asked].text
    assert used[tab.own].count("aria-current") == 1


@pytest.mark.parametrize(("text", "told"), [("", "empty"), ("wug", "no word"), ("a\0", "control")])
def test_a_bad_sentence_is_told_and_the_alignment_stays(tab, text, told):
    update = last(tab, tab.run, text, opened(tab)[tab.asked])
    assert told in update[tab.note]
    assert 'role="alert"' in update[tab.note]
    assert tab.parts not in update


def test_a_bad_sentence_of_an_address_leaves_only_the_photo(tab):
    update = opened(tab, text="wug")
    assert "no word" in update[tab.note]
    assert update[tab.parts] == ""
    assert "/2/large" in update[tab.photo]


def test_other_photos_bring_their_own_sentence_and_found_ones_keep_it(tab):
    asked = opened(tab)[tab.asked]
    picked = last(tab, tab.pick, asked, clicked(4))[tab.asked]
    assert (picked.photo, picked.text == TEXT) == (4, False)
    looked = last(tab, tab.look, asked, clicked(4))[tab.asked]
    assert (looked.photo, looked.text) == (4, TEXT)
    gone = last(tab, tab.pick, asked, clicked(99))
    assert "no longer on the page" in gone[tab.note]


def test_a_photo_of_ones_own_is_aligned_and_no_part_of_the_address(tab, tmp_path):
    Image.new("RGB", (90, 60), "red").save(tmp_path / "red.png")
    asked = opened(tab)[tab.asked]
    update = last(tab, tab.take, str(tmp_path / "red.png"), asked)
    assert "gradio_api/file=" in update[tab.photo]
    assert "--ratio:1.5000" in update[tab.photo]
    assert "photo" not in update[tab.asked].address
    (tmp_path / "red.png").write_bytes(b"no photo")
    bad = last(tab, tab.take, str(tmp_path / "red.png"), asked)
    assert "red.png" in bad[tab.note]
    assert tab.photo not in bad


def test_another_model_or_gallery_is_followed_once_somebody_looked(tab):
    waiting = Asked(TEXT, *WORLD, 2)
    moved = last(tab, tab.changed, waiting, "gru", "toy-all")
    assert tab.parts not in moved
    assert (moved[tab.asked].gallery, moved[tab.asked].photo) == ("toy-all", 0)
    seen = last(tab, tab.changed, opened(tab)[tab.asked], "gru", "toy-all")
    assert seen[tab.asked].alignment is not None
    assert seen[tab.asked].text != TEXT


def test_the_files_hold_what_is_shown(tab):
    update = opened(tab)
    png, told = (Path(update[b]["value"]) for b in (tab.png, tab.json))
    with Image.open(png) as picture:
        assert picture.format == "PNG"
    told = json.loads(told.read_text())
    assert (told["sentence"], told["model"]) == (TEXT, "gru")
    assert told["total"] == alignment(TEXT).total
    assert told["photo"].endswith(".png")


def test_regions_are_found_for_a_fragment_a_word_or_the_sentence(tab):
    asked = opened(tab)[tab.asked]
    found, panel = asked.alignment, tab.regions
    first = len(found.fragments)
    for number, text in ((1, "small dog"), (first + 7, "ball"), (asked.choices - 1, TEXT)):
        assert asked.words_of(number) == text
    update = list(panel.find(asked, clicked(asked.choices - 1)))[-1]
    assert update[panel.found].count('data-event="select"') == 3
    assert "left:-100.00%;top:-0.00%;width:200.00%;height:100.00%" in update[panel.found]
    assert f"“{TEXT}”" in update[panel.note]
    with pytest.raises(UserError, match="no longer"):
        list(panel.find(asked, clicked(asked.choices)))


def test_without_a_model_that_aligns_there_is_the_tree_and_why(tab, monkeypatch):
    monkeypatch.setattr(engine.Reader, "can_align", False)
    update = opened(tab)
    assert "Only the tree" in update[tab.note]
    assert "one point for a whole photo" in update[tab.note]
    assert 'class="deptree"' in update[tab.parts]
    assert "data-alignment" not in update[tab.parts]
    assert update[tab.png]["interactive"] is False


def test_a_model_that_cannot_gives_way_to_one_that_can(able, checkpoints, tmp_path, monkeypatch):
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
        return reader

    monkeypatch.setattr(engine.Reader, "can_align", None, raising=False)
    monkeypatch.setattr("vsdemo.ui.library.Reader", read)
    library = Library()
    with gr.Blocks():
        tab = tabs.build(library, gr.Dropdown())
    update = opened(tab)
    assert "Aligned by regions, as gru has one point for a whole photo." in update[tab.note]
    assert library.aligning(*WORLD) is library.aligning(*WORLD)


def test_text_from_outside_is_never_markup(fake_parser):
    found = alignment(HOSTILE.replace(" ", "_") + " and more words")
    for shown in (
        view.parts(found, found.tree),
        view.only_tree(found.tree),
        view.captions([HOSTILE], ""),
        view.photo("photo/a/0/large", (4, 3), HOSTILE, {"q": HOSTILE}, found),
        view.found([RegionHit(1, 0, HOSTILE, (0, 0, 1, 1), 1.0)], {0: (4, 3)},
                      lambda n, s: "", HOSTILE),
    ):  # fmt: skip
        assert "<img src=x" not in shown
        assert "<img_src=x" not in shown
        assert 'alert(1)"' not in shown
