"""Walks up and down in hierarchies built by hand, and invariants of any hierarchy."""

import pytest
from hypothesis import given

from tests.hierarchy.test_order import TREE
from tests.support.small_hierarchies import (
    ANY_HIERARCHY,
    INFINITY,
    hierarchies,
    hierarchy_of,
    texts,
    violation,
)
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT, Node
from vsdemo.hierarchy.walks import climb, descend, truths


def test_walks_in_a_tree():
    tree = hierarchy_of(TREE)
    up = climb(tree, tree.node(6))
    assert texts(tree, up) == ["a dog runs", "a dog", "an animal", "anything"]
    assert [step.violation for step in up] == [0, 0, 0, 0]
    assert texts(tree, climb(tree, tree.node(3))) == ["an animal", "anything"]
    assert texts(tree, descend(tree, 3)) == ["a cat sits", "cat.jpg"]


def test_a_walk_ends_where_nothing_lies_within_the_limits():
    tree = hierarchy_of([*TREE, (CAPTION, "a bird", (1, 0, 0, 2, 2))], limit=0.1)
    assert texts(tree, climb(tree, tree.node(8))) == ["an animal", "anything"]
    assert descend(tree, 8) == []
    assert texts(tree, descend(tree, 2)) == ["a dog runs", "dog.jpg"]
    assert tree.above(tree.node(7)) != []
    rootless = hierarchy_of([*TREE[1:], (PHOTO, "none.jpg", (0, 0, 0, 0, 0))], limit=0.1)
    assert climb(rootless, rootless.node(7)) == []


def test_a_climb_from_a_photo_begins_with_a_caption():
    nearer = (CONCEPT, "a running dog", (1, 1, 0, 1.4, 0))
    tree = hierarchy_of([*TREE, nearer])
    assert texts(tree, tree.above(tree.node(6)))[0] == "a running dog"
    first = climb(tree, tree.node(6))[0]
    assert tree.items[first.number].kind == CAPTION
    no_captions = hierarchy_of([row for row in TREE if row[0] != CAPTION])
    assert texts(no_captions, climb(no_captions, no_captions.node(4)))[0] == "a dog"


def test_the_limit_excludes_larger_violations():
    rows = [(CONCEPT, "far", (0.125, 1.0)), (CONCEPT, "near", (0.0, 2.0)), (ROOT, "r", (0.0, 0.0))]
    free, limited = hierarchy_of(rows), hierarchy_of(rows, limit=0.01)
    assert texts(free, climb(free, free.node(1))) == ["far", "r"]
    assert climb(free, free.node(1))[0].violation == 0.125**2
    assert texts(limited, climb(limited, limited.node(1))) == ["r"]


def test_every_step_lies_above_the_start_of_the_climb():
    rows = [
        (ROOT, "r", (0.0, 0.0, 0.0)),
        (CONCEPT, "start", (0.0, 2.0, 2.0)),
        (CONCEPT, "middle", (0.1, 2.0, 0.0)),
        (CONCEPT, "off", (0.2, 1.8, 0.0)),  # 0.01 above the middle, 0.04 above the start
    ]
    free, limited = hierarchy_of(rows), hierarchy_of(rows, limit=0.03)
    assert texts(free, climb(free, free.node(1))) == ["middle", "off", "r"]
    assert "off" in texts(limited, limited.above(limited.node(2)))
    assert texts(limited, climb(limited, limited.node(1))) == ["middle", "r"]


def test_a_climb_at_unit_length_ends_at_the_root():
    rows = [
        (ROOT, "anything", (0.0, 0.0)),
        (CONCEPT, "both", (0.6, 0.8)),
        (CAPTION, "one", (0.0, 1.0)),
        (PHOTO, "0.jpg", (0.8, 0.6)),
        (PHOTO, "1.jpg", (0.6, 0.8)),
    ]
    hierarchy = hierarchy_of(rows)
    assert texts(hierarchy, climb(hierarchy, hierarchy.node(2)))[-1] == "anything"


@pytest.mark.parametrize("x", [(0.0, 0.0), (1.0, 1.0), (3e20, 1e20)])
@pytest.mark.parametrize("photos", [0, 3])
def test_equal_embeddings_neither_fail_nor_loop(x, photos):
    kinds = [ROOT, CONCEPT, CONCEPT, CAPTION, *[PHOTO] * photos]
    hierarchy = hierarchy_of([(kind, "x", x) for kind in kinds])
    for number in range(len(hierarchy)):
        assert len(climb(hierarchy, hierarchy.node(number))) <= 2
        assert len(descend(hierarchy, number)) <= 2
    assert len(hierarchy.nearest(hierarchy.x[:1], 9, CONCEPT)) == 2


@given(ANY_HIERARCHY)
def test_a_climb_only_goes_up_and_ends(hierarchy):
    for start, item in enumerate(hierarchy.items):
        steps = climb(hierarchy, hierarchy.node(start))
        numbers = [step.number for step in steps]
        assert len({start, *numbers}) == len(numbers) + (start not in numbers)
        depths = hierarchy.depths[numbers].tolist()
        assert depths == sorted(set(depths), reverse=True)
        assert PHOTO not in {hierarchy.items[n].kind for n in numbers}
        assert all(step.violation <= hierarchy.limits.texts for step in steps)
        for number in numbers:
            from_start = violation(hierarchy.x[number], hierarchy.x[start])
            assert from_start <= hierarchy.limits.texts + 1e-5
        for before, step in zip([start, *numbers], steps, strict=False):
            expected = violation(hierarchy.x[step.number], hierarchy.x[before])
            assert step.violation == pytest.approx(expected, abs=1e-5)
        if item.kind == CONCEPT:
            assert CAPTION not in {hierarchy.items[n].kind for n in numbers}


@given(hierarchies())
def test_every_climb_reaches_the_root_if_lengths_differ(hierarchy):
    for start, item in enumerate(hierarchy.items):
        steps = climb(hierarchy, hierarchy.node(start))
        if item.kind == ROOT:
            assert steps == []
        elif hierarchy.by_length:
            assert hierarchy.items[steps[-1].number].kind == ROOT


@given(ANY_HIERARCHY)
def test_a_descent_only_goes_down_and_ends_at_a_photo_if_one_is_below(hierarchy):
    for start, item in enumerate(hierarchy.items):
        steps = descend(hierarchy, start)
        kinds = [hierarchy.items[step.number].kind for step in steps]
        if item.kind == PHOTO:
            assert steps == []
            continue
        assert PHOTO not in kinds[:-1]
        inner = [start, *(step.number for step, kind in zip(steps, kinds, strict=True))]
        if kinds[-1:] == [PHOTO]:
            inner.pop()
        else:
            assert hierarchy.limits.photos < INFINITY
        depths = hierarchy.depths[inner].tolist()
        assert depths == sorted(set(depths))
        for before, step in zip(inner, steps, strict=False):
            expected = violation(hierarchy.x[before], hierarchy.x[step.number])
            assert step.violation == pytest.approx(expected, abs=1e-5)
            assert step.violation <= hierarchy.limits.texts


class Facts:
    """Knows that texts follow from those that begin with them, and that photos show dogs."""

    def follows(self, general, specific):
        return None if "cat" in general else specific.startswith(general)

    def describes(self, text, photo):
        return "dog" in text


def test_steps_are_true_or_not_where_the_facts_are_known():
    tree = hierarchy_of(TREE)
    nodes = [tree.node(number) for number in (6, 4, 2, 1, 0)]
    assert truths(tree, nodes, up=True) == [None] * 4
    tree.truth = Facts()
    assert truths(tree, nodes, up=True) == [True, True, False, True]
    assert truths(tree, nodes[::-1], up=False) == [True, False, True, True]
    assert truths(tree, [tree.node(5), tree.node(3)], up=True) == [None]
    own = Node("my.jpg", PHOTO, tree.x[[6]])
    assert truths(tree, [own, tree.node(4), tree.node(0)], up=True) == [None, True]
    assert truths(tree, nodes[:1], up=True) == []
