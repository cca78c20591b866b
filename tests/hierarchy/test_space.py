"""Walks over points made by hand; points and scores that are bad."""

import pytest

from tests.support.small_worlds import ORDER, built, names, violation
from vsdemo.core.errors import UserError
from vsdemo.hierarchy.space import CAPTION, CONCEPT, GAP, PHOTO, ROOT, check_order
from vsdemo.models.concept_scores import Gaussians
from vsdemo.models.scores import SCORES

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


def test_what_is_no_hierarchy_is_told_in_one_sentence():
    with pytest.raises(UserError, match="two items at least"):
        built(TREE[:1])
    for bad in (float("nan"), float("inf")):
        with pytest.raises(UserError, match="are not numbers"):
            built([*TREE, (PHOTO, "x", (bad, 0, 0, 0, 0))])


@pytest.mark.parametrize("score", [*sorted(set(SCORES) - {"order"}), "gaussian"])
def test_a_score_must_have_the_order_of_captions_above_photos(score):
    with pytest.raises(UserError, match=r"^some model has a score without an order.*order\.$"):
        check_order(SCORES.get(score) or Gaussians(), "some model")


def test_an_order_is_let_through():
    assert check_order(ORDER, "order") is ORDER
