"""Hyperbolic geometry in the Lorentz model, after Desai et al., "MERU", ICML 2023, section 3.

A space of curvature -c is one sheet of a hyperboloid in D + 1 dimensions. A point is given by its D
space coordinates x; its time coordinate follows. The root is x = 0.

    x_t = sqrt(1/c + |x|^2)        <x, y>_L = x . y - x_t y_t        <x, x>_L = -1/c

Points are (..., D) and broadcast: x (N, 1, D) with y (M, D) gives all (N, M) pairs without a tensor
of (N, M, D). c is a number or a scalar tensor, above 0.

Computed in the precision of the arguments, never less than float32, also under autocast. What is
clamped has no gradient. `<x, y>_L` is a difference of two numbers of about e^(2r) / 4c for points
at the distance r / sqrt(c) from the root, so float32 loses small distances: two points at the same
place seem to be apart by up to 0.001 / sqrt(c) at r = 1, 0.01 at r = 3, 0.06 at r = 5 and
0.5 at r = 7.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

MAX_ARGUMENT = math.asinh(2.0**15)  # of sinh, about 11.09: coordinates fit half precision
EPS = 1e-6  # cosines stay this far from 1, as the derivative of acos is infinite there
TINY = 1e-15  # smallest length or square used as a divisor


def time(x: Tensor, c: Tensor | float) -> Tensor:
    """Return the time coordinates of points (..., D), (...): at least 1 / sqrt(c)."""
    return (1 / c + x.square().sum(-1)).sqrt()


def inner(x: Tensor, y: Tensor, c: Tensor | float) -> Tensor:
    """Return <x, y>_L of points, (...): at most -1/c except for rounding."""
    with torch.autocast(x.device.type, enabled=False):
        dots = torch.einsum("...d,...d->...", x, y)
    return dots - time(x, c) * time(y, c)


def exp_map0(v: Tensor, c: Tensor | float) -> Tensor:
    """Return the points that tangent vectors v (..., D) at the root lead to, (..., D).

        x = sinh(sqrt(c) |v|) v / (sqrt(c) |v|)

    x lies at the distance |v| from the root, in the direction of v. The argument of sinh is clamped
    to `MAX_ARGUMENT`, so that sqrt(c) |x| is at most 2^15; v = 0 is the root itself.
    """
    length = torch.linalg.vector_norm(v, dim=-1, keepdim=True).clamp(min=TINY)
    scaled = c**0.5 * length
    x: Tensor = scaled.clamp(max=MAX_ARGUMENT).sinh() / scaled * v
    return x


def log_map0(x: Tensor, c: Tensor | float) -> Tensor:
    """Return the tangent vectors at the root that lead to points x (..., D), (..., D).

    The inverse of `exp_map0` where that does not clamp.
    """
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp(min=TINY)
    scaled = c**0.5 * length
    v: Tensor = scaled.asinh() / scaled * x
    return v


def distance(x: Tensor, y: Tensor, c: Tensor | float) -> Tensor:
    """Return distances of points, (...).

        d(x, y) = acosh(-c <x, y>_L) / sqrt(c)

    0 where rounding takes the argument of acosh below 1, and there without a gradient.
    """
    excess = (-c * inner(x, y, c) - 1).clamp(min=TINY)  # of acosh, whose derivative at 1 is inf
    d: Tensor = torch.log1p(excess + (excess * (excess + 2)).sqrt()) / c**0.5
    return d


def half_aperture(x: Tensor, c: Tensor | float, k: float = 0.1) -> Tensor:
    """Return the half apertures of the entailment cones at points x (..., D), (...): in 0..pi/2.

        aper(x) = asin(2k / (sqrt(c) |x|))

    The farther x is from the root, the narrower its cone. Where sqrt(c) |x| is less than 2k, near
    the root, it is undefined; the argument is clamped to 1 - EPS there, nearly a right angle.
    """
    length = torch.linalg.vector_norm(x, dim=-1).clamp(min=TINY)
    aperture: Tensor = (2 * k / (c**0.5 * length)).clamp(max=1 - EPS).asin()
    return aperture


def exterior_angle(x: Tensor, y: Tensor, c: Tensor | float) -> Tensor:
    """Return the angle at x between the ray from the root through x and the one to y: in 0..pi.

        ext(x, y) = acos((y_t + c <x, y>_L x_t) / (|x| sqrt((c <x, y>_L)^2 - 1)))

    It is pi minus the angle at x of the triangle root, x, y. It is undefined where x is the root or
    x = y; 0 is returned there, and where rounding cannot tell y from x: where -c <x, y>_L - 1 is at
    most 4 epsilon c x_t y_t. Elsewhere the cosine is clamped to 1 - EPS, angles to 0.0014.
    """
    scaled, x_time, y_time = c * inner(x, y, c), time(x, c), time(y, c)
    length = torch.linalg.vector_norm(x, dim=-1)
    side = (scaled.square() - 1).clamp(min=TINY).sqrt()
    cosine = (y_time + scaled * x_time) / (length.clamp(min=TINY) * side)
    angle: Tensor = cosine.clamp(-1 + EPS, 1 - EPS).acos()
    same = -scaled - 1 <= 4 * torch.finfo(x.dtype).eps * c * x_time * y_time
    return angle.masked_fill(same | (length == 0), 0)
