"""Dropout of numbers or whole words, with a rate that changes after the first phase of training."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.data.text.vocab import PAD
from vsdemo.encoders.words import Words


class DropoutSchedule(nn.Module):
    """Base class of dropout with two rates.

    A network that starts from scratch learns faster with little dropout and generalises better with
    more of it later. The trainer sets `is_late` at each step.

    Args:
        early: Rate in the first phase.
        late: Rate afterwards.
    """

    def __init__(self, early: float, late: float) -> None:
        super().__init__()
        self.early = early
        self.late = late
        self.is_late = True

    @property
    def rate(self) -> float:
        """The rate now; 0 in evaluation mode."""
        if not self.training:
            return 0.0
        return self.late if self.is_late else self.early


class LateDropout(DropoutSchedule):
    """Dropout of single numbers: (...) -> (...)."""

    def forward(self, x: Tensor) -> Tensor:
        """Set a share of the numbers to 0 and scale the others, as `nn.Dropout` does."""
        return F.dropout(x, self.rate, self.training)


class WordDropout(DropoutSchedule):
    """Dropout of whole words from sentences read as characters, none in the first phase.

    Each word is dropped independently, with the space before it. A sentence that would lose all of
    its words is kept whole.

    Args:
        rate: Share of words dropped.
        space: Id of the character between words.
    """

    def __init__(self, rate: float, space: int) -> None:
        super().__init__(early=0.0, late=rate)
        self.space = space

    def forward(self, batch: Words) -> Words:
        """Return the batch without the dropped words."""
        if not self.rate:
            return batch
        real = batch.mask[..., 0]  # (B, T)
        word = (batch.ids == self.space).cumsum(1)  # (B, T), the number of each character's word
        draws = torch.rand(batch.ids.shape, device=batch.ids.device) >= self.rate
        kept = draws.gather(1, word) & real
        kept |= real & ~kept.any(1, keepdim=True)
        lengths = kept.sum(1)
        # A stable sort moves the kept characters to the front, in their order.
        order = (~kept).byte().argsort(dim=1, stable=True)[:, : int(lengths.max())]
        ids = batch.ids.gather(1, order).masked_fill(~kept.gather(1, order), PAD)
        return Words(ids, lengths.cpu())
