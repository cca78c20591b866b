"""Hyperbolic geometry in the Poincaré ball, after Ganea, Bécigneul & Hofmann, ICML 2018, section 2.

The space of curvature -1 as the ball |x| < 1 of D dimensions; the origin is the root. Points are
(..., D) and broadcast as in `vsdemo.models.lorentz`; the rules for precision and autocast are the
same.

The distance r of a point from the root is 2 artanh |x|, so 1 - |x|^2 is about 4 e^-r, and float32
rounds it by 1e-7: by 0.1% at r = 11, and from r = 17 on |x| is 1. `exp_map0` keeps |x| to at most
1 - EDGE, r to at most 12.2. Small distances are lost as in the Lorentz model: two points at the
same place seem to be apart by up to 0.001 at r = 1, 0.06 at r = 5 and 0.5 at r = 7.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

EDGE = 1e-5  # least distance of a point from the sphere
EPS = 1e-6  # cosines stay this far from 1, as the derivative of acos is infinite there
TINY = 1e-15  # smallest length or square used as a divisor


def exp_map0(v: Tensor) -> Tensor:
    """Return the points that lie in the directions of v (..., D) from the root, |v| away, (..., D).

        x = tanh(|v| / 2) v / |v|

    The paper's exp_0(v) is this of 2v: there the metric at the origin is 4 times the Euclidean one.
    |x| is clamped to 1 - EDGE; v = 0 is the root itself.
    """
    length = torch.linalg.vector_norm(v, dim=-1, keepdim=True).clamp(min=TINY)
    x: Tensor = (length / 2).tanh().clamp(max=1 - EDGE) / length * v
    return x


def log_map0(x: Tensor) -> Tensor:
    """Return the inverse of `exp_map0`, where that does not clamp: (..., D) -> (..., D)."""
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp(min=TINY)
    v: Tensor = 2 * length.clamp(max=1 - EDGE).atanh() / length * x
    return v


def distance(x: Tensor, y: Tensor) -> Tensor:
    """Return distances of points, (...).

        d(x, y) = acosh(1 + 2 |x - y|^2 / ((1 - |x|^2) (1 - |y|^2)))                         Eq. 2

    0, without a gradient, where rounding takes |x - y|^2 below 0.
    """
    square = _square_of_difference(x, y).clamp(min=TINY)
    excess = 2 * square / ((1 - x.square().sum(-1)) * (1 - y.square().sum(-1)))
    return torch.log1p(excess + (excess * (excess + 2)).sqrt())


def least_radius(k: float) -> float:
    """Return the Euclidean distance from the origin from which on cones are defined (Eq. 27).

    eps = 2k / (1 + sqrt(1 + 4 k^2))
    """
    return 2 * k / (1 + math.sqrt(1 + 4 * k * k))


def half_aperture(x: Tensor, k: float = 0.1) -> Tensor:
    """Return the half apertures of the entailment cones at points x (..., D), (...): in 0..pi/2.

        psi(x) = asin(k (1 - |x|^2) / |x|)                                                  Eq. 26

    It is undefined for |x| below `least_radius`; the argument is clamped to 1 - EPS there, nearly a
    right angle.
    """
    length = torch.linalg.vector_norm(x, dim=-1).clamp(min=TINY)
    aperture: Tensor = (k * (1 - length.square()) / length).clamp(max=1 - EPS).asin()
    return aperture


def exterior_angle(x: Tensor, y: Tensor) -> Tensor:
    """Return the angle at x between the ray from the root through x and the one to y: in 0..pi.

                       x.y (1 + |x|^2) - |x|^2 (1 + |y|^2)
        Xi(x, y) = acos ---------------------------------------------                       Eq. 28
                       |x| |x - y| sqrt(1 + |x|^2 |y|^2 - 2 x.y)

    It is undefined where x is the root or x = y; 0 is returned there, and where rounding cannot
    tell y from x: where |x - y|^2 is at most 4 epsilon (|x|^2 + |y|^2). Elsewhere the cosine is
    clamped to 1 - EPS, angles to 0.0014.
    """
    dots = _inner(x, y)
    xx, yy = x.square().sum(-1), y.square().sum(-1)
    square = xx + yy - 2 * dots
    above = dots * (1 + xx) - xx * (1 + yy)
    below = (xx * square * (1 + xx * yy - 2 * dots)).clamp(min=TINY).sqrt()
    angle = (above / below).clamp(-1 + EPS, 1 - EPS).acos()
    same = square <= 4 * torch.finfo(x.dtype).eps * (xx + yy)
    return angle.masked_fill(same | (xx == 0), 0)


def to_lorentz(x: Tensor) -> Tensor:
    """Return the space coordinates of points in the Lorentz model of curvature -1, (..., D).

    z = 2 x / (1 - |x|^2)
    """
    return 2 * x / (1 - x.square().sum(-1, keepdim=True))


def from_lorentz(z: Tensor) -> Tensor:
    """Return the points of space coordinates z (..., D), (..., D): the inverse of `to_lorentz`.

    x = z / (1 + sqrt(1 + |z|^2))
    """
    return z / (1 + (1 + z.square().sum(-1, keepdim=True)).sqrt())


def _inner(x: Tensor, y: Tensor) -> Tensor:
    """Return x . y, (...)."""
    with torch.autocast(x.device.type, enabled=False):
        return torch.einsum("...d,...d->...", x, y)


def _square_of_difference(x: Tensor, y: Tensor) -> Tensor:
    """Return |x - y|^2, (...)."""
    return x.square().sum(-1) + y.square().sum(-1) - 2 * _inner(x, y)
