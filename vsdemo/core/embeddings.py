"""Embeddings, the currency between encoders, scores, the index and the tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    def cat(parts: Sequence[Embeddings]) -> Embeddings:
        """Concatenate parts of `(N_i, ...)` along the first dimension.

        Sets are padded to the largest.

        Args:
            parts: At least one; all of them sets, or none.
        """
        import torch

        return Embeddings.place(parts, torch.arange(sum(len(part) for part in parts)))

    @staticmethod
    def place(parts: Iterable[Embeddings], rows: Tensor) -> Embeddings:
        """Copy each row of parts of `(N_i, ...)` to its row of the result.

        Sets are padded to the largest. If `parts` is an iterator, only one part is in memory at a
        time.

        Args:
            parts: At least one; all of them sets, or none.
            rows: `(sum(N_i),)` numbers of rows.
        """
        from torch.nn.functional import pad

        x: Tensor | None = None
        mask: Tensor | None = None
        start = 0
        for part in parts:
            if x is None:
                x = part.x.new_zeros(len(rows), *part.x.shape[1:])
                mask = None if part.mask is None else part.mask.new_zeros(x.shape[:2])
            target = rows[start : start + len(part)]
            start += len(part)
            if mask is None or part.mask is None:
                x[target] = part.x  # (N_i, D)
                continue
            size = part.x.shape[1]
            if (more := size - x.shape[1]) > 0:
                x, mask = pad(x, (0, 0, 0, more)), pad(mask, (0, more))
            x[target, :size] = part.x  # (N_i, K_i, D)
            mask[target, :size] = part.mask  # (N_i, K_i)
        assert x is not None
        return Embeddings(x, mask)
