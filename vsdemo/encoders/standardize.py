"""Scaling of photo features to mean 0 and variance 1."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

EPS = 1e-5  # added to variances
SMALL_EPS = 1e-14  # the same where small features count, too
LIMIT = 20.0  # of scaled features; in a batch of 128, none is larger than 11.3


class Standardize(nn.BatchNorm1d):
    """Bring each feature to mean 0 and variance 1: (N, F) -> (N, F).

    In training, the mean and variance are those of the batch, otherwise those of all photos. A
    batch that is embedded in parts is passed to `observe` first, so that its parts are scaled as
    one.

    Half of the features of a DenseNet are a thousand times smaller than the others, and tell
    photos apart nevertheless. With EPS, they stay small; with SMALL_EPS, they are scaled like the
    others. A feature that was nearly constant in training is not scaled beyond LIMIT.

    Args:
        features: Length F of a feature vector.
        eps: Number that is added to variances.
    """

    def __init__(self, features: int, eps: float = EPS) -> None:
        super().__init__(features, eps=eps, affine=False)
        assert self.running_var is not None
        self.running_var.fill_(eps / EPS)  # a larger start would hide small features for long
        self._observed: tuple[Tensor, Tensor] | None = None

    def observe(self, batch: Tensor) -> None:
        """Take the mean and variance of a whole batch (N, F), for the parts of it that follow."""
        super().forward(batch)  # updates the mean and variance of all photos
        variance, mean = torch.var_mean(batch, dim=0, correction=0)
        self._observed = mean, variance

    def measure(self, features: Tensor) -> None:
        """Take the mean and variance of all photos from the features of many, (N, F)."""
        assert self.running_mean is not None
        assert self.running_var is not None
        variance, mean = torch.var_mean(features, dim=0)
        self.running_mean.copy_(mean)
        self.running_var.copy_(variance)

    def forward(self, batch: Tensor) -> Tensor:
        """Scale features (N, F)."""
        if self._observed is None or not self.training:
            return super().forward(batch).clamp(-LIMIT, LIMIT)
        scaled = F.batch_norm(batch, *self._observed, training=False, eps=self.eps)
        return scaled.clamp(-LIMIT, LIMIT)


class Unscaled(nn.Identity):
    """Leaves features as they are; takes the place of `Standardize`."""

    def observe(self, batch: Tensor) -> None:
        """Do nothing, as the features of a photo do not depend on others."""

    def measure(self, features: Tensor) -> None:
        """Do nothing, as in `observe`."""


def standardization(
    features: int, *, standardize: bool, small_features: bool = False
) -> Standardize | Unscaled:
    """Return the layer that scales feature vectors, or leaves them as they are.

    Args:
        features: Length of a feature vector.
        standardize: Whether they are scaled.
        small_features: Whether small features are scaled like the others.
    """
    eps = SMALL_EPS if small_features else EPS
    return Standardize(features, eps) if standardize else Unscaled()
