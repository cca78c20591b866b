"""The tab Hierarchy: its grounds and its callbacks."""

import json
import re
import shutil
from types import SimpleNamespace

import gradio as gr
import pytest
from PIL import Image

from tests.support import small_orders
from vsdemo.core.errors import UserError
from vsdemo.data.pairs import hypernyms
from vsdemo.hierarchy import projection
from vsdemo.hierarchy.order import PHOTO, ROOT
from vsdemo.ui import callbacks
from vsdemo.ui.hierarchy import loader
from vsdemo.ui.hierarchy import tab as hierarchy
from vsdemo.ui.hierarchy.loader import Grounds
from vsdemo.ui.hierarchy.state import Standing
from vsdemo.ui.library import Library


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).strip()


@pytest.fixture(scope="module")
def several(toy_checkpoint, toy_order, toy_concepts, tmp_path_factory):
    """A folder of checkpoints: `gru`, which has no order, `order` and a table of concepts."""
    root = tmp_path_factory.mktemp("several")
    for folder in (toy_checkpoint, toy_order, toy_concepts):
        shutil.copytree(folder, root / "toy" / folder.name)
    return root


@pytest.fixture
def library(several, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(several))
    monkeypatch.setattr(callbacks.gr, "Warning", lambda *_, **__: None)
    monkeypatch.setattr(projection, "MIN_FOR_UMAP", 10_000)  # no umap
    return Library()


@pytest.fixture
def tab(library):
    with gr.Blocks():
        return hierarchy.build(library)


def last(tab, callback, *inputs):
    """What stands on the page in the end."""
    return list(tab.say(callback)(*inputs))[-1]


def opened(tab, **other):
    return last(tab, tab.open, Standing("order", "toy-test", **other))


def clicked(number):
    return SimpleNamespace(_data={"number": number})


def test_a_model_without_an_order_gives_way_to_one_that_has_it_and_is_told(tab, library):
    made = Grounds(library)
    for model in ("gru", "order"):
        _, future = made.found((model, "toy-test"))
        assert future.result().name == "order"
    shown = last(tab, tab.open, Standing("gru", "toy-test"))
    assert re.search(r"By order, over \d+ places", shown[tab.note])


def test_where_no_model_has_an_order_that_is_told(library, monkeypatch):
    monkeypatch.delitem(library.models, "order")
    monkeypatch.setattr(loader, "by_merit", lambda name: library.models)
    _, future = Grounds(library).found(("gru", "toy-test"))
    with pytest.raises(UserError, match="gru has a score without an order"):
        future.result()


def test_without_concepts_one_sentence_says_how_to_make_them(library, monkeypatch):
    made = Grounds(library)
    monkeypatch.setattr(loader, "of_concepts", list)
    with pytest.raises(UserError, match="No model of concepts is here; `python -m vsdemo train"):
        made.found(("", ""))[1].result()
    assert "is not here" in made.toy()
    monkeypatch.undo()


def test_a_ground_is_made_once_and_a_map_is_drawn_once(library):
    made = Grounds(library)
    ground = made.found(("", ""))[1].result()
    assert made.found(("", ""))[1].result() is ground
    assert not ground.of_photos
    _, points = made.map(("", ""), ground)
    assert points.result().shape == (len(ground.shown), 2)
    found = {(a.general, a.specific) for a in ground.arrows}
    assert found == set(hypernyms.load("toy").edges)


def test_the_first_example_is_where_it_begins(tab):
    shown = opened(tab)
    assert shown[tab.query] == "a dog"
    assert "Here: concept" in text(shown[tab.here])
    assert "Photos below" in text(shown[tab.here])
    assert shown[tab.asked].place.text == "a dog"
    assert "q=a+dog" in shown[tab.trail]
    assert tab.trail not in last(tab, tab.open, shown[tab.asked])  # it opens once


def test_a_photo_is_where_it_begins_if_wanted(tab):
    shown = opened(tab, wanted=5)
    assert "/5/large" in shown[tab.here]
    assert "photo=5" in shown[tab.trail]
    assert shown[tab.query] == ""
    assert "Photos like it" in text(shown[tab.here])
    assert shown[tab.asked].wanted == 5
    far = opened(tab, wanted=999)
    assert far[tab.asked].wanted == 7  # the last


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("wug", "knows no word"),
        ("", "is empty"),
        ("/etc/secret.jpg", "Type a word or a sentence"),
        ("a\x00b", "control characters"),
        ("dog " * 999, "at most 1,000"),
    ],
)
def test_what_cannot_be_gone_to_is_told_and_the_page_stays(tab, typed, told):
    asked = opened(tab)[tab.asked]
    shown = last(tab, tab.run, typed, asked)
    assert told in shown[tab.note]
    assert "problem" in shown[tab.note]
    assert not {tab.trail, tab.here, tab.asked} & set(shown)


@pytest.mark.parametrize("data", [None, {}, {"number": -1}, {"number": 10**6}, {"number": "0"}])
def test_a_click_on_what_is_not_there_is_told(tab, data):
    asked = opened(tab)[tab.asked]
    shown = last(tab, tab.step, asked, SimpleNamespace(_data=data))
    assert "no longer on the page" in shown[tab.note]


def test_the_map_is_drawn_once_and_then_only_what_changes(tab):
    asked = opened(tab)[tab.asked]
    whole = last(tab, tab.chart, asked, None)
    figure = json.loads(whole[tab.map])
    assert figure["source"].endswith("/{number}/small")
    found = sorted(n for trace in figure["data"] for n in trace.get("customdata", ()))
    assert found == list(range(len(found)))
    assert len(found) > 1 + len(small_orders.PHRASES) + 8
    again = json.loads(last(tab, tab.chart, asked, whole[tab.drawn])[tab.map])
    assert again.keys() == {"over", "shapes", "source"}
    assert again["shapes"]


def test_a_click_on_the_map_goes_there_and_a_lasso_gathers(tab):
    asked = opened(tab)[tab.asked]
    shown = last(tab, tab.select, asked, SimpleNamespace(_data={"numbers": [0]}))
    assert shown[tab.asked].place.kind == ROOT
    shown = last(tab, tab.select, asked, SimpleNamespace(_data={"numbers": [0, 1, 10**6]}))
    assert "2 words and sentences" in shown[tab.picked]
    assert tab.asked not in shown


def test_another_model_or_gallery_is_walked_from_the_same_words(tab):
    asked = last(tab, tab.run, "a cat", opened(tab)[tab.asked])[tab.asked]
    shown = last(tab, tab.changed, asked, "gru", "toy-all")
    assert shown[tab.asked].place.text == "a cat"
    assert (shown[tab.asked].model, shown[tab.asked].gallery) == ("gru", "toy-all")
    assert tab.asked not in last(tab, tab.changed, None, "gru", "toy-all")
    early = last(tab, tab.changed, Standing("order", "toy-test"), "gru", "toy-all")
    assert early[tab.asked].place is None  # nobody has looked yet


def kept(tab, *texts):
    """What is kept after going to each of these, and where one stands then."""
    asked, tray = opened(tab)[tab.asked], None
    for typed in texts:
        asked = last(tab, tab.run, typed, asked)[tab.asked]
        tray = last(tab, tab.join.keep, asked, tray)[tab.join.kept]
    return asked, tray


def test_places_are_kept_put_back_and_joined(tab):
    asked, tray = kept(tab, "a dog", "a cat")
    again = list(callbacks.telling(tab.join.note)(tab.join.keep)(asked, tray))[-1]
    assert "kept already" in again[tab.join.note]
    shown = last(tab, tab.join.join, asked, tray, "Compose")
    assert "Compose: a dog + a cat" in text(shown[tab.join.joined])
    assert "Nearest photos" in text(shown[tab.join.joined])
    fewer = last(tab, tab.join.drop, asked, tray, clicked(0))[tab.join.kept]
    assert [place.text for place in fewer[1]] == ["a cat"]
    one = list(callbacks.telling(tab.join.note)(tab.join.join)(asked, fewer, "Abstract"))[-1]
    assert "Keep two places at least" in one[tab.join.note]


def test_two_own_photos_can_both_be_kept(tab, tmp_path):
    tray = None
    for name in ("red", "blue"):
        Image.new("RGB", (90, 60), name).save(tmp_path / f"{name}.png")
        asked = opened(tab)[tab.asked]
        asked = last(tab, tab.take, str(tmp_path / f"{name}.png"), asked)[tab.asked]
        assert asked.place.kind == PHOTO
        assert "photo=" not in str(asked.address)
        tray = last(tab, tab.join.keep, asked, tray)[tab.join.kept]
    assert len(tray[1]) == 2


def test_nothing_of_another_ground_stays_to_be_clicked(tab):
    asked, tray = kept(tab, "a dog", "a cat")
    assert tab.join.joined not in last(tab, tab.join.changed, asked, tray)
    words = last(tab, tab.choose, hierarchy.WORDS, asked)
    assert words[tab.picked] == ""
    assert words[tab.query] == "dog"
    shown = last(tab, tab.join.changed, words[tab.asked], tray)
    assert shown[tab.join.joined] == ""
    assert shown[tab.join.kept][1] == ()
