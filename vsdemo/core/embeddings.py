"""Embeddings, the currency between encoders, scores, the index and the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # keeps `vsdemo --help` fast
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class Embeddings:
    """N embeddings, or N sets of embeddings, in one space.

    Args:
        x: `(N, D)`, or `(N, K, D)` for sets of up to K embeddings.
        mask: `(N, K)`, true where a set has an embedding; None for single embeddings.
    """

    x: Tensor
    mask: Tensor | None = None

    def __len__(self) -> int:
        """Return N."""
        return len(self.x)

    def __getitem__(self, rows: slice | Tensor) -> Embeddings:
        """Select rows."""
        return Embeddings(self.x[rows], None if self.mask is None else self.mask[rows])

    def to(self, device: torch.device | str) -> Embeddings:
        """Move both tensors to a device."""
        mask = None if self.mask is None else self.mask.to(device)
        return Embeddings(self.x.to(device), mask)

    def float(self) -> Embeddings:
        """Return the embeddings in single precision."""
        return Embeddings(self.x.float(), self.mask)

    def mean(self) -> Tensor:
        """Return one vector for each item, (N, D): the mean of its set."""
        if self.mask is None:
            return self.x
        mask = self.mask[..., None]  # (N, K, 1)
        return (self.x * mask).sum(1) / mask.sum(1).clamp(min=1)

    @staticmethod
    def cat(parts: Sequence[Embeddings], rows: Tensor | None = None) -> Embeddings:
        """Concatenate parts of `(N_i, ...)` along the first dimension.

        Sets are padded to the largest.

        Args:
            parts: At least one; all of them sets, or none.
            rows: `(sum(N_i),)`, the row of the result that each input row is copied to. By
                default the order of the inputs is kept.
        """
        import torch

        first = parts[0]
        count = sum(len(part) for part in parts)
        if rows is None:
            rows = torch.arange(count)
        shape = [max(sizes) for sizes in zip(*(p.x.shape[1:] for p in parts), strict=True)]
        x = first.x.new_zeros(count, *shape)
        mask = None if first.mask is None else first.mask.new_zeros(count, shape[0])
        start = 0
        for part in parts:
            target = rows[start : start + len(part)]
            start += len(part)
            if mask is None or part.mask is None:
                x[target] = part.x  # (N_i, D)
            else:
                size = part.x.shape[1]
                x[target, :size] = part.x  # (N_i, K_i, D)
                mask[target, :size] = part.mask  # (N_i, K_i)
        return Embeddings(x, mask)
