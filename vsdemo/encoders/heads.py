"""What comes after a tower's last layer."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


class Head(nn.Module):
    """(N, D) -> (N, D): L2-normalises, then takes the absolute value where the order needs it.

    Vendrov 2016, section 4.2: f(x) = |x|; the order of the two steps is that of the paper's code.
    unit=False leaves the length, for the inner products of Socher 2014.
    """

    def __init__(self, nonnegative: bool, unit: bool = True) -> None:
        super().__init__()
        self.nonnegative, self.unit = nonnegative, unit

    def forward(self, x: Tensor) -> Tensor:
        x = F.normalize(x.float(), dim=-1) if self.unit else x.float()
        return x.abs() if self.nonnegative else x


class Twin(nn.Sequential):
    """(N, I) -> (N, D): one column of the twin network (Dufour 2015, section 3.2), two affine
    layers, each followed by a leaky ReLU of slope 0.01.

    signed: without the last one, so that half of the space is not left almost empty.
    """

    def __init__(self, size: int, dim: int, signed: bool = False) -> None:
        layers = [nn.Linear(size, dim), nn.LeakyReLU(0.01), nn.Linear(dim, dim)]
        super().__init__(*layers, *([] if signed else [nn.LeakyReLU(0.01)]))
        for layer in (self[0], self[2]):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
