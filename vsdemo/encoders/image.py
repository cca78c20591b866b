"""The image tower over frozen features: one linear layer."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders.heads import Head


class LinearImage(nn.Module):
    """Feature vectors (N, F) -> (N, D): W v + b, then the head (Vendrov 2016, Eq. 6).

    standardize: each feature is first brought to mean 0 and variance 1 over the training photos.
    unit: whether results have length 1. layer: (N, F) -> (N, D), in place of W and b.
    """

    needs = frozenset({"vector"})

    def __init__(
        self,
        features: int,
        dim: int,
        nonnegative: bool,
        dropout: float | nn.Module = 0.0,
        standardize: bool = False,
        unit: bool = True,
        layer: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.standardize = nn.BatchNorm1d(features, affine=False) if standardize else nn.Identity()
        self.dim = dim
        self.linear = layer or nn.Linear(features, dim)
        self.dropout = dropout if isinstance(dropout, nn.Module) else nn.Dropout(dropout)
        self.head = Head(nonnegative, unit)
        if layer is None:
            nn.init.xavier_uniform_(self.linear.weight)
            nn.init.zeros_(self.linear.bias)

    def prepare(self, items: Tensor) -> list[Tensor]:
        return list(items)

    def collate(self, prepared: Sequence[Tensor]) -> Tensor:
        return torch.stack(list(prepared))  # (B, F)

    def forward(self, batch: Tensor) -> Embeddings:
        return Embeddings(self.head(self.linear(self.dropout(self.standardize(batch)))))
