"""Masks of padded items, and max pooling, for encoders of sentences and of regions."""

from __future__ import annotations

import torch
from torch import Tensor


def step_mask(padded: Tensor, lengths: Tensor) -> Tensor:
    """Return which steps of padded sequences (B, T) of these lengths (B,) are real, (B, T, 1)."""
    steps = torch.arange(padded.shape[1], device=padded.device)
    return (steps < lengths.to(padded.device)[:, None])[..., None]


def maximum(x: Tensor, mask: Tensor) -> Tensor:
    """Return the maximum over the real items among T: (B, T, D) with (B, T, 1) -> (B, D)."""
    return x.masked_fill(~mask, -torch.inf).amax(1)
