"""Photos in batches whose texts are drawn when a batch is embedded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.training.materials.photos import Photos


@dataclass(frozen=True)
class PhotoBatch:
    """Photos whose texts are drawn when they are needed.

    Attributes:
        photos: (B,) rows of photos.
        seed: Seed for drawing their texts.
    """

    photos: np.ndarray
    seed: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.photos)


class PhotoBatches(Photos):
    """Base class of materials for models with an objective over whole batches.

    An epoch has each photo with captions once, except those left over that do not fill a batch.
    """

    def batches(self, epoch: int, start: int = 0) -> Iterable[Any]:
        """Return the batches of an epoch from batch number `start` on."""
        rows = self._epoch(epoch)
        return [
            PhotoBatch(rows[number].numpy(), (self.config.seed, epoch, number))
            for number in range(start, len(rows))
        ]

    def _epoch(self, epoch: int) -> Sequence[Tensor]:
        """Return rows of photos."""
        draw = torch.Generator().manual_seed(self.config.seed * 1_000_003 + epoch)
        photos = self._photos_with_captions
        chosen = torch.tensor(photos)[torch.randperm(len(photos), generator=draw)]
        if len(chosen) > self.config.batch_size:
            chosen = chosen[: len(chosen) - len(chosen) % self.config.batch_size]
        return list(chosen.split(self.config.batch_size))

    @property
    def _photos_with_captions(self) -> list[int]:
        return [row for row, captions in enumerate(self.train_set.captions_of) if captions]

    def loss(self, *embedded: Any, progress: float) -> dict[str, Tensor]:
        """Return the loss of the model's objective, and its parts."""
        texts, photos, labels = embedded
        assert self.model.objective is not None
        parts: dict[str, Tensor] = self.model.objective(self.model.score, texts, photos, labels)
        return parts


def draw_texts(
    own: Sequence[Sequence[int] | np.ndarray], count: int, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return `count` texts of each photo, or all if it has fewer, and the place of their photo.

    Args:
        own: The texts of each photo.
        count: How many of them.
        draw: Source of randomness.

    Returns:
        (T,) texts, photo by photo, and (T,) places in `own`.
    """
    drawn = [draw.permutation(texts)[:count] for texts in own]
    owner = np.repeat(np.arange(len(own)), [len(texts) for texts in drawn])
    return np.concatenate(drawn), owner
