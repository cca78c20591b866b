"""The registry of the ways to look at a photo: the values of the setting `crops`.

Views show the photo, or squares cut out of it, and give one vector a photo, the mean over the
views. Regions give one vector for each box of the photo, see `vsdemo.vision.proposals`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vsdemo.vision.regions import MOST

if TYPE_CHECKING:
    from PIL import Image
    from torch import Tensor

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class InputSpec:
    """What a network expects its input to be.

    Attributes:
        size: Side of the square that it reads, in pixels.
        short: Short side of the photo before a square is cut out, in pixels.
        region_size: Side of the square when regions are wanted, so that the map has more places.
        resampling: PIL's filter for resizing.
        mean: Of red, green and blue, to be subtracted; pixels are from 0 to 1.
        std: Of red, green and blue, to divide by.
        prepare: The network's own way to a square of `size`; None for its centre.
    """

    size: int
    short: int
    region_size: int
    resampling: Image.Resampling
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    prepare: Callable[[Image.Image], Image.Image] | None = None


Cut = Callable[["Image.Image", InputSpec], "Tensor"]


@dataclass(frozen=True)
class Crops:
    """One way to look at a photo.

    Attributes:
        views: Squares that the backbone reads for each photo.
        vectors: Feature vectors kept for each photo: 1, or one for each region.
        cut: Cuts the squares out of an RGB photo: uint8, (views, 3, side, side).
    """

    views: int
    vectors: int
    cut: Cut


def _center(photo: Image.Image, spec: InputSpec) -> Tensor:
    """Cut out the centre of the photo: (1, 3, size, size)."""
    from torchvision.transforms.v2 import functional  # takes seconds to import

    image = functional.pil_to_tensor(_shrink(photo, spec))
    return functional.center_crop(image, [spec.size, spec.size])[None]


def _own(photo: Image.Image, spec: InputSpec) -> Tensor:
    """Cut out what the network was trained on: (1, 3, size, size)."""
    if spec.prepare is None:
        return _center(photo, spec)
    return _to_tensor(spec.prepare(photo))


def _mirror(photo: Image.Image, spec: InputSpec) -> Tensor:
    """Cut out the centre of the photo and add its mirror image: (2, 3, size, size)."""
    import torch

    view = _center(photo, spec)
    return torch.cat([view, view.flip(-1)])


def _ten(photo: Image.Image, spec: InputSpec) -> Tensor:
    """Cut out the corners and the centre and add their mirror images: (10, 3, size, size)."""
    import torch
    from torchvision.transforms.v2 import functional

    image = functional.pil_to_tensor(_shrink(photo, spec))
    return torch.stack(functional.ten_crop(image, [spec.size, spec.size]))


def _whole(photo: Image.Image, spec: InputSpec) -> Tensor:
    """Squeeze the whole photo into a square: (1, 3, size, size)."""
    return _squeeze(photo, spec.size, spec)


def _whole_for_regions(photo: Image.Image, spec: InputSpec) -> Tensor:
    """Squeeze the whole photo into a larger square: (1, 3, region_size, region_size)."""
    return _squeeze(photo, spec.region_size, spec)


def _squeeze(photo: Image.Image, side: int, spec: InputSpec) -> Tensor:
    return _to_tensor(photo.resize((side, side), spec.resampling))


def _to_tensor(photo: Image.Image) -> Tensor:
    """Return the pixels of a square, (1, 3, side, side)."""
    import numpy as np
    import torch

    # Without torchvision, which takes seconds to import and which Pocket does not need.
    return torch.from_numpy(np.array(photo)).permute(2, 0, 1).contiguous()[None]


def _shrink(photo: Image.Image, spec: InputSpec) -> Image.Image:
    """Scale the short side of the photo to `spec.short`."""
    scale = spec.short / min(photo.size)
    width, height = (max(spec.short, round(length * scale)) for length in photo.size)
    return photo.resize((width, height), spec.resampling)


VIEWS = {  # Vendrov 2016, section 4.2, has "ten"
    "center": Crops(views=1, vectors=1, cut=_center),
    "mirror": Crops(views=2, vectors=1, cut=_mirror),
    "ten": Crops(views=10, vectors=1, cut=_ten),
    "whole": Crops(views=1, vectors=1, cut=_whole),
    "own": Crops(views=1, vectors=1, cut=_own),
}
REGIONS = {
    "windows": Crops(views=1, vectors=21, cut=_whole_for_regions),
    "grid": Crops(views=1, vectors=145, cut=_whole_for_regions),
    "detector": Crops(views=1, vectors=MOST, cut=_whole_for_regions),
    "entities": Crops(views=1, vectors=MOST, cut=_whole_for_regions),
}
CROPS = VIEWS | REGIONS
