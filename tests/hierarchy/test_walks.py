"""Walks over any points, against plain loops."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.support.small_worlds import ANY, QUARTERS, violation, worlds
from vsdemo.hierarchy.space import CAPTION, CONCEPT, PENALTY, PHOTO, ROOT, abstracted, composed


@given(ANY)
def test_violations_both_ways_are_those_of_plain_loops(world):
    for number, point in enumerate(world.x):
        above, below = world.violations(world.x[[number]])
        assert above.tolist() == pytest.approx([violation(x, point) for x in world.x], abs=1e-5)
        assert below.tolist() == pytest.approx([violation(point, x) for x in world.x], abs=1e-5)
        square = (world.x - point).square().sum(1)
        assert (above + below).tolist() == pytest.approx(square.tolist(), abs=1e-5)
    some = torch.tensor([1, 0])
    assert world.violations(world.x[:1], some)[1].shape == (2,)


@given(ANY)
def test_a_climb_goes_up_only_and_ends(world):
    for start, item in enumerate(world.items):
        steps = world.climb(world.x[[start]], item.kind)
        numbers = [step.number for step in steps]
        assert len({start, *numbers}) == len(numbers) + (start not in numbers)
        heights = world.heights[numbers].tolist()
        assert heights == sorted(set(heights), reverse=True)
        assert PHOTO not in {world.items[n].kind for n in numbers}
        assert all(step.violation <= world.limit for step in steps)
        assert all(violation(world.x[n], world.x[start]) <= world.limit + 1e-5 for n in numbers)
        for before, step in zip([start, *numbers], steps, strict=False):
            told = violation(world.x[step.number], world.x[before])
            assert step.violation == pytest.approx(told, abs=1e-5)
        if item.kind == CONCEPT:
            assert CAPTION not in {world.items[n].kind for n in numbers}


@given(worlds())
def test_where_lengths_differ_the_root_is_reached_from_everywhere(world):
    for start, item in enumerate(world.items):
        steps = world.climb(world.x[[start]], item.kind)
        if item.kind == ROOT:
            assert steps == []
        elif world.by_length:
            assert world.items[steps[-1].number].kind == ROOT


@given(ANY)
def test_a_descent_goes_down_only_and_ends_in_a_photo(world):
    for start, item in enumerate(world.items):
        steps = world.descend(start)
        kinds = [world.items[step.number].kind for step in steps]
        if item.kind == PHOTO:
            assert steps == []
            continue
        assert kinds[-1] == PHOTO
        assert PHOTO not in kinds[:-1]
        inner = [start, *(step.number for step in steps[:-1])]
        heights = world.heights[inner].tolist()
        assert heights == sorted(set(heights))
        for before, step in zip(inner, steps, strict=True):
            told = violation(world.x[before], world.x[step.number])
            assert step.violation == pytest.approx(told, abs=1e-5)


@given(ANY)
def test_what_lies_above_is_what_plain_loops_find(world):
    words = [n for n, item in enumerate(world.items) if item.kind != PHOTO]
    heights = world.heights.tolist()
    for number, item in enumerate(world.items):
        if item.kind not in (CONCEPT, CAPTION):
            continue
        point, concept = world.x[number], item.kind == CONCEPT
        cost = {}
        for n in words:
            up, down = violation(world.x[n], point), violation(point, world.x[n])
            kind = world.items[n].kind
            gap = 0 if concept and kind != CAPTION else world.gap
            clear = min(
                abs(up - down), abs(up - world.limit), abs(heights[number] - gap - heights[n])
            )
            if clear < 1e-4 and kind != ROOT:
                break  # a matter of rounding
            if kind == ROOT and not world.by_length:
                if heights[n] < heights[number]:
                    cost[n] = float("inf")
            elif (
                heights[n] < heights[number] - gap
                and up <= min(down, world.limit)
                and not (concept and kind == CAPTION)
            ):
                cost[n] = PENALTY * up + down
        else:
            found = world.above(world.x[[number]], heights[number], concept=concept)
            assert {step.number for step in found} == set(cost)
            told = [cost[step.number] for step in found]
            assert told == pytest.approx(sorted(told), abs=1e-3)


@given(ANY, st.integers(1, 5))
def test_near_counts_violations_both_ways(world, k):
    photos = [n for n, item in enumerate(world.items) if item.kind == PHOTO]
    for number, point in enumerate(world.x):
        found = world.near(world.x[[number]], k, PHOTO)
        far = sorted(violation(point, world.x[n]) + violation(world.x[n], point) for n in photos)
        assert [step.violation for step in found] == pytest.approx(far[:k], abs=1e-5)
        assert {step.number for step in found} <= set(photos)


@given(st.lists(st.lists(QUARTERS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_composition_lies_below_all_and_an_abstraction_above(rows):
    points = torch.tensor(rows)
    low, high = abstracted(points), composed(points)
    assert low.tolist() == [[min(column) for column in zip(*rows, strict=True)]]
    assert high.tolist() == [[max(column) for column in zip(*rows, strict=True)]]
    for point in points:
        assert violation(point, high[0]) == violation(low[0], point) == 0
