"""Hubs: photos that are similar to nearly every sentence, or sentences to nearly every photo."""

from __future__ import annotations

import math
from typing import Protocol

import torch
from torch import Tensor, nn

SHARPNESS = 20.0  # of the mean: the most similar vectors of the bank count most
RANK = 128  # directions in which vectors of the bank differ that are kept


class HubHead(nn.Module):
    """Append to vectors how similar they are to items of the other kind in general.

        hub(x) = 1/b log mean_k e^(b x . y_k) - c        (..., D) -> (..., D + 1), float32

    y_1 ... y_K, the bank, are vectors of photos of the training if x is that of a sentence, and of
    sentences if it is that of a photo; c is the mean of that over training items of the same kind.
    `vsdemo.models.scores.HubCorrected` subtracts hubs from scores, so that no photo is among the
    first for most sentences. After Smith et al., "Offline bilingual word vectors, orthogonal
    transformations and the inverted softmax", ICLR 2017, and Bogolin et al., "Cross modal retrieval
    with querybank normalisation", CVPR 2022, whose bank holds training captions, too.

    Only the mean of the y_k and the RANK directions in which they differ most are kept. In
    training, and before `measure`, all hubs are 0.

    Args:
        head: Computes the vectors, (..., D).
        dim: D.
        size: K.
    """

    bank: Tensor
    center: Tensor
    axes: Tensor
    mean: Tensor

    def __init__(self, head: nn.Module, dim: int, size: int) -> None:
        super().__init__()
        self.head = head
        rank = min(RANK, dim, size)
        self.register_buffer("bank", torch.zeros(size, rank))  # y_k - center, along the axes
        self.register_buffer("center", torch.zeros(dim))
        self.register_buffer("axes", torch.zeros(rank, dim))
        self.register_buffer("mean", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """Apply the head, and append hubs."""
        vectors: Tensor = self.head(x)
        if self.training:
            return torch.cat([vectors, torch.zeros_like(vectors[..., :1])], -1)
        return torch.cat([vectors, (self._similarity(vectors) - self.mean)[..., None]], -1)

    def _similarity(self, vectors: Tensor) -> Tensor:
        """Return the similarity of vectors (..., D) to the bank, (...)."""
        with torch.autocast(vectors.device.type, enabled=False):
            x = vectors.to(self.bank)
            powers = (SHARPNESS * (x @ self.axes.T) @ self.bank.T).logsumexp(-1)
            return x @ self.center + (powers - math.log(len(self.bank))) / SHARPNESS

    def measure(self, bank: Tensor, same: Tensor) -> None:
        """Take the bank, (K, D), and c from vectors of items of the same kind as x, (N, D)."""
        with torch.autocast(bank.device.type, enabled=False):
            center = bank.mean(0)
            differences = bank - center
            _, directions = torch.linalg.eigh(differences.T @ differences)  # columns
            axes = directions[:, -len(self.axes) :].T  # the last differ most
            self.center.copy_(center)
            self.axes.copy_(axes)
            self.bank.copy_(differences @ axes.T)
        self.mean.copy_(self._similarity(same.to(self.bank)).mean())


class HasHead(Protocol):
    """An encoder whose last layer is its head."""

    dim: int
    head: nn.Module


def append_hubs(encoder: HasHead, size: int) -> None:
    """Let an encoder append hubs to its embeddings, (N, D) -> (N, D + 1).

    Args:
        encoder: The encoder.
        size: Items in the bank.
    """
    encoder.head = HubHead(encoder.head, encoder.dim, size)
    encoder.dim += 1


def hub_head(encoder: nn.Module) -> HubHead | None:
    """Return the part of an encoder that appends hubs; None if there is none."""
    return next((part for part in encoder.modules() if isinstance(part, HubHead)), None)
