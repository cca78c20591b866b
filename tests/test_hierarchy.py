"""Walks over points made by hand and over any points, against plain loops; points that are bad."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.concept_scores import Gaussians
from vsdemo.hierarchy import (
    CAPTION,
    CONCEPT,
    GAP,
    PENALTY,
    PHOTO,
    ROOT,
    Item,
    World,
    abstracted,
    check_order,
    composed,
)
from vsdemo.scores import SCORES
from vsdemo.types import UserError

ORDER = SCORES["order"]
DIM = 4
TREE = [  # each has what lies above it, and one coordinate more
    (ROOT, "anything", (0, 0, 0, 0, 0)),
    (CONCEPT, "an animal", (1, 0, 0, 0, 0)),
    (CONCEPT, "a dog", (1, 1, 0, 0, 0)),
    (CONCEPT, "a cat", (1, 0, 1, 0, 0)),
    (CAPTION, "a dog runs", (1, 1, 0, 1, 0)),
    (CAPTION, "a cat sits", (1, 0, 1, 0, 1)),
    (PHOTO, "dog.jpg", (1, 1, 0, 1.5, 0)),
    (PHOTO, "cat.jpg", (1, 0, 1.5, 0, 1)),
]
QUARTERS = st.integers(0, 4).map(lambda n: n / 4)  # exact in any order of summation


def built(rows, **options) -> World:
    kinds, texts, points = zip(*rows, strict=True)
    items = [Item(kind, text) for kind, text in zip(kinds, texts, strict=True)]
    return World(items, torch.tensor(points, dtype=torch.float), ORDER, **options)


@st.composite
def worlds(draw, of_one_length=False, limits=(float("inf"),)):
    """A root at the origin and 2 to 12 other items, of which the last is a photo."""
    kinds = draw(st.lists(st.sampled_from([CONCEPT, CAPTION, PHOTO]), min_size=1, max_size=11))
    rows = [(ROOT, "anything", (0.0,) * (DIM + 1))]
    for kind in (*kinds, PHOTO):
        point = torch.tensor([1.0, *draw(st.lists(QUARTERS, min_size=DIM, max_size=DIM))])
        point = point / point.norm() if of_one_length else point
        rows.append((kind, "x", tuple(point.tolist())))
    return built(rows, limit=draw(st.sampled_from(limits)))


LIMITS = (0.1, 0.5, float("inf"))
ANY = st.one_of(worlds(limits=LIMITS), worlds(of_one_length=True, limits=LIMITS))


def violation(x, y) -> float:
    """E(x, y), x the general one."""
    return sum(max(0.0, a - b) ** 2 for a, b in zip(x.tolist(), y.tolist(), strict=True))


def names(world, steps) -> list[str]:
    return [world.items[step.number].text for step in steps]


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


def test_a_tree_is_walked_as_it_is():
    world = built(TREE)
    assert world.by_length
    assert world.meaning == "length"
    assert world.gap == pytest.approx(GAP * float(world.heights.max() - 1))
    up = world.climb(world.x[[6]], PHOTO)
    assert names(world, up) == ["a dog runs", "a dog", "an animal", "anything"]
    assert [step.violation for step in up] == [0, 0, 0, 0]
    assert names(world, world.climb(world.x[[3]], CONCEPT)) == ["an animal", "anything"]
    assert names(world, world.descend(3)) == ["a cat sits", "cat.jpg"]
    below = ["a dog", "a cat", "a dog runs", "a cat sits"]
    assert names(world, world.below(world.x[[1]], 1.0)) == below
    assert names(world, world.below(world.x[[3]], 1.5, PHOTO)) == ["cat.jpg", "dog.jpg"]
    above = world.above(world.x[[2]], float(world.heights[2]), concept=True)
    assert names(world, above) == ["an animal", "anything"]


def test_a_photo_begins_with_a_caption_even_where_a_concept_is_nearer():
    near = (CONCEPT, "a running dog", (1, 1, 0, 1.4, 0))
    world = built([*TREE, near])
    assert names(world, world.above(world.x[[6]], float("inf")))[0] == "a running dog"
    first = world.climb(world.x[[6]], PHOTO)[0]
    assert world.items[first.number].kind == CAPTION
    without = built([row for row in TREE if row[0] != CAPTION])
    assert names(without, without.climb(without.x[[4]], PHOTO))[0] == "a dog"


def test_a_limit_forbids_steps_that_violate_more():
    rows = [(CONCEPT, "far", (0.125, 1.0)), (CONCEPT, "near", (0.0, 2.0)), (ROOT, "r", (0.0, 0.0))]
    free, held = built(rows), built(rows, limit=0.01)
    assert names(free, free.climb(free.x[[1]], CONCEPT)) == ["far", "r"]
    assert free.climb(free.x[[1]], CONCEPT)[0].violation == 0.125**2
    assert names(held, held.climb(held.x[[1]], CONCEPT)) == ["r"]


def test_what_lay_above_the_start_badly_is_no_later_step_either():
    rows = [
        (ROOT, "r", (0.0, 0.0, 0.0)),
        (CONCEPT, "start", (0.0, 2.0, 2.0)),
        (CONCEPT, "middle", (0.1, 2.0, 0.0)),
        (CONCEPT, "off", (0.2, 1.8, 0.0)),  # 0.01 above the middle, 0.04 above the start
    ]
    free, held = built(rows), built(rows, limit=0.03)
    assert names(free, free.climb(free.x[[1]], CONCEPT)) == ["middle", "off", "r"]
    assert "off" in names(held, held.above(held.x[[2]], float(held.heights[2])))
    assert names(held, held.climb(held.x[[1]], CONCEPT)) == ["middle", "r"]


def test_at_unit_length_those_are_general_that_lie_above_most_photos():
    rows = [
        (ROOT, "anything", (0.0, 0.0)),
        (CONCEPT, "both", (0.6, 0.8)),
        (CAPTION, "one", (0.0, 1.0)),
        *((PHOTO, f"{n}.jpg", point) for n, point in enumerate([(0.8, 0.6), (0.6, 0.8)])),
    ]
    world = built(rows)
    assert not world.by_length
    assert world.meaning == "mean violation above photos"
    photos = world.x[3:]
    means = [sum(violation(x, p) for p in photos) / 2 for x in world.x[:3]]
    assert world.height(world.x[:3]).tolist() == pytest.approx(means, abs=1e-6)
    assert world.heights[3:].tolist() == [pytest.approx(max(means))] * 2
    assert names(world, world.climb(world.x[[2]], CAPTION))[-1] == "anything"


@pytest.mark.parametrize("point", [(0.0, 0.0), (1.0, 1.0), (3e20, 1e20)])
@pytest.mark.parametrize("photos", [0, 3])
def test_equal_points_neither_crash_nor_loop(point, photos):
    kinds = [ROOT, CONCEPT, CONCEPT, CAPTION, *[PHOTO] * photos]
    world = built([(kind, "x", point) for kind in kinds])
    for number, item in enumerate(world.items):
        assert len(world.climb(world.x[[number]], item.kind)) <= 2
        assert len(world.descend(number)) <= 2
    assert len(world.near(world.x[:1], 9, CONCEPT)) == 2


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


def test_what_is_no_hierarchy_is_told_in_one_sentence():
    with pytest.raises(UserError, match="two items at least"):
        built(TREE[:1])
    for bad in (float("nan"), float("inf")):
        with pytest.raises(UserError, match="are not numbers"):
            built([*TREE, (PHOTO, "x", (bad, 0, 0, 0, 0))])


@pytest.mark.parametrize("score", [*(set(SCORES) - {"order"}), "gaussian"])
def test_a_score_must_have_the_order_of_captions_above_photos(score):
    with pytest.raises(UserError, match=r"^some model has a score without an order.*order\.$"):
        check_order(SCORES.get(score) or Gaussians(), "some model")


def test_an_order_is_let_through():
    assert check_order(ORDER, "order") is ORDER
