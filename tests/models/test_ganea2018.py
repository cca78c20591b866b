"""Entailment cones in the ball: the head, the score and its order, and the loss by plain loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.core.embeddings import Embeddings
from vsdemo.models import poincare
from vsdemo.models.ganea2018 import POINCARE_CONES, BallHead, MaxMargin

LABELS = torch.tensor([[1, 1, 0], [0, 1, -1], [1, 0, 1]])


def ball(rows: int, seed: int) -> Embeddings:
    x = torch.randn(rows, 3, generator=torch.Generator().manual_seed(seed))
    return Embeddings(poincare.exp_map0(x))


@given(st.lists(st.floats(-100, 100, width=32), min_size=4, max_size=4))
def test_points_are_where_cones_are_defined(values):
    radius = float(BallHead()(torch.tensor(values)).norm())
    assert radius < 1
    assert radius >= poincare.least_radius(0.1) - 1e-6 or not any(values)


def test_the_head_adds_to_the_distance_from_the_root():
    x = BallHead()(torch.tensor([0.0, 0.0, 0.0, 4.0]))
    distance = float(poincare.distance(x, torch.zeros(4)))
    assert distance == pytest.approx(2 + 2 * math.atanh(poincare.least_radius(0.1)), rel=1e-4)


def test_the_violation_is_the_angle_to_the_cone():
    general, specific = ball(4, seed=1), ball(3, seed=2)
    scores, violations = (f(general, specific) for f in (POINCARE_CONES, POINCARE_CONES.violation))
    for i, x in enumerate(general.x):
        for j, y in enumerate(specific.x):
            angle = float(poincare.exterior_angle(x, y) - poincare.half_aperture(x))
            assert float(scores[i, j]) == pytest.approx(-angle, abs=1e-4)
            assert float(violations[i, j]) == pytest.approx(max(0, angle), abs=1e-4)


def test_the_root_lies_above_everything_and_all_items_above_themselves():
    items, root = ball(5, seed=1), Embeddings(torch.zeros(1, 3))
    assert not POINCARE_CONES.violation(root, items).any()
    assert not POINCARE_CONES.violation(items, items).diagonal().any()
    assert (POINCARE_CONES.violation(items, root) > 1).all()


def test_violations_around_an_item_are_those_of_both_directions():
    items, one = ball(5, seed=1), ball(1, seed=2)
    above, below = POINCARE_CONES.violations_around(items.x, one.x)
    torch.testing.assert_close(above, POINCARE_CONES.violation(items, one)[:, 0])
    torch.testing.assert_close(below, POINCARE_CONES.violation(one, items)[0])


def test_cones_are_no_order_of_coordinates():
    assert not POINCARE_CONES.by_coordinates
    with pytest.raises(TypeError, match="no order of each coordinate"):
        POINCARE_CONES.excess(ball(1, seed=1), ball(1, seed=2))


def test_the_loss_equals_plain_loops():
    violations = torch.rand(3, 3, generator=torch.Generator().manual_seed(0))
    false = [max(0.0, 0.5 - violations[i, j].item()) for i, j in [(0, 2), (1, 0), (2, 1)]]
    true = [violations[i, j].item() for i, j in [(0, 1), (2, 0)]]  # without the diagonal
    loss = MaxMargin(0.5)
    expected = sum(true) / 2 + sum(false) / 3
    assert float(loss.among_texts(violations, LABELS)) == pytest.approx(expected)
    true += violations.diagonal().tolist()
    expected = sum(true) / 5 + sum(false) / 3
    assert float(loss.above_photos(violations, LABELS)) == pytest.approx(expected)
