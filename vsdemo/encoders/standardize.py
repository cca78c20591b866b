"""Scaling of photo features to mean 0 and variance 1."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Standardize(nn.BatchNorm1d):
    """Bring each feature to mean 0 and variance 1: (N, F) -> (N, F).

    In training, the mean and variance are those of the batch, otherwise those of all photos. A
    batch that is embedded in parts is passed to `observe` first, so that its parts are scaled as
    one.

    Args:
        features: Length F of a feature vector.
    """

    def __init__(self, features: int) -> None:
        super().__init__(features, affine=False)
        self._observed: tuple[Tensor, Tensor] | None = None

    def observe(self, batch: Tensor) -> None:
        """Take the mean and variance of a whole batch (N, F), for the parts of it that follow."""
        super().forward(batch)  # updates the mean and variance of all photos
        variance, mean = torch.var_mean(batch, dim=0, correction=0)
        self._observed = mean, variance

    def forward(self, batch: Tensor) -> Tensor:
        """Scale features (N, F)."""
        if self._observed is None or not self.training:
            return super().forward(batch)
        mean, variance = self._observed
        return F.batch_norm(batch, mean, variance, training=False, eps=self.eps)


class Unscaled(nn.Identity):
    """Leaves features as they are; takes the place of `Standardize`."""

    def observe(self, batch: Tensor) -> None:
        """Do nothing, as the features of a photo do not depend on others."""


def standardization(features: int, *, standardize: bool) -> Standardize | Unscaled:
    """Return the layer that scales feature vectors of a length, or leaves them as they are."""
    return Standardize(features) if standardize else Unscaled()
