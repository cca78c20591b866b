"""The HTML of the tab Hierarchy, what stands in the address bar, and trails."""

import re
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest
import torch

from vsdemo.hierarchy.nodes import Node
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT, Hierarchy, Item, Step
from vsdemo.models.scores import SCORES
from vsdemo.ui.hierarchy import navigation, view
from vsdemo.ui.hierarchy.loader import Ground
from vsdemo.ui.hierarchy.state import Standing

HOSTILE = "<img src=x onerror=alert(1)>\"'&"
KINDS = (ROOT, CONCEPT, CAPTION, PHOTO, PHOTO)
POINTS = torch.tensor([[0, 0], [1, 0], [1, 1], [1, 2], [2, 2.0]])


def source(number, size):
    return f"photo/a/{number}/{size}"


def of(*texts) -> Hierarchy:
    items = [Item(k, t, 7 * i) for i, (k, t) in enumerate(zip(KINDS, texts, strict=True))]
    return Hierarchy(items, POINTS, SCORES["order"])


WORLD = of("entity", "dog.n.01", "A dog , wet , runs .", "wet.jpg", "dry.jpg")
BAD = of(*[HOSTILE] * 5)
STEPS = [Step(1, 0.0), Step(2, 0.5), Step(0, 0.25)]


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).strip()


@pytest.mark.parametrize(
    "html",
    [
        view.trail(BAD, [0, 1, 2], HOSTILE, {"q": HOSTILE}),
        view.steps(BAD, STEPS, HOSTILE, ""),
        view.steps(BAD, [], "", HOSTILE),
        view.photos(BAD, [3, 4], source, HOSTILE),
        view.here(HOSTILE, CONCEPT, "", HOSTILE),
        view.here(HOSTILE, PHOTO, HOSTILE, HOSTILE),
        view.gathered(BAD, range(5), source),
        view.tray([HOSTILE]),
        view.joined(BAD, {CONCEPT: STEPS, PHOTO: [Step(3, 0)]}, HOSTILE, source),
    ],
)
def test_text_from_outside_is_never_markup(html):
    assert "<img src=x" not in html
    assert 'alert(1)>"' not in html
    assert "alert" in html


def test_a_trail_leads_from_the_root_and_holds_the_address():
    html = view.trail(WORLD, [0, 1], "A dog , wet , runs .", {"tab": "hierarchy", "q": "a&b"})
    assert re.findall(r'data-number="(\d+)"', html) == ["0", "1"]
    assert text(html) == "entity dog A dog, wet, runs."
    address = re.search('data-address="([^"]*)"', html)[1].replace("&amp;", "&")
    assert parse_qsl(address) == [("tab", "hierarchy"), ("q", "a&b")]


def test_each_step_states_its_violation_and_a_bar_beside_the_worst():
    html = view.steps(WORLD, STEPS, "Above", "nothing")
    assert re.findall(r'data-number="(\d)"', html) == ["1", "2", "0"]
    assert re.findall(r"width:([\d.]+%)", html) == ["0.0%", "100.0%", "50.0%"]
    assert re.findall(r'"number">([\d.]+)', html) == ["0.000", "0.500", "0.250"]
    assert "width:0.0%" in view.steps(WORLD, STEPS[:1], "", "")
    assert text(view.steps(WORLD, [], "Above", "Nothing here.")) == "Above Nothing here."


def test_photos_are_shown_by_their_number_in_the_gallery_and_report_the_item():
    html = view.photos(WORLD, [4, 3], source, "Photos below")
    assert re.findall(r'data-number="(\d)"', html) == ["4", "3"]
    assert re.findall(r'src="([^"]*)"', html) == ["photo/a/28/small", "photo/a/21/small"]
    assert view.photos(WORLD, [], source, "Photos below") == ""


def test_a_place_may_be_kept_but_not_the_root():
    assert "Keep for joining" in view.here("dog", CONCEPT, "", "length 1.00")
    assert "Keep for joining" not in view.here("entity", ROOT, "", "length 0.00")
    assert 'src="p.jpg"' in view.here("x", PHOTO, "p.jpg", "")


def test_a_selection_and_a_join_list_words_and_photos():
    html = view.gathered(WORLD, range(5), source)
    assert text(html).startswith("Selected on the map: 2 photos, 3 words and sentences")
    assert sorted(re.findall(r'data-number="(\d)"', html)) == list("01234")
    assert "0 photos, 1 words" in view.gathered(WORLD, [1], source)
    assert view.gathered(WORLD, [], source) == ""
    found = {CONCEPT: [Step(1, 0)], CAPTION: [Step(2, 1)], PHOTO: [Step(4, 2)]}
    html = view.joined(WORLD, found, "Compose: dog + cat", source)
    assert re.findall(r'data-number="(\d)"', html) == ["1", "2", "4"]
    assert "<li" not in view.tray([])
    assert re.findall(r'data-number="(\d)"', view.tray(["a", "b"])) == ["0", "1"]


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
    assert view.spoken(said) == told


def test_the_address_names_the_place():
    common = {"tab": "hierarchy", "model": "m", "gallery": "g"}
    start, point = Standing("m", "g"), POINTS[:1]
    assert start.address == common
    assert replace(start, concepts=True).address == common | {"of": "concepts"}
    dog = Node("a dog", CONCEPT, point, 1)
    assert replace(start, place=dog).address == common | {"q": "a dog"}
    photo = replace(start, place=Node("x.jpg", PHOTO, point, 9), wanted=4)
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
        standing = navigation.arrive(standing, ground, navigation.at(ground, number))
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
    dogs = range(navigation.LISTED)
    items = [Item(ROOT, "r"), Item(CONCEPT, "dog"), Item(CONCEPT, "big car"), Item(PHOTO, "x")]
    items += [Item(CONCEPT, f"dog {n}") for n in dogs]
    points = [(0.0, 0.0), (1.0, 0.0), (0.0, 2.0), (1.0, 3.0), *((1.0, 1.0 + n / 9) for n in dogs)]
    world = Hierarchy(items, torch.tensor(points), SCORES["order"])
    apart = Ground(ground.name, ground.folder, ground.reader, world)
    assert walked(apart, 1, 4).trail == (0, 1)
    assert walked(apart, 1, 2).trail == (0,)  # a big car is no dog
