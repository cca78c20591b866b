"""An image encoder that also trains the end of its image network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders import Encoder
from vsdemo.encoders.image import LinearImage, stack
from vsdemo.vision.backbones.tuned import both_sides, mean_vector, pool_regions
from vsdemo.vision.regions import in_frames

LEAST = 0.6  # of the side of a map, in a random part of it


@dataclass(frozen=True)
class Views:
    """Stems of one view of each of B photos, and boxes in them.

    Attributes:
        stems: What the end of the network reads, (B, S, h, w).
        boxes: (B, K, 4), as fractions of the view; zeros for missing ones. None for none.
    """

    stems: Tensor
    boxes: Tensor | None = None

    def __len__(self) -> int:
        """Return B."""
        return len(self.stems)

    def __getitem__(self, rows: slice) -> Views:
        """Select photos."""
        return Views(self.stems[rows], None if self.boxes is None else self.boxes[rows])

    def to(self, device: torch.device | str) -> Views:
        """Move both tensors to a device."""
        boxes = None if self.boxes is None else self.boxes.to(device)
        return Views(self.stems.to(device), boxes)


class TunedImage(Encoder):
    """The end of an image network, and an encoder of its vectors: (N, S, h, w) -> (N, D).

    It computes what the encoder would compute of the features of the tuned network, see
    `vsdemo.vision.backbones.tuned.Tuned`; in training without the mirror images. Batch norms are
    kept as they are, and so is the scale of features: random parts of photos are scaled like whole
    ones.

    Attributes:
        end: The end of the network, (B, S, h, w) -> (B, C, h', w').
        image: The encoder, (N, 2 C) -> (N, D).

    Args:
        end: As the attribute.
        image: As the attribute.
        windows: Read a random part of each photo in training.
    """

    needs = frozenset({"vector"})
    inputs = ("stems",)

    def __init__(self, end: nn.Module, image: LinearImage, *, windows: bool = False) -> None:
        super().__init__()
        self.end, self.image, self.dim = end, image, image.dim
        self.windows = windows

    def train(self, mode: bool = True) -> Self:  # noqa: FBT001, FBT002 -- as nn.Module has it
        """Set the mode; batch norms and the scale of features always are in evaluation mode."""
        super().train(mode)
        self.end.eval()
        self.image.standardize.eval()
        return self

    def tune(self, is_tuned: bool) -> None:  # noqa: FBT001 -- as nn.Module.requires_grad_ has it
        """Let the weights of the end's convolutions be trained, or freeze the whole end.

        Batch norms are never trained: for half of a DenseNet's features, their weights are below
        1e-3, and a single step of Adam could turn such a feature around.
        """
        for parameter in self.end.parameters():
            parameter.requires_grad_(is_tuned and parameter.dim() > 1)

    def prepare(self, items: Tensor) -> list[Tensor]:
        """Split stems (N, S, h, w) into those of each photo."""
        return list(items)

    def collate(self, prepared: Sequence[Tensor]) -> Views:
        """Stack stems (S, h, w) to one batch.

        They are kept in half precision, which autocast on a CPU cannot stack.
        """
        return Views(stack([stems.float() for stems in prepared]))

    def batch_of(self, *tensors: Tensor) -> Views:
        """Return the batch of stems (B, S, h, w)."""
        (stems,) = tensors
        return Views(stems)

    def _vectors(self, batch: Views) -> tuple[Tensor, Tensor, Tensor]:
        """Return the features of photos, (B, 2 C), of R regions, (R, 2 C), and which are there.

        The last is (B, K).
        """
        stems = batch.stems.contiguous(memory_format=torch.channels_last)  # which is faster
        maps = [self.end(stems)] if self.training else both_sides(self.end, stems)
        photos = F.normalize(mean_vector(*maps), dim=-1)
        if batch.boxes is None:
            return photos, photos[:0], torch.zeros(len(batch), 0).bool()
        is_there = (batch.boxes != 0).any(-1)
        regions = pool_regions(maps[0], batch.boxes)[is_there]
        return photos, F.normalize(regions, dim=-1), is_there

    def forward(self, batch: Views) -> Embeddings:
        """Embed photos: (B, D). With K boxes: (B, 1 + K, D), the whole photo first."""
        if self.training and self.windows:
            batch = cut_windows(batch)
        vectors, regions, is_there = self._vectors(batch)
        photos: Embeddings = self.image(vectors)
        if batch.boxes is None:
            return photos
        x = photos.x.new_zeros(*is_there.shape, self.dim)
        if len(regions):
            x[is_there] = self.image.project(self.image.standardize(regions))
        mask = torch.cat([torch.ones_like(is_there[:, :1]), is_there], 1)
        return Embeddings(torch.cat([photos.x[:, None], x], 1), mask)


def cut_windows(batch: Views) -> Views:
    """Cut a random part out of the maps of each photo, of one random size for all.

    The sides are at least LEAST of those of the map, rounded up.
    """
    stems = batch.stems
    count, *_, height, width = stems.shape
    rows, columns = _places(count, height), _places(count, width)  # (B, h'), (B, w')
    photos = torch.arange(count)[:, None, None]
    parts = stems[photos, :, rows[:, :, None], columns[:, None, :]]  # (B, h', w', S)
    parts = parts.permute(0, 3, 1, 2)
    if batch.boxes is None:
        return Views(parts)
    edges = [columns[:, 0] / width, rows[:, 0] / height]
    edges += [(columns[:, -1] + 1) / width, (rows[:, -1] + 1) / height]
    frames = torch.stack([*edges, torch.zeros(count)], 1).to(batch.boxes)
    return Views(parts, in_frames(batch.boxes, frames))


def _places(count: int, length: int) -> Tensor:
    """Return `count` random ranges of one random length below `length`, (count, size)."""
    size = int(torch.randint(math.ceil(LEAST * length), length + 1, ()))
    starts = torch.randint(length - size + 1, (count, 1))
    return starts + torch.arange(size)
