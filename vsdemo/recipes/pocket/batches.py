"""Batches of crops, some of them mixed, with captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.device import device
from vsdemo.core.sentences import Sentence
from vsdemo.recipes.pocket import crops
from vsdemo.recipes.pocket.photos import PocketPhotos

DRAWINGS = 2000  # in an epoch, different ones in each set of crops
MIXED = 0.5  # share of the crops of a batch that are blended with another one
DESCRIBED_AREA = 0.4  # smallest fraction of a photo of which its captions are likely to be true
NEGATIVES = 192  # captions of other photos in a batch
SIDES = {"left", "right"}  # a caption with one of these words is not true of a mirrored photo
SAMPLE = 1280  # crops of which the teacher's directions are computed


@dataclass(frozen=True)
class Batch:
    """Crops and captions.

    Attributes:
        name: Name of the crops; batches with the same name have the same crops.
        pixels: Crops (B, 3, s, s) from 0 to 1.
        described: Which crops have a caption, (B,).
        captions: A caption of each described crop, then NEGATIVES captions.
        owner: The number of each caption's photo, (C,).
    """

    name: str
    pixels: Tensor
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
        size: Crops in a batch.
        side: Pixels of a side of a crop.
        sets: Sets of crops, which the epochs take in turn.
        seed: The seed.
    """

    def __init__(
        self,
        photos: PocketPhotos,
        pixels: Sequence[Tensor],
        *,
        size: int,
        side: int,
        sets: int,
        seed: int,
    ) -> None:
        self.photos, self.pixels, self.side = photos, pixels, side
        self.drawings = min(DRAWINGS, len(pixels) - photos.photographs)
        self.seed, self.sets, self.min_area = seed, sets, photos.min_area
        self.captions_of: list[list[str]] = [[] for _ in pixels]
        for text, photo in zip(photos.captions, photos.photo_of, strict=True):
            self.captions_of[photo].append(text)
        length = photos.photographs + self.drawings
        self.size = min(size, length)
        self.steps_per_epoch = length // self.size

    def sample(self) -> Iterator[Tensor]:
        """Yield the pixels of the first batches, of SAMPLE crops in all."""
        for step in range(min(-(-SAMPLE // self.size), self.steps_per_epoch)):
            yield self.make(step).pixels

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """Yield the batches of an epoch from number `start` on; on a GPU, each is made ahead."""
        first = epoch * self.steps_per_epoch
        steps = range(first + start, first + self.steps_per_epoch)
        if device().type == "cpu":  # which has enough to do
            yield from map(self.make, steps)
            return
        with ThreadPoolExecutor(1) as pool:
            pending = [pool.submit(self.make, step) for step in steps[:1]]
            for step in steps:
                batch = pending.pop().result()
                if step + 1 in steps:
                    pending.append(pool.submit(self.make, step + 1))
                yield batch

    def make(self, step: int) -> Batch:
        """Return the batch of a step."""
        photos, name, pixels, mirrored, areas = self._crops(step)
        draw = torch.Generator().manual_seed(self.seed * 7_000_003 + step)
        draws = torch.rand(len(photos), generator=draw).tolist()
        mixed = int(MIXED * len(photos))
        texts = []
        for place, photo in enumerate(photos.tolist()):
            options = self.captions_of[photo]
            text = options[int(draws[place] * len(options))] if options else ""
            is_true = place >= mixed and areas[place] >= DESCRIBED_AREA
            is_true &= not (mirrored[place] and SIDES & {*text.lower().split()})
            texts.append(text if is_true else "")
        described = torch.tensor([bool(text) for text in texts])
        count = len(self.photos.captions)
        negatives = torch.randint(count, (NEGATIVES,), generator=draw).tolist()
        captions = [text for text in texts if text]
        captions += [self.photos.captions[number] for number in negatives]
        owner = photos[described].tolist() + [self.photos.photo_of[n] for n in negatives]
        return Batch(
            name=name,
            pixels=pixels,
            described=described,
            captions=[Sentence(text) for text in captions],
            owner=torch.tensor(owner),
        )

    def _photos(self, step: int) -> tuple[Tensor, int, int]:
        """Return the photos of a step, the number of the set of crops, and of the batch in it.

        A set has each photograph once and some drawings. Each time that it is used, its batches
        come in another order.
        """
        epoch, number = divmod(step, self.steps_per_epoch)
        turn, crop_set = divmod(epoch, self.sets)
        draw = torch.Generator().manual_seed(self.seed * 1_000_003 + crop_set)
        count = self.photos.photographs
        drawings = count + torch.randperm(len(self.pixels) - count, generator=draw)
        photos = torch.cat([torch.arange(count), drawings[: self.drawings]])
        shuffled = photos[torch.randperm(len(photos), generator=draw)]
        if turn:
            order = np.random.default_rng((self.seed, epoch)).permutation(self.steps_per_epoch)
            number = int(order[number])
        return shuffled[number * self.size :][: self.size], crop_set, number

    def _crops(self, step: int) -> tuple[Tensor, str, Tensor, list[bool], list[float]]:
        """Return photos, the name of their crops, the crops, which are mirrored, and the areas."""
        photos, crop_set, number = self._photos(step)
        seed = (self.seed * 1_009 + crop_set) * 1_000_003 + number
        draw = torch.Generator().manual_seed(seed)
        pixels = [self.pixels[photo] for photo in photos.tolist()]
        min_area = self.min_area[photos]
        boxes = crops.random_boxes([(p.shape[1], p.shape[2]) for p in pixels], min_area, draw)
        parts = [crops.crop(p, box, self.side) for p, box in zip(pixels, boxes, strict=True)]
        x = crops.jitter_colors(torch.stack(parts).float() / 255, 1 - min_area, draw)
        mirrored = torch.rand(len(photos), generator=draw) < 0.5
        x[mirrored] = x[mirrored].flip(-1)
        x = crops.mix(x, int(MIXED * len(photos)), draw)
        areas = (boxes[:, 2] * boxes[:, 3]).tolist()
        return photos, f"{crop_set:04}-{number:05}", x, mirrored.tolist(), areas
