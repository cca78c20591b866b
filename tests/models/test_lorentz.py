"""The Lorentz model, against closed forms on a geodesic, in a triangle and in the plane."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.nn.functional import normalize

from vsdemo.models import lorentz, poincare

CURVATURES = (0.1, 1.0, 10.0)
every_curvature = pytest.mark.parametrize("c", CURVATURES)
radii = st.floats(0.05, 3)
turns = st.floats(0.05, math.pi - 0.05)


def at(radius: float, turn: float = 0.0, c: float = 1.0) -> torch.Tensor:
    """The point of the plane at this distance and angle from the root."""
    tangent = torch.tensor([math.cos(turn), math.sin(turn)], dtype=torch.float64)
    return lorentz.exp_map0(radius * tangent, c)


def random(rows: int, seed: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(rows, 4, dtype=dtype, generator=torch.Generator().manual_seed(seed))


@every_curvature
def test_a_point_is_on_the_hyperboloid(c):
    x = random(5, seed=1)
    torch.testing.assert_close(lorentz.inner(x, x, c), torch.full((5,), -1 / c).double())
    assert (lorentz.time(x, c) >= c**-0.5).all()


@every_curvature
@pytest.mark.parametrize(("a", "b"), [(0.5, 2.0), (1.0, -1.5), (0.0, 1.2)])
def test_distances_on_a_geodesic_through_the_root_are_differences(c, a, b):
    assert float(lorentz.distance(at(a, c=c), at(b, c=c), c)) == pytest.approx(abs(a - b))


@given(radii, radii, turns, st.sampled_from(CURVATURES))
def test_a_triangle_has_the_law_of_cosines(r, s, turn, c):
    a, b = c**0.5 * r, c**0.5 * s
    expected = math.acosh(
        math.cosh(a) * math.cosh(b) - math.sinh(a) * math.sinh(b) * math.cos(turn)
    )
    d = float(lorentz.distance(at(r, c=c), at(s, turn, c=c), c))
    assert d == pytest.approx(expected / c**0.5, rel=1e-5)


@given(radii, radii, turns)
def test_the_exterior_angle_is_that_of_a_triangle(r, s, turn):
    d = math.acosh(math.cosh(r) * math.cosh(s) - math.sinh(r) * math.sinh(s) * math.cos(turn))
    cosine = (math.cosh(r) * math.cosh(d) - math.cosh(s)) / (math.sinh(r) * math.sinh(d))
    angle = float(lorentz.exterior_angle(at(r), at(s, turn), 1.0))
    assert angle == pytest.approx(math.pi - math.acos(max(-1, min(1, cosine))), abs=2e-3)


@every_curvature
def test_what_lies_farther_out_is_straight_ahead_and_the_root_behind(c):
    x, farther, root = at(1.0, c=c), at(2.0, c=c), torch.zeros(2).double()
    assert float(lorentz.exterior_angle(x, farther, c)) == pytest.approx(0, abs=2e-3)
    assert float(lorentz.exterior_angle(x, at(0.5, c=c), c)) == pytest.approx(math.pi, abs=2e-3)
    assert float(lorentz.exterior_angle(x, root, c)) == pytest.approx(math.pi, abs=2e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nothing_is_at_an_angle_to_itself_or_seen_from_the_root(dtype):
    x, root = random(20, seed=1, dtype=dtype), torch.zeros(4, dtype=dtype)
    assert not lorentz.exterior_angle(x, x, 1.0).any()
    assert not lorentz.exterior_angle(root, x, 1.0).any()


def test_the_aperture_has_its_equation_and_narrows():
    apertures = lorentz.half_aperture(torch.tensor([[0.2], [0.4], [2.0]]).double(), 1.0)
    right_angle, *narrower = apertures.tolist()
    assert right_angle == pytest.approx(math.pi / 2, abs=2e-3)
    assert narrower == pytest.approx([math.pi / 6, math.asin(0.1)])
    assert float(lorentz.half_aperture(torch.zeros(3), 1.0)) == pytest.approx(1.57, abs=0.01)


@given(st.floats(0.01, 8), st.sampled_from(CURVATURES))
def test_maps_are_inverse_and_keep_the_distance_to_the_root(length, c):
    v = length / c**0.5 * normalize(random(3, seed=2), dim=-1)
    x = lorentz.exp_map0(v, c)
    torch.testing.assert_close(lorentz.log_map0(x, c), v)
    expected = torch.full((3,), length / c**0.5).double()
    torch.testing.assert_close(lorentz.distance(x, torch.zeros(4).double(), c), expected)


def test_the_map_is_clamped_to_what_half_precision_holds():
    far = lorentz.exp_map0(torch.tensor([[1e4, 0.0], [0.0, 0.0]]), 1.0)
    assert far.tolist() == [[pytest.approx(2**15, rel=1e-3), 0.0], [0.0, 0.0]]
    assert far.half().isfinite().all()


@every_curvature
def test_the_curvature_is_a_unit_of_length(c):
    x, y = random(6, seed=1), random(6, seed=2)
    unit = (c**0.5 * x, c**0.5 * y)
    torch.testing.assert_close(lorentz.distance(x, y, c) * c**0.5, lorentz.distance(*unit, 1.0))
    torch.testing.assert_close(lorentz.exterior_angle(x, y, c), lorentz.exterior_angle(*unit, 1.0))
    torch.testing.assert_close(lorentz.half_aperture(x, c), lorentz.half_aperture(unit[0], 1.0))


def test_the_poincare_ball_has_the_same_distances_angles_and_apertures():
    x, y = random(6, seed=1), random(5, seed=2)
    a, b = poincare.from_lorentz(x), poincare.from_lorentz(y)
    torch.testing.assert_close(poincare.to_lorentz(a), x)
    pairs = (x[:, None], y, 1.0), (a[:, None], b)
    torch.testing.assert_close(lorentz.distance(*pairs[0]), poincare.distance(*pairs[1]))
    torch.testing.assert_close(
        lorentz.exterior_angle(*pairs[0]), poincare.exterior_angle(*pairs[1])
    )
    torch.testing.assert_close(lorentz.half_aperture(x, 1.0), poincare.half_aperture(a))


@pytest.mark.parametrize(
    "function",
    [lorentz.exp_map0, lorentz.log_map0, lorentz.half_aperture, lorentz.time],
)
def test_gradients_of_points(function):
    x, c = random(3, seed=1).requires_grad_(), torch.tensor(1.5).double().requires_grad_()
    assert gradcheck(function, (x, c))


@pytest.mark.parametrize("function", [lorentz.distance, lorentz.exterior_angle, lorentz.inner])
def test_gradients_of_pairs(function):
    x, y = (random(3, seed=s).requires_grad_() for s in (1, 2))
    assert gradcheck(function, (x, y, torch.tensor(1.5).double().requires_grad_()))


def test_gradients_are_finite_where_values_are_clamped():
    points = torch.stack([torch.zeros(4), torch.ones(4) / 20, torch.ones(4), 2 * torch.ones(4)])
    points.requires_grad_()
    total = lorentz.distance(points[:, None], points, 1.0).sum()
    total = total + lorentz.exterior_angle(points[:, None], points, 1.0).sum()
    (total + lorentz.half_aperture(points, 1.0).sum()).backward()
    assert points.grad.isfinite().all()


coordinates = st.lists(st.floats(-100, 100, width=32), min_size=3, max_size=3).map(torch.tensor)


@given(coordinates, coordinates)
def test_ranges_and_symmetry_in_single_precision(x, y):
    d = lorentz.distance(x, y, 1.0)
    assert d >= 0
    torch.testing.assert_close(d, lorentz.distance(y, x, 1.0))
    assert 0 <= lorentz.exterior_angle(x, y, 1.0) <= math.pi
    assert 0 < lorentz.half_aperture(x, 1.0) < math.pi / 2
    assert lorentz.inner(x, y, 1.0) <= -1 + 1e-5 * lorentz.time(x, 1.0) * lorentz.time(y, 1.0)


def test_autocast_keeps_the_precision():
    x, y = random(6, seed=1, dtype=torch.float32), random(5, seed=2, dtype=torch.float32)
    expected = lorentz.distance(x[:, None], y, 1.0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(lorentz.distance(x[:, None], y, 1.0), expected)


@pytest.mark.parametrize(("radius", "error"), [(1.0, 1e-3), (3.0, 1e-2), (5.0, 0.07)])
def test_single_precision_loses_small_distances_as_documented(radius, error):
    directions = normalize(random(300, seed=1, dtype=torch.float32), dim=-1)
    x = lorentz.exp_map0(radius * directions, 1.0)
    worst = float(lorentz.distance(x, x, 1.0).max())
    assert error / 20 < worst < 1.5 * error
