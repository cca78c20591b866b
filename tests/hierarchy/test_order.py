"""The order of items: by hand, compared with plain loops, and with invalid input."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.support.small_hierarchies import ANY_HIERARCHY, ORDER, QUARTERS, hierarchy_of, texts
from tests.support.small_hierarchies import violation as violation_by_loops
from vsdemo.core.errors import UserError
from vsdemo.hierarchy.order import (
    CAPTION,
    CONCEPT,
    GAP,
    PENALTY,
    PHOTO,
    ROOT,
    abstract,
    check_order,
    compose,
)
from vsdemo.hierarchy.walks import climb
from vsdemo.models.concept_scores import Gaussians
from vsdemo.models.limits import Limits
from vsdemo.models.scores import RADIAL, SCORES

TREE = [  # each has the coordinates of the items above it and one more
    (ROOT, "anything", (0, 0, 0, 0, 0)),
    (CONCEPT, "an animal", (1, 0, 0, 0, 0)),
    (CONCEPT, "a dog", (1, 1, 0, 0, 0)),
    (CONCEPT, "a cat", (1, 0, 1, 0, 0)),
    (CAPTION, "a dog runs", (1, 1, 0, 1, 0)),
    (CAPTION, "a cat sits", (1, 0, 1, 0, 1)),
    (PHOTO, "dog.jpg", (1, 1, 0, 1.5, 0)),
    (PHOTO, "cat.jpg", (1, 0, 1.5, 0, 1)),
]


def test_above_and_below_in_a_tree():
    tree = hierarchy_of(TREE)
    assert tree.by_length
    assert tree.depth_name == "length"
    assert tree.gap == pytest.approx(GAP * float(tree.depths.max() - 1))
    below = ["a dog", "a cat", "a dog runs", "a cat sits"]
    assert texts(tree, tree.below(tree.node(1))) == below
    assert texts(tree, tree.below(tree.node(3), kind=PHOTO)) == ["cat.jpg", "dog.jpg"]
    above = tree.above(tree.node(2))
    assert texts(tree, above) == ["an animal", "anything"]
    tree.limits = Limits(0.01, 0.01)
    assert texts(tree, tree.children(tree.node(1))) == ["a dog", "a cat"]


@given(ANY_HIERARCHY)
def test_children_are_what_lies_below_with_nothing_between(hierarchy):
    for number, item in enumerate(hierarchy.items):
        if item.kind == PHOTO:
            continue
        below = [step.number for step in hierarchy.below(hierarchy.node(number))]
        x, depths = hierarchy.x, hierarchy.depths.tolist()

        def is_above(a, b, x=x, depths=depths):
            up, down = violation_by_loops(x[a], x[b]), violation_by_loops(x[b], x[a])
            return up <= min(down, hierarchy.limits.texts) and depths[a] < depths[b]

        expected = [b for b in below if not any(is_above(a, b) for a in below)]
        expected = expected if hierarchy.has_limits else below
        children = [step.number for step in hierarchy.children(hierarchy.node(number))]
        assert children == expected


def test_photos_have_a_limit_of_their_own():
    rows = [
        (ROOT, "r", (0.0, 0.0)),
        (CONCEPT, "a", (0.5, 0.0)),
        (CAPTION, "b", (0.8, 0.2)),
        (PHOTO, "p", (0.4, 1.0)),
    ]
    hierarchy = hierarchy_of(rows)
    hierarchy.limits = Limits(texts=0.001, photos=0.02)
    assert texts(hierarchy, hierarchy.above(hierarchy.node(3))) == ["a", "r"]
    assert texts(hierarchy, hierarchy.below(hierarchy.node(1), kind=PHOTO)) == ["p"]
    assert texts(hierarchy, hierarchy.below(hierarchy.node(2), kind=PHOTO)) == []
    assert texts(hierarchy, hierarchy.below(hierarchy.node(1))) == ["b"]
    hierarchy.limits = Limits(texts=0.02, photos=0.001)
    assert texts(hierarchy, hierarchy.above(hierarchy.node(3))) == ["r"]


def test_depths_at_unit_length_are_mean_violations_above_photos():
    rows = [
        (ROOT, "anything", (0.0, 0.0)),
        (CONCEPT, "both", (0.6, 0.8)),
        (CAPTION, "one", (0.0, 1.0)),
        (PHOTO, "0.jpg", (0.8, 0.6)),
        (PHOTO, "1.jpg", (0.6, 0.8)),
    ]
    hierarchy = hierarchy_of(rows)
    assert not hierarchy.by_length
    assert hierarchy.depth_name == "mean violation above photos"
    photos = hierarchy.x[3:]
    means = [sum(violation_by_loops(x, p) for p in photos) / 2 for x in hierarchy.x[:3]]
    assert hierarchy.depth(hierarchy.x[:3]).tolist() == pytest.approx(means, abs=1e-6)
    assert hierarchy.depths[3:].tolist() == [pytest.approx(max(means))] * 2


@given(ANY_HIERARCHY)
def test_violations_in_both_directions_equal_plain_loops(hierarchy):
    for number, x in enumerate(hierarchy.x):
        above, below = hierarchy.violations(hierarchy.x[[number]])
        expected_above = [violation_by_loops(other, x) for other in hierarchy.x]
        expected_below = [violation_by_loops(x, other) for other in hierarchy.x]
        assert above.tolist() == pytest.approx(expected_above, abs=1e-5)
        assert below.tolist() == pytest.approx(expected_below, abs=1e-5)
        square = (hierarchy.x - x).square().sum(1)
        assert (above + below).tolist() == pytest.approx(square.tolist(), abs=1e-5)
    some = torch.tensor([1, 0])
    assert hierarchy.violations(hierarchy.x[:1], some)[1].shape == (2,)


@given(ANY_HIERARCHY)
def test_above_equals_plain_loops(hierarchy):
    candidates = [n for n, item in enumerate(hierarchy.items) if item.kind != PHOTO]
    depths = hierarchy.depths.tolist()
    for number, item in enumerate(hierarchy.items):
        if item.kind not in (CONCEPT, CAPTION):
            continue
        x, is_concept = hierarchy.x[number], item.kind == CONCEPT
        cost = {}
        for n in candidates:
            up = violation_by_loops(hierarchy.x[n], x)
            down = violation_by_loops(x, hierarchy.x[n])
            kind = hierarchy.items[n].kind
            gap = 0 if is_concept and kind != CAPTION else hierarchy.gap
            margin = min(
                abs(up - down),
                abs(up - hierarchy.limits.texts),
                abs(depths[number] - gap - depths[n]),
            )
            if margin < 1e-4 and kind != ROOT:
                break  # rounding decides
            if kind == ROOT and not hierarchy.by_length:
                if depths[n] < depths[number]:
                    cost[n] = float("inf")
            elif (
                depths[n] < depths[number] - gap
                and up <= min(down, hierarchy.limits.texts)
                and not (is_concept and kind == CAPTION)
            ):
                cost[n] = -depths[n] if hierarchy.has_limits else PENALTY * up + down
        else:
            steps = hierarchy.above(hierarchy.node(number))
            assert {step.number for step in steps} == set(cost)
            costs = [cost[step.number] for step in steps]
            assert costs == pytest.approx(sorted(costs), abs=1e-3)


FAN = [  # "a dog" lies straight behind "an animal", "a cat" a little aside, "a car" far
    (ROOT, "anything", (0, 0)),
    (CONCEPT, "an animal", (1, 0)),
    (CONCEPT, "a dog", (2, 0)),
    (CONCEPT, "a cat", (2, 0.5)),
    (CONCEPT, "a car", (0, 1.5)),
    (CAPTION, "a dog runs", (3, 0)),
    (PHOTO, "dog.jpg", (4, 0.1)),
]


def test_by_angles_without_limits_the_root_is_above_everything_but_comes_last():
    fan = hierarchy_of(FAN, order=RADIAL)
    assert fan.depth_name == "distance from the root"
    assert fan.depths.tolist()[:3] == [0, 1, 2]
    runs = fan.node(5)
    assert texts(fan, fan.above(runs)) == ["a dog", "an animal", "a cat", "a car", "anything"]
    assert fan.above(runs)[-1].violation == 0
    assert texts(fan, climb(fan, runs)) == ["a dog", "an animal", "anything"]
    assert texts(fan, fan.below(fan.node(1)))[:2] == ["a dog", "a dog runs"]
    fan.limits = Limits(0.5, 0.5)
    assert texts(fan, fan.above(runs)) == ["a dog", "an animal", "anything"]


@given(ANY_HIERARCHY, st.integers(1, 5))
def test_nearest_is_by_squared_distance(hierarchy, k):
    photos = [n for n, item in enumerate(hierarchy.items) if item.kind == PHOTO]
    for number, x in enumerate(hierarchy.x):
        steps = hierarchy.nearest(hierarchy.x[[number]], k, PHOTO)
        distances = sorted(
            violation_by_loops(x, hierarchy.x[n]) + violation_by_loops(hierarchy.x[n], x)
            for n in photos
        )
        assert [step.violation for step in steps] == pytest.approx(distances[:k], abs=1e-5)
        assert {step.number for step in steps} <= set(photos)


@given(st.lists(st.lists(QUARTERS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_compose_lies_below_and_abstract_above_all_embeddings(rows):
    embeddings = torch.tensor(rows)
    low, high = abstract(embeddings), compose(embeddings)
    assert low.tolist() == [[min(column) for column in zip(*rows, strict=True)]]
    assert high.tolist() == [[max(column) for column in zip(*rows, strict=True)]]
    for x in embeddings:
        assert violation_by_loops(x, high[0]) == violation_by_loops(low[0], x) == 0


def test_invalid_items_and_embeddings_raise():
    with pytest.raises(UserError, match="at least two items"):
        hierarchy_of(TREE[:1])
    for bad in (float("nan"), float("inf")):
        with pytest.raises(UserError, match="are NaN or infinite"):
            hierarchy_of([*TREE, (PHOTO, "x", (bad, 0, 0, 0, 0))])


@pytest.mark.parametrize("score", [*sorted(set(SCORES) - {"order"}), "gaussian"])
def test_check_order_rejects_scores_without_captions_above_photos(score):
    with pytest.raises(UserError, match=r"^some model has a score without an order.*hierarchy\.$"):
        check_order(SCORES.get(score) or Gaussians(), "some model")


def test_check_order_returns_an_order():
    assert check_order(ORDER, "order") is ORDER
