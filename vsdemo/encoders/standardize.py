"""Scaling of photo features to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

EPS = 1e-14  # added to variances, as is EARLIER_EPS in older checkpoints
EARLIER_EPS = 1e-5
MOMENTUM = 0.1
LIMIT = 20.0  # of scaled features; in a batch of 128, none is larger than 11.3


class Standardize(nn.Module):
    """Bring each feature to mean 0 and variance 1: (N, F) -> (N, F).

    In training, the mean and variance are those of the batch, otherwise those of all photos. A
    batch that is embedded in parts is passed to `observe` first, so that its parts are scaled as
    one.

    Half of the features of a DenseNet are a thousand times smaller than the others, and tell
    photos apart nevertheless. So the number that is added to variances is very small. A feature
    that is nearly constant in training is not scaled beyond LIMIT.

    Attributes:
        running_mean: Moving average of the means of batches, (F,).
        running_var: That of their variances.
        eps: Number that is added to variances.
        momentum: Weight of a new batch in the moving averages, which start with the first batch.

    Args:
        features: Length F of a feature vector.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))
        self.eps = EPS
        self.momentum = MOMENTUM
        self._is_new = True
        self._observed: tuple[Tensor, Tensor] | None = None

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Let the variances of an older checkpoint mean the same with the smaller EPS."""
        if state_dict.pop(f"{prefix}num_batches_tracked", None) is not None:
            name = f"{prefix}running_var"
            state_dict[name] = state_dict[name] + (EARLIER_EPS - EPS)
        self._is_new = False
        super()._load_from_state_dict(state_dict, prefix, *args)

    def observe(self, batch: Tensor) -> None:
        """Take the mean and variance of a whole batch (N, F), for the parts of it that follow."""
        self._scale(batch)  # updates the mean and variance of all photos
        variance, mean = torch.var_mean(batch, dim=0, correction=0)
        self._observed = mean, variance

    def forward(self, batch: Tensor) -> Tensor:
        """Scale features (N, F)."""
        if self._observed is None or not self.training:
            return self._scale(batch).clamp(-LIMIT, LIMIT)
        scaled = F.batch_norm(batch, *self._observed, training=False, eps=self.eps)
        return scaled.clamp(-LIMIT, LIMIT)

    def _scale(self, batch: Tensor) -> Tensor:
        momentum = 1.0 if self._is_new else self.momentum
        self._is_new &= not self.training
        mean, variance = self.running_mean, self.running_var
        return F.batch_norm(batch, mean, variance, None, None, self.training, momentum, self.eps)


class Unscaled(nn.Identity):
    """Leaves features as they are; takes the place of `Standardize`."""

    def observe(self, batch: Tensor) -> None:
        """Do nothing, as the features of a photo do not depend on others."""


def standardization(features: int, *, standardize: bool) -> Standardize | Unscaled:
    """Return the layer that scales feature vectors of a length, or leaves them as they are."""
    return Standardize(features) if standardize else Unscaled()
