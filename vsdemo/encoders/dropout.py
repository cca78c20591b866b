"""Dropout that begins late, and that of whole words."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.data.text.vocab import PAD
from vsdemo.encoders.words import Words


class LateDropout(nn.Module):
    """Dropout of the share `early` at first, and `late` once it has `begun`: what a network that
    cannot read yet learns faster with little of it, and goes on to learn with more."""

    def __init__(self, early: float, late: float) -> None:
        super().__init__()
        self.early, self.late, self.begun = early, late, True

    @property
    def share(self) -> float:
        return (self.late if self.begun else self.early) if self.training else 0.0

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.share, self.training)


class WordDropout(LateDropout):
    """Leaves about a share of the words of each sentence out, by lot, each with the `space` before
    it; a sentence that would lose all of them stays whole. Early nothing is left out."""

    def __init__(self, share: float, space: int) -> None:
        super().__init__(0.0, share)
        self.space = space

    def forward(self, batch: Words) -> Words:
        if not self.share:
            return batch
        here = batch.mask[..., 0]
        word = (batch.ids == self.space).cumsum(1)  # (B, T), the number of each character's word
        drawn = torch.rand(batch.ids.shape, device=batch.ids.device) >= self.share
        kept = drawn.gather(1, word) & here
        kept |= here & ~kept.any(1, keepdim=True)
        lengths = kept.sum(1)
        order = (~kept).byte().argsort(dim=1, stable=True)[:, : int(lengths.max())]
        ids = batch.ids.gather(1, order).masked_fill(~kept.gather(1, order), PAD)
        return Words(ids, lengths.cpu())
