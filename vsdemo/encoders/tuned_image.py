"""An image encoder that also trains the end of its image network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders import Encoder
from vsdemo.encoders.image import stack
from vsdemo.vision.backbones.tuned import pool

LEAST = 0.6  # of the side of a map, in a random part of it


class TunedImage(Encoder):
    """The end of an image network, and an encoder of its vectors: (N, V, S, h, w) -> (N, D).

    It computes of V views what the encoder would compute of the features of the tuned network, see
    `vsdemo.vision.backbones.network.Backbone.encode`. The statistics of batch norms are kept.

    Attributes:
        end: The end of the network, (B, S, h, w) -> (B, C, h', w').
        image: The encoder, (N, 2 C) -> (N, D).

    Args:
        end: As the attribute.
        image: As the attribute.
        window_rate: Share of the batches in training in which it reads a random part of each photo.
        channel_dropout: Share of the S channels set to 0 in training.
    """

    needs = frozenset({"vector"})
    inputs = ("stems",)

    def __init__(
        self,
        end: nn.Module,
        image: Encoder,
        window_rate: float = 0.0,
        channel_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.end, self.image, self.dim = end, image, image.dim
        self.window_rate, self.channel_dropout = window_rate, channel_dropout

    def train(self, mode: bool = True) -> Self:  # noqa: FBT001, FBT002 -- as nn.Module has it
        """Set the mode of the encoder; the end is always in evaluation mode."""
        super().train(mode)
        self.end.eval()
        return self

    def prepare(self, items: Tensor) -> list[Tensor]:
        """Split stems (N, V, S, h, w) into those of each photo."""
        return list(items)

    def collate(self, prepared: Sequence[Tensor]) -> Tensor:
        """Stack stems (V, S, h, w) to one batch (B, V, S, h, w).

        They are kept in half precision, which autocast on a CPU cannot stack.
        """
        return stack([stems.float() for stems in prepared])

    def batch_of(self, *tensors: Tensor) -> Tensor:
        """Return the batch of stems (B, V, S, h, w)."""
        (stems,) = tensors
        return stems

    @torch.no_grad()
    def observe(self, batch: Tensor) -> None:
        """Let the encoder take the statistics of a whole batch (B, V, S, h, w)."""
        self.image.observe(self._vectors(batch))

    def _vectors(self, batch: Tensor) -> Tensor:
        """Return the features of the tuned network, (B, 2 C)."""
        vectors = pool(self.end(batch.flatten(0, 1))).relu().unflatten(0, batch.shape[:2])
        return F.normalize(vectors.float().mean(1), dim=-1)

    def _vary(self, batch: Tensor) -> Tensor:
        """Return other stems to train on, those of parts of the photos: (B, V, S, h', w')."""
        if torch.rand(()) < self.window_rate:
            batch = windows(batch)
        return F.dropout3d(batch.transpose(1, 2), self.channel_dropout).transpose(1, 2)

    def forward(self, batch: Tensor) -> Embeddings:
        """Embed a batch (B, V, S, h, w): (B, D)."""
        if self.training:
            batch = self._vary(batch)
        embeddings: Embeddings = self.image(self._vectors(batch))
        return embeddings


def windows(maps: Tensor) -> Tensor:
    """Cut a random part out of each map, of one random size: (B, V, S, h, w) -> (B, V, S, h', w').

    The sides are at least LEAST of those of the map.
    """
    count, *_, height, width = maps.shape
    rows, columns = _places(count, height), _places(count, width)  # (B, h'), (B, w')
    batch = torch.arange(count)[:, None, None]
    parts = maps[batch, :, :, rows[:, :, None], columns[:, None, :]]  # (B, h', w', V, S)
    return parts.permute(0, 3, 4, 1, 2)


def _places(count: int, length: int) -> Tensor:
    """Return `count` random ranges of one random length below `length`, (count, size)."""
    size = int(torch.randint(math.ceil(LEAST * length), length + 1, ()))
    starts = torch.randint(length - size + 1, (count, 1))
    return starts + torch.arange(size)
