from dataclasses import replace

import pytest
from hypothesis import given

from tests.support.storybook_scenes import group, scene, scenes
from vsdemo.data.storybook.facts import Facts, Thing, entails, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.scene import Link
from vsdemo.data.storybook.visible_facts import BACKDROPS, visible_facts

LEFT, RIGHT, ABOVE = (0.1, 0.5, 0.3, 0.9), (0.6, 0.5, 0.8, 0.9), (0.1, 0.1, 0.3, 0.3)


def shown(action: str, *things, **circumstances) -> bool:
    """Return whether a picture of some things may show an action of the first to the second."""
    groups = [replace(group(kind, pose=pose), boxes=(box,)) for kind, pose, box in things]
    facts = Facts(tuple(Thing(g.kind) for g in groups), (Link(action, 0, 1),))
    return entails(visible_facts(scene(*groups, **circumstances)), facts)


@pytest.mark.parametrize(
    ("action", "one", "other", "expected"),
    [
        ("left_of", ("dog", "stand", LEFT), ("cat", "stand", RIGHT), True),
        ("right_of", ("cat", "stand", RIGHT), ("dog", "stand", LEFT), True),
        ("right_of", ("dog", "stand", LEFT), ("cat", "stand", RIGHT), False),
        ("next_to", ("dog", "stand", LEFT), ("cat", "stand", RIGHT), False),
        ("above", ("bird", "fly", ABOVE), ("cat", "stand", LEFT), True),
        ("flies_over", ("bird", "fly", ABOVE), ("cat", "stand", LEFT), True),
        ("above", ("bird", "fly", ABOVE), ("cat", "stand", RIGHT), False),
        ("under", ("cat", "stand", LEFT), ("oak", "stand", LEFT), True),
        ("under", ("cat", "stand", LEFT), ("oak", "stand", RIGHT), False),
        ("under", ("cat", "stand", LEFT), ("car", "stand", LEFT), False),
    ],
)
def test_relations_are_read_off_the_boxes(action, one, other, expected):
    assert shown(action, one, other) == expected


def test_a_backdrop_counts():
    trees = Facts((Thing("dog"), Thing("plant", 2)))
    assert entails(visible_facts(scene(group("dog"), setting="forest")), trees)
    assert not entails(visible_facts(scene(group("dog"), setting="desert")), trees)
    assert set(BACKDROPS) <= set(load_lexicon().settings)
    assert {t.concept for each in BACKDROPS.values() for t in each} <= set(load_lexicon().concepts)


@given(scenes)
def test_they_include_the_facts(any_scene):
    assert entails(visible_facts(any_scene), facts_of(any_scene))


def test_they_are_more_than_the_facts_of_most_pictures():
    pictures = [generate_picture(number).scene for number in range(30)]
    assert sum(not entails(facts_of(s), visible_facts(s)) for s in pictures) > 15
