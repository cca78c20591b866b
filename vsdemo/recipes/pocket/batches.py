"""Batches of crops with what the teacher sees in them and what was written of them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import torch
from torch import Tensor

from vsdemo.core.sentences import Sentence
from vsdemo.recipes.pocket import crops
from vsdemo.recipes.pocket.photos import Photos

STAGES = ((0.0, 96), (0.25, 128), (0.65, 160), (0.9, 192))  # share of the steps, pixels of a crop
STRIDE = 32  # pixels a place of the map
DRAWINGS = 4000  # an epoch, others each time
OTHERS = 192  # captions a batch of other photos, all wrong
SIDES = {"left", "right"}  # what says so is no longer true of a mirrored photo


class Batch(NamedTuple):
    """Crops (B, 3, s, s) from 0 to 1; the teacher's components (B, K, s/32, s/32); captions, first
    one of each crop that is `described` (B,), then OTHERS; and the numbers of all these captions'
    photos, `owner`."""

    pixels: Tensor
    target: Tensor
    described: Tensor
    captions: list[Sentence]
    owner: Tensor


class Batches:
    """Batches of a run: a function of the seed and the step alone.

    pictures: (3, h, w), uint8, of each photo; maps: the teacher's, (P, K, h, w).
    """

    def __init__(
        self,
        photos: Photos,
        pictures: list[Tensor],
        maps: Tensor,
        size: int,
        epochs: int,
        seed: int,
    ) -> None:
        self.photos, self.pictures, self.maps = photos, pictures, maps
        self.drawings = min(DRAWINGS, len(pictures) - photos.photographs)
        self.seed, self.least = seed, photos.least
        self.captions_of: list[list[str]] = [[] for _ in pictures]
        for text, photo in zip(photos.captions, photos.photo_of, strict=True):
            self.captions_of[photo].append(text)
        length = photos.photographs + self.drawings
        self.size = min(size, length)
        self.steps_per_epoch = length // self.size
        self.total = epochs * self.steps_per_epoch

    def after(self, step: int) -> Iterator[Batch]:
        """The batches from a step on, each made while the one before is learnt."""
        if step >= self.total:
            return
        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(self.make, step)
            for following in range(step + 1, self.total + 1):
                now = coming.result()
                if following < self.total:
                    coming = pool.submit(self.make, following)
                yield now

    def make(self, step: int) -> Batch:
        """The batch of one step."""
        draw = torch.Generator().manual_seed(self.seed * 7_000_003 + step)
        chosen = self._chosen(step)
        pixels, target = self._cut(chosen, self._side(step), draw)
        luck = torch.rand(len(chosen), generator=draw).tolist()
        options = [self.captions_of[photo] for photo in chosen.tolist()]
        texts = [
            own[int(x * len(own))] if own else "" for own, x in zip(options, luck, strict=True)
        ]
        sided = torch.tensor([bool(SIDES & set(text.lower().split())) for text in texts])
        flipped = (torch.rand(len(chosen), generator=draw) < 0.5) & ~sided
        pixels[flipped], target[flipped] = pixels[flipped].flip(-1), target[flipped].flip(-1)
        described = torch.tensor([bool(text) for text in texts])
        others = torch.randint(len(self.photos.captions), (OTHERS,), generator=draw).tolist()
        texts = [t for t in texts if t] + [self.photos.captions[other] for other in others]
        owner = chosen[described].tolist() + [self.photos.photo_of[other] for other in others]
        captions = [Sentence(text) for text in texts]
        return Batch(pixels, target, described, captions, torch.tensor(owner))

    def _chosen(self, step: int) -> Tensor:
        """The photos of a step: in an epoch each photograph once and some of the drawings."""
        epoch, number = divmod(step, self.steps_per_epoch)
        draw = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        count = self.photos.photographs
        drawn = count + torch.randperm(len(self.pictures) - count, generator=draw)
        all_of_them = torch.cat([torch.arange(count), drawn[: self.drawings]])
        shuffled = all_of_them[torch.randperm(len(all_of_them), generator=draw)]
        return shuffled[number * self.size :][: self.size]

    def _side(self, step: int) -> int:
        return next(side for share, side in reversed(STAGES) if step >= share * self.total)

    def _cut(self, chosen: Tensor, side: int, draw: torch.Generator) -> tuple[Tensor, Tensor]:
        shown, least = [self.pictures[photo] for photo in chosen.tolist()], self.least[chosen]
        boxes = crops.boxes([(p.shape[1], p.shape[2]) for p in shown], least, draw)
        cut = [crops.cut(photo, box, side) for photo, box in zip(shown, boxes, strict=True)]
        pixels = crops.jittered(torch.stack(cut).float() / 255, 1 - least, draw)
        return pixels, crops.target(self.maps[chosen], boxes, side // STRIDE)
