"""Image encoders over regions: one vector for each region, or for their mean."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders.image import FeatureEncoder, LinearImage, xavier_linear
from vsdemo.encoders.standardize import standardization
from vsdemo.vision.regions import FRAME, PLACE

PLACE_UNITS = 64  # of the hidden layer that reads where a region is


class RegionImage(FeatureEncoder):
    """A linear layer over each region (Karpathy 2014, Eq. 2): (N, K, F) -> (N, K, D).

        v = W_m x + b_m

    A row of zeros is a missing region and is masked. Features (N, F) are read as one region each.

    Args:
        features: Length F of a region's feature vector.
        dim: Length D of the embeddings.
        dropout: Share of the features set to 0.
        standardize: First bring each feature to mean 0 and variance 1 over the training regions.
    """

    needs = frozenset({"regions"})

    def __init__(
        self, features: int, dim: int, *, dropout: float = 0.0, standardize: bool = False
    ) -> None:
        super().__init__()
        self.dim = dim
        self.standardize = standardization(features, standardize=standardize)
        self.dropout = nn.Dropout(dropout)
        self.linear = xavier_linear(features, dim)

    def observe(self, batch: Tensor) -> None:
        """Take mean and variance of the regions of a whole batch (B, K, F)."""
        regions, mask = _regions(batch)
        self.standardize.observe(regions[mask])

    def forward(self, batch: Tensor) -> Embeddings:
        """Embed a batch (B, K, F): (B, K, D) with a mask (B, K)."""
        regions, mask = _regions(batch)
        features = self.dropout(self.standardize(regions[mask]))  # (R, F)
        x = regions.new_zeros(*mask.shape, self.linear.out_features)
        x[mask] = self.linear(features).to(x.dtype)  # Eq. 2
        return Embeddings(x, mask)


class PlacedRegions(FeatureEncoder):
    """Regions with what is known about their boxes: (N, K, F) -> (N, K, D).

        v = [u / |u|, log p]     u = W_m x + M(b),  or  W_f x + c  for the whole frame

    of the scaled features x of each region, its box b, and how certain it is that people mention
    it, p; M is a network with one hidden layer. Regions and frames are scaled apart, as frames are
    much more alike. The last `PLACE` numbers of a region are b and log p. A row of zeros is a
    missing region and is masked.

    Args:
        features: Length F of a region's vector.
        dim: Length D of the embeddings.
        dropout: Share of the features set to 0, the same ones for all regions of a photo.
    """

    needs = frozenset({"regions"})

    def __init__(self, features: int, dim: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.dim = dim
        self.regions = _ScaledLinear(features - PLACE, dim - 1)
        self.frames = _ScaledLinear(features - PLACE, dim - 1)
        self.dropout = nn.Dropout(dropout)
        self.place = nn.Sequential(
            nn.Linear(PLACE - 1, PLACE_UNITS), nn.ReLU(), nn.Linear(PLACE_UNITS, dim - 1)
        )

    def observe(self, batch: Tensor) -> None:
        """Take mean and variance of the regions, and of the frames, of a whole batch (B, K, F)."""
        regions, mask = _regions(batch)
        for linear, rows in self._kinds(regions, mask):
            linear.standardize.observe(regions[rows][:, :-PLACE])

    def forward(self, batch: Tensor) -> Embeddings:
        """Embed a batch (B, K, F): (B, K, D) with a mask (B, K)."""
        regions, mask = _regions(batch)
        features, box, certain = regions.split([regions.shape[-1] - PLACE, PLACE - 1, 1], -1)
        kept = self.dropout(features.new_ones(len(features), features.shape[-1]))  # (B, F)
        x = regions.new_zeros(*mask.shape, self.dim)
        for linear, rows in self._kinds(regions, mask):
            u = linear(features[rows], kept[rows.nonzero()[:, 0]])  # (R, D - 1)
            if linear is self.regions:
                u = u + self.place(2 * box[rows] - 1)
            x[rows] = torch.cat([F.normalize(u.float(), dim=-1), certain[rows]], -1).to(x)
        return Embeddings(x, mask)

    def _kinds(self, regions: Tensor, mask: Tensor) -> list[tuple[_ScaledLinear, Tensor]]:
        """Return each layer, and which of the regions (B, K, F) it reads, (B, K)."""
        is_frame = mask & (regions[..., -PLACE:-1] == regions.new_tensor(FRAME)).all(-1)
        return [(self.regions, mask & ~is_frame), (self.frames, is_frame)]


class _ScaledLinear(nn.Module):
    """A linear layer over scaled features: (N, F) -> (N, D)."""

    def __init__(self, features: int, dim: int) -> None:
        super().__init__()
        self.standardize = standardization(features, standardize=True, small_features=True)
        self.linear = xavier_linear(features, dim)

    def forward(self, x: Tensor, kept: Tensor) -> Tensor:
        """Multiply the scaled features by `kept`, (N, F), and project them."""
        projected: Tensor = self.linear(self.standardize(x) * kept)
        return projected


class RegionMean(LinearImage):
    """`LinearImage` over the mean of the regions: (N, K, F) -> (N, D).

    DeViSE for sentences, as in Karpathy 2014, section 4.1. A row of zeros is a missing region and
    does not count. Features (N, F) are read as one region each.
    """

    needs = frozenset({"regions"})

    def observe(self, batch: Tensor) -> None:
        """Take mean and variance of the means of a whole batch (B, K, F)."""
        super().observe(_means(batch))

    def forward(self, batch: Tensor) -> Embeddings:
        """Embed a batch (B, K, F): (B, D)."""
        return super().forward(_means(batch))


def _regions(batch: Tensor) -> tuple[Tensor, Tensor]:
    """Return features (B, K, F) and which of the regions exist, (B, K)."""
    regions = batch if batch.dim() == 3 else batch[:, None]
    return regions, (regions != 0).any(-1)


def _means(batch: Tensor) -> Tensor:
    """Return the mean of the regions that exist: (B, K, F) -> (B, F)."""
    if batch.dim() == 2:
        return batch
    count = (batch != 0).any(-1).sum(1, keepdim=True).clamp(min=1)  # (B, 1)
    return batch.sum(1) / count
