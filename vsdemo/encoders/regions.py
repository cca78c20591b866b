"""Image towers over regions: one linear layer for each, or for their mean."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders.image import LinearImage


class RegionImage(nn.Module):
    """Regions' features (N, K, F), zeros for none -> (N, K, D): W_m x + b_m (Karpathy 2014, Eq. 2).

    Features (N, F) of whole photos are those of one region each. standardize: each feature is
    first brought to mean 0 and variance 1 over the training regions.
    """

    needs = frozenset({"regions"})

    def __init__(
        self, features: int, dim: int, dropout: float = 0.0, standardize: bool = False
    ) -> None:
        super().__init__()
        self.dim = dim
        self.standardize = nn.BatchNorm1d(features, affine=False) if standardize else nn.Identity()
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(features, dim)
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def prepare(self, items: Tensor) -> list[Tensor]:
        return list(items)

    def collate(self, prepared: Sequence[Tensor]) -> Tensor:
        return torch.stack(list(prepared))

    def forward(self, batch: Tensor) -> Embeddings:
        regions = batch if batch.dim() == 3 else batch[:, None]  # (B, K, F)
        mask = (regions != 0).any(-1)  # (B, K)
        seen = self.dropout(self.standardize(regions[mask]))
        x = regions.new_zeros(*mask.shape, self.dim)
        x[mask] = self.linear(seen).to(x.dtype)
        return Embeddings(x, mask)


class RegionMean(LinearImage):
    """Regions' features (N, K, F), zeros for none -> (N, D): LinearImage over their mean (DeViSE as
    Karpathy 2014, section 4.1, has it)."""

    needs = frozenset({"regions"})

    def forward(self, batch: Tensor) -> Embeddings:
        if batch.dim() == 3:
            count = (batch != 0).any(-1).sum(1, keepdim=True).clamp(min=1)
            batch = batch.sum(1) / count
        return super().forward(batch)
