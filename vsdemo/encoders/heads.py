"""Layers after the last layer of an encoder."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Head(nn.Module):
    """L2-normalisation and absolute value: (..., D) -> (..., D), float32.

        f(x) = |x / ||x|||                                     (Vendrov 2016, section 4.2)

    As in the released code of the paper, normalisation comes before the absolute value.

    Args:
        nonnegative: Take the absolute value, for order-embeddings.
        unit: Normalise to length 1. The inner products of Socher 2014 keep the length.
        parts: Number of parts of equal size that are brought to the same length first, so that the
            inner product of two vectors is the mean cosine of their parts.
    """

    def __init__(self, *, nonnegative: bool = False, unit: bool = True, parts: int = 1) -> None:
        super().__init__()
        self.nonnegative = nonnegative
        self.unit = unit
        self.parts = parts

    def forward(self, x: Tensor) -> Tensor:
        """Apply the head to embeddings (..., D)."""
        x = x.float()
        if self.parts > 1:
            x = F.normalize(x.unflatten(-1, (self.parts, -1)), dim=-1).flatten(-2)
        if self.unit:
            x = F.normalize(x, dim=-1)
        return x.abs() if self.nonnegative else x


class Twin(nn.Sequential):
    """One column of the twin network: (N, size) -> (N, dim).

        Twin(x) = g(W_2 g(W_1 x + b_1) + b_2),  g(x) = max(x, 0.01 x)   (Dufour 2015, section 3.2)

    Args:
        size: Length of the input.
        dim: Length of the hidden layer and of the output.
        signed: Leave out the last g, which would push nearly all coordinates above zero.
    """

    def __init__(self, size: int, dim: int, *, signed: bool) -> None:
        first = nn.Linear(size, dim)
        second = nn.Linear(dim, dim)
        layers: list[nn.Module] = [first, nn.LeakyReLU(0.01), second]
        if not signed:
            layers.append(nn.LeakyReLU(0.01))
        super().__init__(*layers)
        for layer in (first, second):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)


class CubeHead(nn.Module):
    """Coordinates in 0..1, each an order of its own: (..., D) -> (..., D), float32.

        f(x) = 1 - exp(-max(0, x))

    One item can lie above another in all coordinates, which is impossible for vectors of length 1,
    and an item with all coordinates 1 lies below everything.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Apply the head to embeddings (..., D)."""
        return -torch.expm1(-F.relu(x.float()))


class AngleAndOrderHead(nn.Module):
    """Two parts, one for the angle and one for the order: (..., D) -> (..., D), float32.

        a = x_1..A / ||x_1..A||        o = 1 - exp(-max(0, x_A+1..D))

    The coordinates of o are in 0..1, so that there is an item that lies below everything.

    Args:
        angle: Number A of the coordinates of a.
        lowest: Numbers of coordinates of 1 to put before and after those of o, for items that lie
            below everything there. The input is that much shorter.
    """

    def __init__(self, angle: int, *, lowest: tuple[int, int] = (0, 0)) -> None:
        super().__init__()
        self.angle = angle
        self.lowest = lowest
        self.cube = CubeHead()

    def forward(self, x: Tensor) -> Tensor:
        """Apply the head to embeddings (..., D - sum(lowest))."""
        x = x.float()
        order = F.pad(self.cube(x[..., self.angle :]), self.lowest, value=1.0)
        return torch.cat([F.normalize(x[..., : self.angle], dim=-1), order], dim=-1)
