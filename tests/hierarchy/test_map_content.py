"""Items and arrows of a map."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.support.small_hierarchies import QUARTERS
from vsdemo.hierarchy.map_content import (
    CLEAR,
    MAX_CONCEPTS,
    MAX_PARENTS,
    map_arrows,
    map_items,
)
from vsdemo.hierarchy.order import CONCEPT, Hierarchy, Item
from vsdemo.models.limits import Limits
from vsdemo.models.scores import SCORES


def longer_paths(edges, count) -> set[tuple[int, int]]:
    """Return the pairs joined by a path of two or more edges, by Warshall's algorithm."""
    reachable = set(edges)
    for middle in range(count):
        reachable |= {
            (i, j)
            for i in range(count)
            for j in range(count)
            if (i, middle) in reachable and (middle, j) in reachable
        }
    return {(i, j) for i, k in edges for k2, j in reachable if k == k2}


@given(
    st.lists(st.lists(QUARTERS, min_size=3, max_size=3), min_size=2, max_size=10),
    st.sampled_from([0.2, float("inf")]),
)
def test_arrows_are_the_transitive_reduction_of_the_order(rows, limit):
    items = [Item(CONCEPT, str(number)) for number in range(len(rows))]
    hierarchy = Hierarchy(items, torch.tensor(rows), SCORES["order"], Limits(limit))
    numbers, depths = range(len(rows)), hierarchy.depths.tolist()
    violation = [
        [sum(max(0, a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in rows] for x in rows
    ]
    above = {
        (i, j)
        for i in numbers
        for j in numbers
        if depths[i] < depths[j] and violation[i][j] <= min(limit, CLEAR * violation[j][i])
    }
    direct = above - longer_paths(above, len(rows))
    arrows = map_arrows(hierarchy, [*numbers, *numbers])
    assert {(arrow.general, arrow.specific) for arrow in arrows} <= direct
    for j in numbers:
        violations = [arrow.violation for arrow in arrows if arrow.specific == j]
        expected = sorted(violation[i][k] for i, k in direct if k == j)[:MAX_PARENTS]
        assert violations == pytest.approx(expected)
    for arrow in arrows:
        assert arrow.violation == pytest.approx(violation[arrow.general][arrow.specific])


def test_arrows_of_some_items_have_the_indices_of_the_hierarchy(concepts, reader):
    dog, puppy, entity = (reader.model.text.find(word) for word in ("dog", "puppy", "entity"))
    arrows = map_arrows(concepts, [puppy, entity, dog])
    assert {(a.general, a.specific) for a in arrows} == {(entity, dog), (dog, puppy)}


def test_a_map_shows_everything_unless_concepts_are_many(concepts, gallery):
    assert map_items(concepts) == list(range(len(concepts)))
    assert map_items(gallery) == list(range(len(gallery)))
    names = [f"w{i // 2}.n.{i % 2 + 1:02}" for i in range(2 * MAX_CONCEPTS + 2)]
    x = torch.arange(len(names)).float()[:, None]
    many = Hierarchy([Item(CONCEPT, name) for name in names], x, SCORES["order"])
    assert map_items(many) == list(range(MAX_CONCEPTS))
    items = map_items(many, {"w3", "w299", "unknown"})
    assert items == [*range(MAX_CONCEPTS), 2 * 299]  # its first sense
