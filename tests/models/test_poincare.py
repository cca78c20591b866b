"""The Poincaré ball, against closed forms; its equality with the Lorentz model is tested there."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from vsdemo.models import poincare

K = 0.1


def at(radius: float, turn: float = 0.0) -> torch.Tensor:
    """The point of the disk at this distance and angle from the root."""
    tangent = torch.tensor([math.cos(turn), math.sin(turn)], dtype=torch.float64)
    return poincare.exp_map0(radius * tangent)


def inside(rows: int, seed: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return poincare.exp_map0(torch.randn(rows, 3, dtype=torch.float64, generator=draw))


@pytest.mark.parametrize(("a", "b"), [(0.5, 2.0), (1.0, -1.5), (0.0, 1.2)])
def test_distances_on_a_diameter_are_differences(a, b):
    assert float(poincare.distance(at(a), at(b))) == pytest.approx(abs(a - b), abs=1e-6)


def test_the_distance_has_its_equation():
    x, y = torch.tensor([0.5, 0.0]), torch.tensor([0.0, 0.5])
    assert float(poincare.distance(x, y)) == pytest.approx(math.acosh(1 + 2 * 0.5 / 0.75**2))


def test_the_aperture_has_its_equation_and_a_right_angle_at_the_least_radius():
    x = torch.tensor([[0.5, 0.0], [poincare.least_radius(K), 0.0]]).double()
    expected = [math.asin(K * 0.75 / 0.5), math.pi / 2]
    assert poincare.half_aperture(x, K).tolist() == pytest.approx(expected, abs=2e-3)


def test_the_exterior_angle_in_special_positions():
    x, root = at(1.0), torch.zeros(2).double()
    assert float(poincare.exterior_angle(x, at(2.0))) == pytest.approx(0, abs=2e-3)
    assert float(poincare.exterior_angle(x, at(-1.0))) == pytest.approx(math.pi, abs=2e-3)
    assert float(poincare.exterior_angle(x, root)) == pytest.approx(math.pi, abs=2e-3)
    assert not poincare.exterior_angle(x, x).any()
    assert not poincare.exterior_angle(root, x).any()


def test_the_line_across_an_axis_is_at_a_right_angle():
    # The circle through (a, 0) that meets the axis and the unit circle at right angles.
    a = 0.5
    centre, radius = (1 + a * a) / (2 * a), (1 - a * a) / (2 * a)
    y = torch.tensor([centre - radius * math.cos(0.3), radius * math.sin(0.3)]).double()
    x = torch.tensor([a, 0.0]).double()
    assert float(poincare.exterior_angle(x, y)) == pytest.approx(math.pi / 2)


def test_cones_are_transitive():
    # Ganea et al. 2018, section 3: what lies in the cone of y lies in every cone that y lies in.
    draw = torch.Generator().manual_seed(0)
    points = poincare.exp_map0(3 * torch.rand(400, 2, dtype=torch.float64, generator=draw) + 0.3)
    aperture = poincare.half_aperture(points)[:, None]
    holds = poincare.exterior_angle(points[:, None], points) <= aperture
    chained = (holds.double() @ holds.double()) > 0
    assert holds.sum() > 1000
    assert (holds | ~chained).all()


@given(st.floats(0.01, 10))
def test_maps_are_inverse(length):
    v = torch.tensor([0.6, 0.0, -0.8]).double() * length
    torch.testing.assert_close(poincare.log_map0(poincare.exp_map0(v)), v)


def test_points_stay_inside():
    x = poincare.exp_map0(torch.tensor([[1e4, 0.0], [0.0, 0.0]]))
    assert x.tolist() == [[pytest.approx(1 - poincare.EDGE), 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    "function",
    [poincare.exp_map0, poincare.log_map0, poincare.half_aperture, poincare.to_lorentz],
)
def test_gradients_of_points(function):
    assert gradcheck(function, (inside(3, seed=1).requires_grad_(),))


@pytest.mark.parametrize("function", [poincare.distance, poincare.exterior_angle])
def test_gradients_of_pairs(function):
    assert gradcheck(function, tuple(inside(3, seed=s).requires_grad_() for s in (1, 2)))


coordinates = st.lists(st.floats(-4, 4, width=32), min_size=3, max_size=3).map(torch.tensor)


@given(coordinates, coordinates)
def test_ranges_and_symmetry_in_single_precision(v, w):
    x, y = poincare.exp_map0(v), poincare.exp_map0(w)
    d = poincare.distance(x, y)
    assert d >= 0
    torch.testing.assert_close(d, poincare.distance(y, x))
    assert 0 <= poincare.exterior_angle(x, y) <= math.pi
    assert 0 < poincare.half_aperture(x) < math.pi / 2
    assert x.norm() < 1
