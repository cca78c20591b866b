"""Batches of pictures: whole or cropped, as drawn or mirrored."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from vsdemo.recipes.easel.labels import COLOUR, FACING, MISSING, thing_classes
from vsdemo.recipes.easel.pictures import Pictures
from vsdemo.vision.backbones.easel import SIDE, STRIDE

CROP = 144  # side of a crop, in pixels
NEAR = 0.1  # least distance of the chosen thing's centre from an edge of the crop, as a share of it
BRIGHTNESS = (0.6, 1.3)  # factors of red, green and blue in another colour
SATURATION = (0.0, 1.5)  # factor of the distance from grey; 0 leaves a picture grey
POWERS = (0.4, 2.0)  # of values from 0 to 1; below 1 a picture becomes brighter
INVERTED = 0.25  # share of the recoloured pictures that become negatives
EDGE = 0.01  # a thing whose centre is nearer to an edge of the crop is not learned


@dataclass(frozen=True)
class Batch:
    """Pictures, the things in them, and the pictures as wholes.

    Attributes:
        pixels: (B, 3, H, W), uint8.
        boxes: As fractions, (B, K, 4); zeros for a missing thing. A box may reach out of a crop.
        things: Numbers of classes, (B, K, labels of a thing); MISSING for a missing thing.
        wholes: Numbers of classes, (B, labels of a whole); MISSING where they are not learned.
    """

    pixels: Tensor
    boxes: Tensor
    things: Tensor
    wholes: Tensor

    def __len__(self) -> int:
        """Return the number of pictures."""
        return len(self.pixels)

    @property
    def present(self) -> Tensor:
        """Whether a thing is not missing, (B, K)."""
        return self.things[..., 0] != MISSING

    @property
    def centres(self) -> Tensor:
        """The middle of each box, (B, K, 2)."""
        return (self.boxes[..., :2] + self.boxes[..., 2:]) / 2

    @property
    def sides(self) -> Tensor:
        """The width and the height of each box, (B, K, 2)."""
        return self.boxes[..., 2:] - self.boxes[..., :2]

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device."""
        return Batch(
            pixels=self.pixels.to(device),
            boxes=self.boxes.to(device),
            things=self.things.to(device),
            wholes=self.wholes.to(device),
        )


def read(pictures: Pictures, rows: np.ndarray) -> Batch:
    """Return the whole pictures of some rows."""
    labels = pictures.labels
    return Batch(
        pixels=torch.from_numpy(pictures.pixels[rows]).permute(0, 3, 1, 2),
        boxes=torch.from_numpy(labels.boxes[rows]),
        things=torch.from_numpy(labels.things[rows]),
        wholes=torch.from_numpy(labels.wholes[rows]),
    )


def crop(batch: Batch, rng: np.random.Generator) -> Batch:
    """Cut a square of CROP pixels out of each whole picture, around a random thing.

    Its corners are at places of the finest map. Things whose centre is outside are left out.
    """
    chosen = rng.integers(batch.present.sum(1).numpy())  # (B,)
    centres = batch.centres[torch.arange(len(batch)), chosen].numpy() * SIDE  # (B, 2)
    corners = centres - CROP * rng.uniform(NEAR, 1 - NEAR, centres.shape)
    corners = corners.round().clip(0, SIDE - CROP).astype(int) // STRIDE * STRIDE
    squares = [
        picture[:, top : top + CROP, left : left + CROP]
        for picture, (left, top) in zip(batch.pixels, corners, strict=True)
    ]
    shift = torch.from_numpy(np.tile(corners, 2)).float()[:, None]  # (B, 1, 4)
    cut = replace(batch, pixels=torch.stack(squares), boxes=(batch.boxes * SIDE - shift) / CROP)
    inside = ((cut.centres > EDGE) & (cut.centres < 1 - EDGE)).all(-1) & batch.present
    return replace(
        cut,
        boxes=cut.boxes.where(inside[..., None], 0.0),
        things=cut.things.where(inside[..., None], MISSING),
    )


def mirror(batch: Batch, rng: np.random.Generator) -> Batch:
    """Mirror each picture with a probability of one half."""
    mirrored = torch.from_numpy(rng.random(len(batch)) < 0.5)
    left, top, right, bottom = batch.boxes.unbind(-1)
    boxes = torch.stack([1 - right, top, 1 - left, bottom], -1)
    things = batch.things.clone()
    facing = list(thing_classes()).index(FACING)
    things[..., facing] = 1 - things[..., facing]
    moves = mirrored[:, None, None] & batch.present[..., None]  # (B, K, 1)
    return replace(
        batch,
        pixels=batch.pixels.flip(-1).where(mirrored[:, None, None, None], batch.pixels),
        boxes=boxes.where(moves, batch.boxes),
        things=things.where(moves, batch.things),
    )


def recolour(batch: Batch, share: float, rng: np.random.Generator) -> Batch:
    """Give a share of the pictures other colours, so that things are recognised in any colour.

    Red, green and blue are exchanged, all colours become paler or stronger, and each channel
    becomes darker or brighter. For these pictures, neither colours nor labels of wholes are
    learned, as the colours of the sky show the time.
    """
    chosen = rng.random(len(batch)) < share
    order = rng.permuted(np.tile(np.arange(3), (len(batch), 1)), axis=1)  # (B, 3)
    saturations, powers, factors = (
        torch.from_numpy(rng.uniform(*ends, (len(batch), channels, 1, 1)).astype(np.float32))
        for ends, channels in ((SATURATION, 1), (POWERS, 1), (BRIGHTNESS, 3))
    )
    inverted = torch.from_numpy(rng.random(len(batch)) < INVERTED)[:, None, None, None]
    other = batch.pixels[torch.arange(len(batch))[:, None], torch.from_numpy(order)].float()
    other = other.where(~inverted, 255 - other) / 255
    grey = other.mean(1, keepdim=True)
    other = (grey + saturations * (other - grey)).clamp(0, 1) ** powers * factors
    colour = list(thing_classes()).index(COLOUR)
    things, changed = batch.things.clone(), torch.from_numpy(chosen)
    things[changed, :, colour] = MISSING
    return replace(
        batch,
        pixels=(255 * other).clamp(0, 255).byte().where(changed[:, None, None, None], batch.pixels),
        things=things,
        wholes=batch.wholes.where(~changed[:, None], MISSING),
    )
