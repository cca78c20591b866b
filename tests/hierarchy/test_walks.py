"""Walks up and down in hierarchies built by hand, and invariants of any hierarchy."""

import pytest
from hypothesis import given

from tests.hierarchy.test_order import TREE
from tests.support.small_hierarchies import (
    ANY_HIERARCHY,
    hierarchies,
    hierarchy_of,
    texts,
    violation,
)
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT
from vsdemo.hierarchy.walks import climb, descend


def test_walks_in_a_tree():
    tree = hierarchy_of(TREE)
    up = climb(tree, tree.x[[6]], PHOTO)
    assert texts(tree, up) == ["a dog runs", "a dog", "an animal", "anything"]
    assert [step.violation for step in up] == [0, 0, 0, 0]
    assert texts(tree, climb(tree, tree.x[[3]], CONCEPT)) == ["an animal", "anything"]
    assert texts(tree, descend(tree, 3)) == ["a cat sits", "cat.jpg"]


def test_a_climb_from_a_photo_begins_with_a_caption():
    nearer = (CONCEPT, "a running dog", (1, 1, 0, 1.4, 0))
    tree = hierarchy_of([*TREE, nearer])
    assert texts(tree, tree.above(tree.x[[6]], float("inf")))[0] == "a running dog"
    first = climb(tree, tree.x[[6]], PHOTO)[0]
    assert tree.items[first.number].kind == CAPTION
    no_captions = hierarchy_of([row for row in TREE if row[0] != CAPTION])
    assert texts(no_captions, climb(no_captions, no_captions.x[[4]], PHOTO))[0] == "a dog"


def test_the_limit_excludes_larger_violations():
    rows = [(CONCEPT, "far", (0.125, 1.0)), (CONCEPT, "near", (0.0, 2.0)), (ROOT, "r", (0.0, 0.0))]
    free, limited = hierarchy_of(rows), hierarchy_of(rows, limit=0.01)
    assert texts(free, climb(free, free.x[[1]], CONCEPT)) == ["far", "r"]
    assert climb(free, free.x[[1]], CONCEPT)[0].violation == 0.125**2
    assert texts(limited, climb(limited, limited.x[[1]], CONCEPT)) == ["r"]


def test_every_step_lies_above_the_start_of_the_climb():
    rows = [
        (ROOT, "r", (0.0, 0.0, 0.0)),
        (CONCEPT, "start", (0.0, 2.0, 2.0)),
        (CONCEPT, "middle", (0.1, 2.0, 0.0)),
        (CONCEPT, "off", (0.2, 1.8, 0.0)),  # 0.01 above the middle, 0.04 above the start
    ]
    free, limited = hierarchy_of(rows), hierarchy_of(rows, limit=0.03)
    assert texts(free, climb(free, free.x[[1]], CONCEPT)) == ["middle", "off", "r"]
    assert "off" in texts(limited, limited.above(limited.x[[2]], float(limited.depths[2])))
    assert texts(limited, climb(limited, limited.x[[1]], CONCEPT)) == ["middle", "r"]


def test_a_climb_at_unit_length_ends_at_the_root():
    rows = [
        (ROOT, "anything", (0.0, 0.0)),
        (CONCEPT, "both", (0.6, 0.8)),
        (CAPTION, "one", (0.0, 1.0)),
        (PHOTO, "0.jpg", (0.8, 0.6)),
        (PHOTO, "1.jpg", (0.6, 0.8)),
    ]
    hierarchy = hierarchy_of(rows)
    assert texts(hierarchy, climb(hierarchy, hierarchy.x[[2]], CAPTION))[-1] == "anything"


@pytest.mark.parametrize("x", [(0.0, 0.0), (1.0, 1.0), (3e20, 1e20)])
@pytest.mark.parametrize("photos", [0, 3])
def test_equal_embeddings_neither_fail_nor_loop(x, photos):
    kinds = [ROOT, CONCEPT, CONCEPT, CAPTION, *[PHOTO] * photos]
    hierarchy = hierarchy_of([(kind, "x", x) for kind in kinds])
    for number, item in enumerate(hierarchy.items):
        assert len(climb(hierarchy, hierarchy.x[[number]], item.kind)) <= 2
        assert len(descend(hierarchy, number)) <= 2
    assert len(hierarchy.nearest(hierarchy.x[:1], 9, CONCEPT)) == 2


@given(ANY_HIERARCHY)
def test_a_climb_only_goes_up_and_ends(hierarchy):
    for start, item in enumerate(hierarchy.items):
        steps = climb(hierarchy, hierarchy.x[[start]], item.kind)
        numbers = [step.number for step in steps]
        assert len({start, *numbers}) == len(numbers) + (start not in numbers)
        depths = hierarchy.depths[numbers].tolist()
        assert depths == sorted(set(depths), reverse=True)
        assert PHOTO not in {hierarchy.items[n].kind for n in numbers}
        assert all(step.violation <= hierarchy.limit for step in steps)
        for number in numbers:
            from_start = violation(hierarchy.x[number], hierarchy.x[start])
            assert from_start <= hierarchy.limit + 1e-5
        for before, step in zip([start, *numbers], steps, strict=False):
            expected = violation(hierarchy.x[step.number], hierarchy.x[before])
            assert step.violation == pytest.approx(expected, abs=1e-5)
        if item.kind == CONCEPT:
            assert CAPTION not in {hierarchy.items[n].kind for n in numbers}


@given(hierarchies())
def test_every_climb_reaches_the_root_if_lengths_differ(hierarchy):
    for start, item in enumerate(hierarchy.items):
        steps = climb(hierarchy, hierarchy.x[[start]], item.kind)
        if item.kind == ROOT:
            assert steps == []
        elif hierarchy.by_length:
            assert hierarchy.items[steps[-1].number].kind == ROOT


@given(ANY_HIERARCHY)
def test_a_descent_only_goes_down_and_ends_at_a_photo(hierarchy):
    for start, item in enumerate(hierarchy.items):
        steps = descend(hierarchy, start)
        kinds = [hierarchy.items[step.number].kind for step in steps]
        if item.kind == PHOTO:
            assert steps == []
            continue
        assert kinds[-1] == PHOTO
        assert PHOTO not in kinds[:-1]
        inner = [start, *(step.number for step in steps[:-1])]
        depths = hierarchy.depths[inner].tolist()
        assert depths == sorted(set(depths))
        for before, step in zip(inner, steps, strict=True):
            expected = violation(hierarchy.x[before], hierarchy.x[step.number])
            assert step.violation == pytest.approx(expected, abs=1e-5)
