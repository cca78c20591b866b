"""Batches of crops, with the teacher's view of them and captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

from vsdemo.core.sentences import Sentence
from vsdemo.recipes.pocket import crops
from vsdemo.recipes.pocket.photos import PocketPhotos

STAGES = ((0.0, 96), (0.25, 128), (0.65, 160), (0.9, 192))  # fraction of the steps, crop's side
STRIDE = 32  # pixels per cell of the map
DRAWINGS = 4000  # in an epoch, different ones each time
NEGATIVES = 192  # captions of other photos in a batch
SIDES = {"left", "right"}  # a caption with one of these words is not true of a mirrored photo


@dataclass(frozen=True)
class Batch:
    """Crops and captions.

    Attributes:
        pixels: Crops (B, 3, s, s) from 0 to 1.
        target: The teacher's components (B, K, s / 32, s / 32).
        described: Which crops have a caption, (B,).
        captions: A caption of each described crop, then NEGATIVES captions.
        owner: The number of each caption's photo, (C,).
    """

    pixels: Tensor
    target: Tensor
    described: Tensor
    captions: list[Sentence]
    owner: Tensor

    def __len__(self) -> int:
        """Return the number of crops."""
        return len(self.pixels)


class Batches:
    """The batches of a training: a function of the seed and the step only.

    Args:
        photos: Captions, and the sources of the photos.
        pixels: The pixels of each photo, (3, h, w), uint8.
        maps: The teacher's maps, (P, K, h, w).
        size: Crops in a batch.
        epochs: Epochs of the training.
        seed: The seed.
    """

    def __init__(
        self,
        photos: PocketPhotos,
        pixels: Sequence[Tensor],
        maps: Tensor,
        *,
        size: int,
        epochs: int,
        seed: int,
    ) -> None:
        self.photos, self.pixels, self.maps = photos, pixels, maps
        self.drawings = min(DRAWINGS, len(pixels) - photos.photographs)
        self.seed, self.min_area = seed, photos.min_area
        self.captions_of: list[list[str]] = [[] for _ in pixels]
        for text, photo in zip(photos.captions, photos.photo_of, strict=True):
            self.captions_of[photo].append(text)
        length = photos.photographs + self.drawings
        self.size = min(size, length)
        self.steps_per_epoch = length // self.size
        self.total = epochs * self.steps_per_epoch

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """Yield the batches of an epoch from number `start` on, each made ahead of its use."""
        first = epoch * self.steps_per_epoch
        steps = range(first + start, first + self.steps_per_epoch)
        with ThreadPoolExecutor(1) as pool:
            pending = [pool.submit(self.make, step) for step in steps[:1]]
            for step in steps:
                batch = pending.pop().result()
                if step + 1 in steps:
                    pending.append(pool.submit(self.make, step + 1))
                yield batch

    def make(self, step: int) -> Batch:
        """Return the batch of a step."""
        generator = torch.Generator().manual_seed(self.seed * 7_000_003 + step)
        photos = self._photos(step)
        pixels, target = self._crop(photos, self._side(step), generator)
        draws = torch.rand(len(photos), generator=generator).tolist()
        texts = []
        for photo, draw in zip(photos.tolist(), draws, strict=True):
            options = self.captions_of[photo]
            texts.append(options[int(draw * len(options))] if options else "")
        sided = torch.tensor([bool(SIDES & set(text.lower().split())) for text in texts])
        mirrored = (torch.rand(len(photos), generator=generator) < 0.5) & ~sided
        pixels[mirrored] = pixels[mirrored].flip(-1)
        target[mirrored] = target[mirrored].flip(-1)
        described = torch.tensor([bool(text) for text in texts])
        count = len(self.photos.captions)
        negatives = torch.randint(count, (NEGATIVES,), generator=generator).tolist()
        captions = [text for text in texts if text]
        captions += [self.photos.captions[number] for number in negatives]
        owner = photos[described].tolist() + [self.photos.photo_of[n] for n in negatives]
        return Batch(
            pixels=pixels,
            target=target,
            described=described,
            captions=[Sentence(text) for text in captions],
            owner=torch.tensor(owner),
        )

    def _photos(self, step: int) -> Tensor:
        """Return the photos of a step: an epoch has each photograph once and some drawings."""
        epoch, number = divmod(step, self.steps_per_epoch)
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        count = self.photos.photographs
        drawings = count + torch.randperm(len(self.pixels) - count, generator=generator)
        photos = torch.cat([torch.arange(count), drawings[: self.drawings]])
        shuffled = photos[torch.randperm(len(photos), generator=generator)]
        return shuffled[number * self.size :][: self.size]

    def _side(self, step: int) -> int:
        return next(side for share, side in reversed(STAGES) if step >= share * self.total)

    def _crop(self, photos: Tensor, side: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return crops (B, 3, side, side), and the teacher's components of them."""
        pixels = [self.pixels[photo] for photo in photos.tolist()]
        min_area = self.min_area[photos]
        boxes = crops.random_boxes([(p.shape[1], p.shape[2]) for p in pixels], min_area, generator)
        parts = [crops.crop(p, box, side) for p, box in zip(pixels, boxes, strict=True)]
        jittered = crops.jitter_colors(torch.stack(parts).float() / 255, 1 - min_area, generator)
        return jittered, crops.crop_maps(self.maps[photos], boxes, side // STRIDE)
