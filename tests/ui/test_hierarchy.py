"""The tab Hierarchy: its HTML, what stands in the address bar, its grounds and its callbacks."""

import json
import re
import shutil
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import parse_qsl

import gradio as gr
import pytest
import torch
from PIL import Image

from tests import small_orders
from vsdemo import projection
from vsdemo.data import hypernyms
from vsdemo.hierarchy import CAPTION, CONCEPT, PHOTO, ROOT, Item, Step, World
from vsdemo.scores import SCORES
from vsdemo.types import UserError
from vsdemo.ui import answers, arrival, grounds, hierarchy, places
from vsdemo.ui.grounds import Ground, Grounds
from vsdemo.ui.library import Library
from vsdemo.ui.standing import Standing
from vsdemo.worlds import Place

HOSTILE = "<img src=x onerror=alert(1)>\"'&"
KINDS = (ROOT, CONCEPT, CAPTION, PHOTO, PHOTO)
POINTS = torch.tensor([[0, 0], [1, 0], [1, 1], [1, 2], [2, 2.0]])


def source(number, size):
    return f"photo/a/{number}/{size}"


def of(*texts) -> World:
    items = [Item(k, t, 7 * i) for i, (k, t) in enumerate(zip(KINDS, texts, strict=True))]
    return World(items, POINTS, SCORES["order"])


WORLD = of("entity", "dog.n.01", "A dog , wet , runs .", "wet.jpg", "dry.jpg")
BAD = of(*[HOSTILE] * 5)
STEPS = [Step(1, 0.0), Step(2, 0.5), Step(0, 0.25)]


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).strip()


@pytest.mark.parametrize(
    "html",
    [
        places.trail(BAD, [0, 1, 2], HOSTILE, {"q": HOSTILE}),
        places.steps(BAD, STEPS, HOSTILE, ""),
        places.steps(BAD, [], "", HOSTILE),
        places.photos(BAD, [3, 4], source, HOSTILE),
        places.here(HOSTILE, CONCEPT, "", HOSTILE),
        places.here(HOSTILE, PHOTO, HOSTILE, HOSTILE),
        places.gathered(BAD, range(5), source),
        places.tray([HOSTILE]),
        places.joined(BAD, {CONCEPT: STEPS, PHOTO: [Step(3, 0)]}, HOSTILE, source),
    ],
)
def test_text_from_outside_is_never_markup(html):
    assert "<img src=x" not in html
    assert 'alert(1)>"' not in html
    assert "alert" in html


def test_a_trail_leads_from_the_root_and_holds_the_address():
    html = places.trail(WORLD, [0, 1], "A dog , wet , runs .", {"tab": "hierarchy", "q": "a&b"})
    assert re.findall(r'data-number="(\d+)"', html) == ["0", "1"]
    assert text(html) == "entity dog A dog, wet, runs."
    address = re.search('data-address="([^"]*)"', html)[1].replace("&amp;", "&")
    assert parse_qsl(address) == [("tab", "hierarchy"), ("q", "a&b")]


def test_each_step_states_its_violation_and_a_bar_beside_the_worst():
    html = places.steps(WORLD, STEPS, "Above", "nothing")
    assert re.findall(r'data-number="(\d)"', html) == ["1", "2", "0"]
    assert re.findall(r"width:([\d.]+%)", html) == ["0.0%", "100.0%", "50.0%"]
    assert re.findall(r'"number">([\d.]+)', html) == ["0.000", "0.500", "0.250"]
    assert "width:0.0%" in places.steps(WORLD, STEPS[:1], "", "")
    assert text(places.steps(WORLD, [], "Above", "Nothing here.")) == "Above Nothing here."


def test_photos_are_shown_by_their_number_in_the_gallery_and_report_the_item():
    html = places.photos(WORLD, [4, 3], source, "Photos below")
    assert re.findall(r'data-number="(\d)"', html) == ["4", "3"]
    assert re.findall(r'src="([^"]*)"', html) == ["photo/a/28/small", "photo/a/21/small"]
    assert places.photos(WORLD, [], source, "Photos below") == ""


def test_a_place_may_be_kept_but_not_the_root():
    assert "Keep for joining" in places.here("dog", CONCEPT, "", "length 1.00")
    assert "Keep for joining" not in places.here("entity", ROOT, "", "length 0.00")
    assert 'src="p.jpg"' in places.here("x", PHOTO, "p.jpg", "")


def test_a_selection_and_a_join_list_words_and_photos():
    html = places.gathered(WORLD, range(5), source)
    assert text(html).startswith("Selected on the map: 2 photos, 3 words and sentences")
    assert sorted(re.findall(r'data-number="(\d)"', html)) == list("01234")
    assert "0 photos, 1 words" in places.gathered(WORLD, [1], source)
    assert places.gathered(WORLD, [], source) == ""
    found = {CONCEPT: [Step(1, 0)], CAPTION: [Step(2, 1)], PHOTO: [Step(4, 2)]}
    html = places.joined(WORLD, found, "Compose: dog + cat", source)
    assert re.findall(r'data-number="(\d)"', html) == ["1", "2", "4"]
    assert "<li" not in places.tray([])
    assert re.findall(r'data-number="(\d)"', places.tray(["a", "b"])) == ["0", "1"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("dog.n.01", "dog"),
        ("hot_dog.n.02", "hot dog"),
        ("living thing", "living thing"),
        ("A dog , wet .", "A dog, wet."),
    ],
)
def test_concepts_are_said_as_people_say_them(said, told):
    assert places.spoken(said) == told


def test_the_address_names_the_place():
    common = {"tab": "hierarchy", "model": "m", "gallery": "g"}
    start, point = Standing("m", "g"), POINTS[:1]
    assert start.address == common
    assert replace(start, concepts=True).address == common | {"of": "concepts"}
    dog = Place("a dog", CONCEPT, point, 1)
    assert replace(start, place=dog).address == common | {"q": "a dog"}
    photo = replace(start, place=Place("x.jpg", PHOTO, point, 9), wanted=4)
    assert photo.address == common | {"photo": "4"}
    assert replace(photo, upload="/tmp/own.jpg").address == common
    assert start.ground == ("m", "g")
    assert replace(start, concepts=True).ground == ("", "")


@pytest.fixture
def ground():
    reader = SimpleNamespace(model=SimpleNamespace(text=SimpleNamespace(needs={"words"})))
    return Ground("order", None, reader, WORLD)


def walked(ground, *numbers, start=None):
    """Where somebody stands who went to these items one after the other."""
    standing = start or Standing("order", "g")
    for number in numbers:
        standing = arrival.arrive(standing, ground, arrival.at(ground, number))
    return standing


def test_a_trail_grows_downwards_is_cut_and_starts_anew(ground):
    assert walked(ground, 0).trail == ()
    assert walked(ground, 0, 1, 2, 3).trail == (0, 1, 2)
    assert walked(ground, 0, 1, 2, 3, 1).trail == (0,)
    photo = walked(ground, 3)
    assert photo.trail == (0, 1, 2)
    assert photo.wanted == 21
    assert walked(ground, 3, 4).trail == (0, 1, 2)  # the other photo's own


def test_a_trail_goes_on_only_where_the_place_is_listed_below(ground):
    items = [Item(ROOT, "r"), Item(CONCEPT, "dog"), Item(CONCEPT, "big car"), Item(PHOTO, "x")]
    points = torch.tensor([[0, 0], [1, 0], [0, 2], [1, 3.0]])
    apart = replace(ground, world=World(items, points, SCORES["order"]))
    assert walked(apart, 1).trail == (0,)
    assert walked(apart, 1, 2).trail == (0,)  # a big car is no dog


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
    monkeypatch.setattr(answers.gr, "Warning", lambda *_, **__: None)
    monkeypatch.setattr(projection, "FEWEST", 10_000)  # no umap
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
    monkeypatch.setattr(grounds, "by_merit", lambda name: library.models)
    _, future = Grounds(library).found(("gru", "toy-test"))
    with pytest.raises(UserError, match="gru has a score without an order"):
        future.result()


def test_without_concepts_one_sentence_says_how_to_make_them(library, monkeypatch):
    made = Grounds(library)
    monkeypatch.setattr(grounds, "of_concepts", list)
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
    assert found == set(hypernyms.load("toy").direct)


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
    again = list(answers.telling(tab.join.note)(tab.join.keep)(asked, tray))[-1]
    assert "kept already" in again[tab.join.note]
    shown = last(tab, tab.join.join, asked, tray, "Compose")
    assert "Compose: a dog + a cat" in text(shown[tab.join.joined])
    assert "Nearest photos" in text(shown[tab.join.joined])
    fewer = last(tab, tab.join.drop, asked, tray, clicked(0))[tab.join.kept]
    assert [place.text for place in fewer[1]] == ["a cat"]
    one = list(answers.telling(tab.join.note)(tab.join.join)(asked, fewer, "Abstract"))[-1]
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
