"""The registry of the ways to look at a photo: the values of the setting `crops`.

Views show the photo, or squares cut out of it, and give one vector per photo, the mean over the
views. Regions give one vector for each box of the photo, see `vsdemo.vision.proposals`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from PIL import Image

MOST_REGIONS = 20  # of a photo, detected or drawn by people; includes the frame
MOST_THINGS = 13  # of a drawing; includes the frame
MOST_FOUND = 31  # by the backbone itself in a photo; includes the frame
LARGER = 7  # squares of 224 pixels in one of 576
LARGE_SIDE = 256  # pixels of a side of the squares that networks with a tuned end read
FINER = 2  # photos are decoded to at least this multiple of the network's input side
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


class Frame(NamedTuple):
    """What a view shows of a photo, as fractions of its width and height from the top left."""

    x0: float = 0.0
    y0: float = 0.0
    x1: float = 1.0
    y1: float = 1.0


CORNER = 0.7  # width and height of a corner, as a fraction of those of the photo
SIDES = ((0.0, CORNER), (1 - CORNER, 1.0))  # the first and the last part of a side
CORNERS = [Frame(x0, y0, x1, y1) for y0, y1 in SIDES for x0, x1 in SIDES]


class Square(Enum):
    """How a photo becomes a square.

    Attributes:
        CUT: Its short side is resized to that of the square, and the centre is cut out.
        PAD: Its long side is resized to that of the square, and the rest is filled.
        SQUEEZE: Both sides are resized.
    """

    CUT = "shortest"  # the values are open_clip's
    PAD = "longest"
    SQUEEZE = "squash"


@dataclass(frozen=True)
class InputSpec:
    """What a network expects its input to be.

    Attributes:
        size: Side of the square that it reads, in pixels.
        short: Short side of the photo before a square is cut out, in pixels.
        region_size: Side of the square when regions are wanted, so that the map has more places.
        resampling: PIL's filter for resizing.
        mean: Means of red, green and blue, subtracted from pixels in 0..1.
        std: Standard deviations of red, green and blue, which pixels are divided by.
        own: How photos became squares when the network was trained; None for the centre of a photo
            whose short side is `short`.
        fill: Grey value of the padding.
    """

    size: int
    short: int
    region_size: int
    resampling: Image.Resampling
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    own: Square | None = None
    fill: int = 0


Cut = Callable[[Image.Image, InputSpec], np.ndarray]


@dataclass(frozen=True)
class Crops:
    """One way to look at a photo.

    Attributes:
        views: Squares that the backbone reads for each photo.
        vectors: Feature vectors kept for each photo: 1, or one for each region.
        squares: How much a network reads, in squares of its usual size. For most regions it reads
            one larger square, so that the map has more places.
        cut: Cuts the squares out of an RGB photo: uint8, (views, 3, side, side).
    """

    views: int
    vectors: int
    squares: int
    cut: Cut


@dataclass(frozen=True)
class ViewCutter:
    """Cuts the views for a network out of photos.

    It can be sent to another process, which then need not import torch.

    Attributes:
        crops: Name of the views.
        spec: What the network expects its input to be.
    """

    crops: str
    spec: InputSpec

    @property
    def short(self) -> int:
        """How many pixels are enough for a photo's short side, as for `decode_photo`."""
        return FINER * max(self.spec.short, self.spec.size)

    def __call__(self, photo: Image.Image) -> np.ndarray:
        """Return the views of an RGB photo: (V, 3, H, W), uint8."""
        return CROPS[self.crops].cut(photo, self.spec)


def _center(photo: Image.Image, spec: InputSpec) -> np.ndarray:
    """Cut out the centre of the photo: (1, 3, size, size)."""
    return _cut_center(_shrink(photo, spec), spec.size)


def _own(photo: Image.Image, spec: InputSpec) -> np.ndarray:
    """Cut out what the network was trained on: (1, 3, size, size)."""
    size, (width, height) = spec.size, photo.size
    match spec.own:
        case Square.CUT:
            short = min(width, height)
            sides = (size * width // short, size * height // short)
            return _cut_center(photo.resize(sides, spec.resampling), size)
        case Square.PAD:
            ratio = max(width, height) / size
            photo = photo.resize((round(width / ratio), round(height / ratio)), spec.resampling)
            square = Image.new("RGB", (size, size), (spec.fill,) * 3)
            square.paste(photo, ((size - photo.width) // 2, (size - photo.height) // 2))
            return _pixels(square)
        case Square.SQUEEZE:
            return _squeeze(photo, size, spec)
    return _center(photo, spec)


def _mirror(photo: Image.Image, spec: InputSpec) -> np.ndarray:
    """Cut out the centre of the photo and add its mirror image: (2, 3, size, size)."""
    view = _center(photo, spec)
    return np.concatenate([view, view[..., ::-1]])


def _ten(photo: Image.Image, spec: InputSpec) -> np.ndarray:
    """Cut out the corners and the centre and add their mirror images: (10, 3, size, size)."""
    photo, size = _shrink(photo, spec), spec.size
    right, below = photo.width - size, photo.height - size
    corners = [(0, 0), (right, 0), (0, below), (right, below)]
    views = []
    for side in (photo, photo.transpose(Image.Transpose.FLIP_LEFT_RIGHT)):
        views += [_cut(side, left, top, size) for left, top in corners]
        views.append(_cut_center(side, size))
    return np.concatenate(views)


def _whole(photo: Image.Image, spec: InputSpec) -> np.ndarray:
    """Squeeze the whole photo into a square: (1, 3, size, size)."""
    return _squeeze(photo, spec.size, spec)


def _corners(photo: Image.Image, spec: InputSpec) -> np.ndarray:
    """Squeeze each corner into a square: (4, 3, size, size)."""
    width, height = photo.size
    side = (spec.size, spec.size)
    views = []
    for frame in CORNERS:
        box = (frame.x0 * width, frame.y0 * height, frame.x1 * width, frame.y1 * height)
        views.append(_pixels(photo.resize(side, spec.resampling, box=box)))
    return np.concatenate(views)


def _whole_for_regions(photo: Image.Image, spec: InputSpec) -> np.ndarray:
    """Squeeze the whole photo into a larger square: (1, 3, region_size, region_size)."""
    return _squeeze(photo, spec.region_size, spec)


def _squeeze(photo: Image.Image, side: int, spec: InputSpec) -> np.ndarray:
    return _pixels(photo.resize((side, side), spec.resampling))


def _cut_center(photo: Image.Image, size: int) -> np.ndarray:
    left, top = (round((length - size) / 2) for length in photo.size)
    return _cut(photo, left, top, size)


def _cut(photo: Image.Image, left: int, top: int, size: int) -> np.ndarray:
    return _pixels(photo.crop((left, top, left + size, top + size)))


def _pixels(square: Image.Image) -> np.ndarray:
    """Return the pixels of a square, (1, 3, side, side)."""
    return np.ascontiguousarray(np.asarray(square).transpose(2, 0, 1))[None]


def _shrink(photo: Image.Image, spec: InputSpec) -> Image.Image:
    """Scale the short side of the photo to `spec.short`."""
    scale = spec.short / min(photo.size)
    width, height = (max(spec.short, round(length * scale)) for length in photo.size)
    return photo.resize((width, height), spec.resampling)


VIEWS = {  # Vendrov 2016, section 4.2, has "ten"
    "center": Crops(views=1, vectors=1, squares=1, cut=_center),
    "mirror": Crops(views=2, vectors=1, squares=2, cut=_mirror),
    "ten": Crops(views=10, vectors=1, squares=10, cut=_ten),
    "whole": Crops(views=1, vectors=1, squares=1, cut=_whole),
    "corners": Crops(views=4, vectors=1, squares=4, cut=_corners),
    "own": Crops(views=1, vectors=1, squares=1, cut=_own),
}
REGIONS = {
    "windows": Crops(views=1, vectors=21, squares=LARGER, cut=_whole_for_regions),
    "grid": Crops(views=1, vectors=145, squares=LARGER, cut=_whole_for_regions),
    "detector": Crops(views=1, vectors=MOST_REGIONS, squares=LARGER, cut=_whole_for_regions),
    "things": Crops(views=1, vectors=MOST_THINGS, squares=1, cut=_whole_for_regions),
    "found": Crops(views=1, vectors=MOST_FOUND, squares=2, cut=_whole_for_regions),
    "entities": Crops(views=1, vectors=MOST_REGIONS, squares=LARGER, cut=_whole_for_regions),
    "frame": Crops(views=1, vectors=1, squares=LARGER, cut=_whole_for_regions),
}
CROPS = VIEWS | REGIONS
