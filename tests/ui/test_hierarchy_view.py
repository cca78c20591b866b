"""The HTML of the tab Hierarchy, its addresses and trails."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from tests.support.hostile import check_escaped
from tests.support.pages import template_html, text
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT, Hierarchy, Item, Node, Step
from vsdemo.models.scores import SCORES
from vsdemo.ui.hierarchy import navigation, view
from vsdemo.ui.hierarchy.loader import HierarchyGallery
from vsdemo.ui.hierarchy.map import map_widget
from vsdemo.ui.hierarchy.state import HierarchyState

KINDS = (ROOT, CONCEPT, CAPTION, PHOTO, PHOTO)
POINTS = torch.tensor([[0, 0], [1, 0], [1, 1], [1, 2], [2, 2.0]])


def address(number, size):
    return f"photo/a/{number}/{size}"


def of(*texts) -> Hierarchy:
    items = [Item(k, t, 7 * i) for i, (k, t) in enumerate(zip(KINDS, texts, strict=True))]
    return Hierarchy(items, POINTS, SCORES["order"])


HIERARCHY = of("entity", "dog.n.01", "A dog , wet , runs .", "wet.jpg", "dry.jpg")
STEPS = [Step(1, 0.0), Step(2, 0.5), Step(0, 0.25)]
NEAREST = {CONCEPT: STEPS, PHOTO: [Step(3, 0)]}
UNKNOWN = {kind: [None] * len(steps) for kind, steps in NEAREST.items()}


def same(text: str) -> Hierarchy:
    """Return a hierarchy whose items all have this text."""
    return of(*[text] * len(KINDS))


@pytest.mark.parametrize(
    "page",
    [
        lambda text: view.trail(same(text), [0, 1, 2], "here"),
        lambda text: view.trail(same("x"), [0], text),
        lambda text: view.steps(same(text), STEPS, title="Above", empty=""),
        lambda text: view.steps(same("x"), STEPS, title=text, empty=""),
        lambda text: view.steps(same("x"), [], title="Above", empty=text),
        lambda text: view.photos(same(text), [3, 4], address, title="Photos"),
        lambda text: view.photos(same("x"), [3], address, title=text),
        lambda text: view.photos(same("x"), [3], lambda number, size: text, title="Photos"),
        lambda text: view.here(text, CONCEPT, "", "length 1.00"),
        lambda text: view.here("dog", text, "", text),
        lambda text: view.here(text, PHOTO, "p.jpg", ""),
        lambda text: view.here("photo", PHOTO, text, ""),
        lambda text: view.selection(same(text), range(5), address),
        lambda text: view.selection(same(text), range(3), address),
        lambda text: view.tray([text]),
        lambda text: view.joined(same(text), NEAREST, address, title="Compose", truths=UNKNOWN),
        lambda text: view.joined(same("x"), NEAREST, address, title=text, truths=UNKNOWN),
        lambda text: template_html(map_widget(text)),
    ],
)
def test_html_is_escaped(page):
    check_escaped(page)


def test_a_trail_lists_the_path():
    html = view.trail(HIERARCHY, [0, 1], "A dog , wet , runs .")
    assert re.findall(r'data-number="(\d+)"', html) == ["0", "1"]
    assert text(html) == "entity dog A dog, wet, runs."


def test_steps_say_whether_they_are_true():
    html = view.steps(HIERARCHY, STEPS, title="", empty="", truths=[True, None, False])
    assert html.count('class="truth holds"') == 1
    assert html.count('class="truth fails"') == 1
    assert "not true" in text(html)
    trail = view.trail(HIERARCHY, [0, 1], "here", [True, False])
    assert text(trail) == "entity dog true here not true"
    assert 'class="truth' not in view.trail(HIERARCHY, [0, 1], "here")


def test_bars_are_longest_where_the_order_holds_best():
    html = view.steps(HIERARCHY, STEPS, title="Above", empty="nothing")
    assert re.findall(r'data-number="(\d)"', html) == ["1", "2", "0"]
    assert re.findall(r"width:([\d.]+%)", html) == ["100.0%", "15.0%", "57.5%"]
    assert re.findall(r'"number">([\d.]+)', html) == ["0.000", "0.500", "0.250"]
    assert html.count("0 is a perfect fit") == 3
    assert "width:100.0%" in view.steps(HIERARCHY, STEPS[:1], title="", empty="")
    assert (
        text(view.steps(HIERARCHY, [], title="Above", empty="Nothing here."))
        == "Above Nothing here."
    )


def test_photos_load_by_gallery_number_and_report_the_item():
    html = view.photos(HIERARCHY, [4, 3], address, title="Photos below")
    assert re.findall(r'data-number="(\d)"', html) == ["4", "3"]
    assert re.findall(r'src="([^"]*)"', html) == ["photo/a/28/small", "photo/a/21/small"]
    assert view.photos(HIERARCHY, [], address, title="Photos below") == ""


def test_every_node_except_the_root_can_be_kept():
    assert ">Keep<" in view.here("dog", CONCEPT, "", "length 1.00")
    assert ">Keep<" not in view.here("entity", ROOT, "", "length 0.00")
    assert 'src="p.jpg"' in view.here("x", PHOTO, "p.jpg", "")


def test_a_selection_and_a_join_list_words_and_photos():
    html = view.selection(HIERARCHY, range(5), address)
    assert text(html).startswith("Selected on the map: 2 photos, 3 words and sentences")
    assert sorted(re.findall(r'data-number="(\d)"', html)) == list("01234")
    assert "0 photos, 1 words" in view.selection(HIERARCHY, [1], address)
    assert view.selection(HIERARCHY, [], address) == ""
    nearest = {CONCEPT: [Step(1, 0)], CAPTION: [Step(2, 1)], PHOTO: [Step(4, 2)]}
    truths = {CONCEPT: [True], CAPTION: [False], PHOTO: [True]}
    html = view.joined(HIERARCHY, nearest, address, title="Compose: dog + cat", truths=truths)
    assert re.findall(r'data-number="(\d)"', html) == ["1", "2", "4"]
    assert re.findall(r'class="truth (\w+)"', html) == ["holds", "fails"]
    assert "<li" not in view.tray([])
    assert re.findall(r'data-number="(\d)"', view.tray(["a", "b"])) == ["0", "1"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dog.n.01", "dog"),
        ("hot_dog.n.02", "hot dog"),
        ("living thing", "living thing"),
        ("A dog , wet .", "A dog, wet."),
    ],
)
def test_concepts_are_shown_in_plain_words(name, text):
    assert view.spoken(name) == text


def test_the_address_names_the_node():
    common = {"tab": "hierarchy", "model": "m", "gallery": "g"}
    start, point = HierarchyState("m", "g"), POINTS[:1]
    assert start.address == common
    assert replace(start, concepts=True).address == common | {"of": "concepts"}
    dog = Node("a dog", CONCEPT, point, 1)
    assert replace(start, node=dog).address == common | {"q": "a dog"}
    photo = replace(start, node=Node("x.jpg", PHOTO, point, 9), target=4)
    assert photo.address == common | {"photo": "4"}
    assert replace(photo, upload="/tmp/own.jpg").address == common
    assert start.key == ("m", "g")
    assert replace(start, concepts=True).key == ("", "")


@pytest.fixture
def gallery():
    model = SimpleNamespace(text=SimpleNamespace(needs={"concepts"}))
    reader = SimpleNamespace(model=model, unknown_words=lambda text: [])
    return HierarchyGallery("order", None, reader, HIERARCHY)


def walked(gallery, *numbers, start=None):
    """Return the state after going to these items in turn."""
    state = start or HierarchyState("order", "g")
    for number in numbers:
        state, gallery = navigation.arrive(state, gallery, gallery.hierarchy.node(number))
    return state


def test_a_trail_grows_is_shortened_and_restarts(gallery):
    assert walked(gallery, 0).trail == ()
    assert walked(gallery, 0, 1, 2, 3).trail == (0, 1, 2)
    assert walked(gallery, 0, 1, 2, 3, 1).trail == (0,)
    photo = walked(gallery, 3)
    assert photo.trail == (0, 1, 2)
    assert photo.target == 21
    assert walked(gallery, 3, 4).trail == (0, 1, 2)  # that of the other photo


def test_a_trail_continues_only_to_a_node_listed_below(gallery):
    dogs = range(navigation.MAX_TEXTS)
    items = [Item(ROOT, "r"), Item(CONCEPT, "dog"), Item(CONCEPT, "big car"), Item(PHOTO, "x")]
    items += [Item(CONCEPT, f"dog {n}") for n in dogs]
    points = [(0.0, 0.0), (1.0, 0.0), (0.0, 2.0), (1.0, 3.0), *((1.0, 1.0 + n / 9) for n in dogs)]
    hierarchy = Hierarchy(items, torch.tensor(points), SCORES["order"])
    gallery = HierarchyGallery("order", None, gallery.reader, hierarchy)
    assert walked(gallery, 1, 4).trail == (0, 1)
    assert walked(gallery, 1, 2).trail == (0,)  # "big car" is not below "dog"
