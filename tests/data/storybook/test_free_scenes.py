"""Scenes beyond the splits, and which of them show what is evaluated."""

from dataclasses import replace

import pytest

from vsdemo.data import storybook
from vsdemo.data.storybook import store
from vsdemo.data.storybook.free_scenes import FIRST_FREE, content, evaluated_content, may_train
from vsdemo.data.storybook.pictures import generate_picture, is_held_out

SPLITS = {
    "dev": range(4000, 4004),
    "test": range(4500, 4504),
    "compositional": range(5000, 5002),
}


@pytest.fixture(autouse=True, scope="module")
def few_scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "SPLITS", SPLITS)
        evaluated_content.cache_clear()
        yield
    evaluated_content.cache_clear()


def scene(number: int):
    return generate_picture(number, compositional=number in SPLITS["compositional"]).scene


@pytest.mark.parametrize("number", [*SPLITS["dev"], *SPLITS["test"], *SPLITS["compositional"]])
def test_evaluated_scenes_are_refused(number):
    """Whatever their number says."""
    assert not may_train(scene(number))
    assert not may_train(replace(scene(number), number=FIRST_FREE))


def test_a_scene_that_shows_the_same_elsewhere_is_refused():
    """The order of its groups and where they stand do not matter."""
    evaluated = next(s for s in storybook.scenes("dev") if len(s.groups) > 1)
    moved = tuple(
        replace(group, boxes=tuple((0.0, 0.0, 0.1, 0.1) for _ in group.boxes))
        for group in reversed(evaluated.groups)
    )
    last = len(moved) - 1
    links = tuple(
        replace(
            link,
            subject=last - link.subject,
            object=None if link.object is None else last - link.object,
        )
        for link in evaluated.links
    )
    assert not may_train(replace(evaluated, number=7777, groups=moved, links=links))


def test_whoever_does_what_is_content():
    linked = next(s for s in map(scene, range(100)) if any(x.object is not None for x in s.links))
    turned = tuple(
        link if link.object is None else replace(link, subject=link.object, object=link.subject)
        for link in linked.links
    )
    assert content(replace(linked, links=turned)) != content(linked)
    assert content(replace(linked, number=0)) == content(linked)


def test_other_scenes_are_free():
    """No number from the first free one on belongs to a split."""
    assert may_train(scene(0))
    free = [scene(number) for number in range(FIRST_FREE, FIRST_FREE + 5)]
    assert all(map(may_train, free))
    assert not any(map(is_held_out, free))
