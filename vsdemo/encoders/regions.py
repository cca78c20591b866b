"""Image encoders over regions: one linear layer for each region, or for their mean."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders import Encoder
from vsdemo.encoders.image import LinearImage, stack
from vsdemo.encoders.standardize import standardization


class RegionImage(Encoder):
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
        self.linear = nn.Linear(features, dim)
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def prepare(self, items: Tensor) -> list[Tensor]:
        """Split features (N, ...) into rows."""
        return list(items)

    def collate(self, prepared: Sequence[Tensor]) -> Tensor:
        """Stack features (K, F), of any precision, into one batch (B, K, F)."""
        return stack(prepared)

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
