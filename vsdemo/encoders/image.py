"""The image encoder over photo features: one linear layer."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders import Encoder
from vsdemo.encoders.heads import Head
from vsdemo.encoders.standardize import standardization


class FeatureEncoder(Encoder):
    """Base class of encoders over features of photos, or of their regions, of any precision."""

    def prepare(self, items: Tensor) -> list[Tensor]:
        """Split features (N, ...) into rows."""
        return list(items)

    def collate(self, prepared: Sequence[Tensor]) -> Tensor:
        """Stack features (F,), or (K, F), into one batch (B, F), or (B, K, F)."""
        return stack(prepared)


class LinearImage(FeatureEncoder):
    """A linear layer over feature vectors (Vendrov 2016, Eq. 6): (N, F) -> (N, D).

        g(v) = head(W v + b)

    Args:
        features: Length F of a feature vector.
        dim: Length D of the embeddings.
        head: Applied last; by default it normalises to length 1.
        dropout: Share of the features set to 0, or the dropout layer itself.
        standardize: First bring each feature to mean 0 and variance 1 over the training photos.
        small_features: Then scale small features like the others, see `Standardize`.
        layer: (N, F) -> (N, D), used instead of W and b.
    """

    needs = frozenset({"vector"})
    inputs = ("features",)

    def __init__(  # noqa: PLR0913 -- hyperparameters, keyword-only
        self,
        features: int,
        dim: int,
        *,
        head: nn.Module | None = None,
        dropout: float | nn.Module = 0.0,
        standardize: bool = False,
        small_features: bool = False,
        layer: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.standardize = standardization(
            features, standardize=standardize, small_features=small_features
        )
        self.dim = dim
        self.linear = xavier_linear(features, dim) if layer is None else layer
        self.dropout = dropout if isinstance(dropout, nn.Module) else nn.Dropout(dropout)
        self.head = Head() if head is None else head

    def batch_of(self, *tensors: Tensor) -> Tensor:
        """Return the batch of features (B, F)."""
        (features,) = tensors
        return features

    def observe(self, batch: Tensor) -> None:
        """Take mean and variance of the features of a whole batch (B, F)."""
        self.standardize.observe(batch)

    def forward(self, batch: Tensor) -> Embeddings:
        """Embed a batch (B, F): (B, D)."""
        return Embeddings(self.project(self.standardize(batch)))

    def project(self, features: Tensor) -> Tensor:
        """Map scaled features to the space of the embeddings: (N, F) -> (N, D)."""
        projected: Tensor = self.head(self.linear(self.dropout(features)))  # Eq. 6
        return projected


def stack(features: Sequence[Tensor]) -> Tensor:
    """Stack N tensors of features into one, (N, ...); half precision becomes single precision."""
    stacked = torch.stack(list(features))
    return stacked.float() if stacked.dtype == torch.half else stacked


def xavier_linear(features: int, dim: int) -> nn.Linear:
    """Return a linear layer with Xavier uniform weights, and biases of 0."""
    linear = nn.Linear(features, dim)
    nn.init.xavier_uniform_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear
