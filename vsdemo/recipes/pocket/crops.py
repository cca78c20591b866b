"""Random crops of photos, and changes to their pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torchvision.transforms import v2

ASPECT = (3 / 4, 4 / 3)  # width / height of a crop
JITTER = 0.4  # largest relative change of brightness, contrast and saturation
GRAY = 0.06  # fraction of crops without color


def random_boxes(
    sizes: Sequence[tuple[int, int]], min_area: Tensor, generator: torch.Generator
) -> Tensor:
    """Return random boxes (B, 4): left, top, width and height as fractions of the photo.

    Args:
        sizes: Height and width of each photo.
        min_area: The smallest fraction of each photo's area, (B,).
        generator: The source of randomness.
    """
    heights, widths = torch.tensor(sizes, dtype=torch.float32).T
    share = min_area + (1 - min_area) * torch.rand(len(sizes), generator=generator)
    area = heights * widths * share
    least, most = map(math.log, ASPECT)
    aspect = (least + (most - least) * torch.rand(len(sizes), generator=generator)).exp()
    width = (area * aspect).sqrt().min(widths) / widths
    height = (area / aspect).sqrt().min(heights) / heights
    left = (1 - width) * torch.rand(len(sizes), generator=generator)
    top = (1 - height) * torch.rand(len(sizes), generator=generator)
    return torch.stack([left, top, width, height], 1)


def crop(photo: Tensor, box: Tensor, size: int) -> Tensor:
    """Return the box of a photo (3, h, w), uint8, scaled to (3, size, size)."""
    photo_height, photo_width = photo.shape[1:]
    left, top, width, height = box.tolist()
    return v2.functional.resized_crop(
        photo,
        top=round(top * photo_height),
        left=round(left * photo_width),
        height=max(1, round(height * photo_height)),
        width=max(1, round(width * photo_width)),
        size=[size, size],
    )


def jitter_colors(pixels: Tensor, strength: Tensor, generator: torch.Generator) -> Tensor:
    """Return pixels (B, 3, H, W) from 0 to 1 with random brightness, contrast and saturation.

    Some crops lose all color.

    Args:
        pixels: The crops.
        strength: How much to change each crop, from 0 to 1, (B,).
        generator: The source of randomness.
    """
    count, strength = len(pixels), strength[:, None, None, None]

    def draw() -> Tensor:
        return torch.rand(count, 1, 1, 1, generator=generator)

    def factor() -> Tensor:
        return (1 + JITTER * strength * (2 * draw() - 1)).to(pixels)

    weights = pixels.new_tensor([0.299, 0.587, 0.114])[:, None, None]
    saturation = factor()
    saturation *= (draw() >= GRAY * strength).to(pixels)
    gray = (pixels * weights).sum(1, keepdim=True)
    pixels = gray + saturation * (pixels - gray)
    mean = gray.mean((2, 3), keepdim=True)
    return (factor() * (mean + factor() * (pixels - mean))).clamp(0, 1)


def mix(pixels: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Blend the first `count` of some crops (B, 3, H, W) with one another, 50 to 100% of each."""
    share = (0.5 + 0.5 * torch.rand(count, 1, 1, 1, generator=generator)).to(pixels)
    first = pixels[:count]
    return torch.cat([share * first + (1 - share) * first.roll(1, 0), pixels[count:]])
