"""What comes after a tower's last layer."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


class Head(nn.Module):
    """(N, D) -> (N, D): L2-normalises, then takes the absolute value where the order needs it.

    Vendrov 2016, section 4.2: f(x) = |x|; the order of the two steps is that of the paper's code.
    """

    def __init__(self, nonnegative: bool) -> None:
        super().__init__()
        self.nonnegative = nonnegative

    def forward(self, x: Tensor) -> Tensor:
        x = F.normalize(x.float(), dim=-1)
        return x.abs() if self.nonnegative else x
