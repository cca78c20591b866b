"""The lesson of the tab Hierarchy, and that the model that ships shows what it says."""

import re

import pytest
import torch

from vsdemo.core.paths import ROOT
from vsdemo.hierarchy import joins, walks
from vsdemo.search import hierarchies, stored_hierarchies
from vsdemo.search.engine import Reader
from vsdemo.ui.hierarchy import navigation
from vsdemo.ui.hierarchy.lesson import COMPOSE, COMPOSED, MISTAKE, STEPS, lesson
from vsdemo.ui.hierarchy.loader import HierarchyGallery
from vsdemo.ui.hierarchy.state import HierarchyState

FOLDER = ROOT / "checkpoints" / "storybook" / "hierarchy"
WALK, PAIR = (step.target for step in STEPS if step.target)


@pytest.fixture(scope="module")
def gallery():
    """The hierarchy that ships, on a machine without pictures."""
    reader = Reader(FOLDER)
    stored = stored_hierarchies.read(reader, FOLDER, "storybook", "test")
    assert stored is not None, "run `python -m vsdemo store-map checkpoints/storybook/hierarchy`"
    return HierarchyGallery("hierarchy", FOLDER, reader, stored.hierarchy, points=stored.points)


def arrived(gallery, node):
    """Return the trail to a node with the node, and whether its steps are true."""
    state, gallery = navigation.arrive(HierarchyState("hierarchy", "storybook"), gallery, node)
    nodes = [*map(gallery.hierarchy.node, state.trail), state.node]
    return nodes, walks.truths(gallery.hierarchy, nodes, up=False)


def node_of(gallery, text):
    return hierarchies.text_node(gallery.hierarchy, gallery.reader, text)


def test_each_step_has_something_to_do_and_to_see():
    html = lesson()
    assert len(STEPS) == 5
    assert html.count("<b>Do:</b>") == html.count("<b>See:</b>") == 5
    numbers = [int(number) for number in re.findall(r'data-number="(\d)"', html)]
    assert numbers == [i for i, step in enumerate(STEPS) if step.button]
    assert "Compose" in STEPS[COMPOSE].button
    assert "mistake" in STEPS[MISTAKE].button


def test_the_walk_is_long_and_true(gallery):
    nodes, truths = arrived(gallery, node_of(gallery, WALK))
    assert "birds" in {node.text.lower().strip(".") for node in nodes}  # that stand for the ducks
    assert len(truths) >= 5
    assert set(truths) == {True}


def test_one_of_two_is_above_and_the_other_below(gallery):
    dog, animal = node_of(gallery, PAIR), node_of(gallery, "an animal")
    below, _ = navigation._below(gallery, animal)
    assert dog.number in {step.number for step in below}
    assert animal.number in {step.number for step in gallery.hierarchy.above(dog)}
    assert animal.number not in {step.number for step in gallery.hierarchy.below(dog)}


def test_what_both_say_is_listed_and_true(gallery):
    nodes = [node_of(gallery, text) for text in COMPOSED]
    items = joins.together(gallery.hierarchy, nodes, 5)
    assert {kind: len(steps) for kind, steps in items.items()} == {"caption": 5, "photo": 5}
    truths = navigation.joined_truths(gallery, nodes, items, up=False)
    assert {truth for of_kind in truths.values() for truth in of_kind} == {True}


def test_the_mistake_is_the_last_step_of_the_path(gallery):
    _, truths = arrived(gallery, navigation.mistaken_photo(gallery))
    assert truths[-1] is False


def test_the_whole_map_ships(gallery):
    assert gallery.points.shape == (len(gallery.hierarchy), 2)
    assert torch.isfinite(torch.from_numpy(gallery.points)).all()
