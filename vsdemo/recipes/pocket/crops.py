"""Random crops of photos, and the matching parts of the teacher's maps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
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


def crop_maps(maps: Tensor, boxes: Tensor, cells: int) -> Tensor:
    """Return the boxes (B, 4) of maps (B, K, h, w), averaged to (B, K, cells, cells)."""
    fine = 2 * cells  # two samples a side of each cell
    steps = (torch.arange(fine) + 0.5) / fine
    across = boxes[:, :1] + boxes[:, 2:3] * steps  # (B, fine), fractions of the photo
    down = boxes[:, 1:2] + boxes[:, 3:] * steps
    columns = across[:, None, :].expand(-1, fine, -1)
    rows = down[:, :, None].expand(-1, -1, fine)
    grid = 2 * torch.stack([columns, rows], -1) - 1  # (B, fine, fine, 2)
    samples = F.grid_sample(maps.float(), grid, padding_mode="border", align_corners=False)
    return F.avg_pool2d(samples, 2)


def jitter_colors(pixels: Tensor, strength: Tensor, generator: torch.Generator) -> Tensor:
    """Return pixels (B, 3, H, W) from 0 to 1 with random brightness, contrast and saturation.

    Some crops lose all color.

    Args:
        pixels: The crops.
        strength: How much to change each crop, from 0 to 1, (B,).
        generator: The source of randomness.
    """
    count, strength = len(pixels), strength[:, None, None, None]

    def factor() -> Tensor:
        return 1 + JITTER * strength * (2 * torch.rand(count, 1, 1, 1, generator=generator) - 1)

    weights = pixels.new_tensor([0.299, 0.587, 0.114])[:, None, None]
    saturation = factor()
    saturation *= torch.rand(count, 1, 1, 1, generator=generator) >= GRAY * strength
    gray = (pixels * weights).sum(1, keepdim=True)
    pixels = gray + saturation * (pixels - gray)
    mean = gray.mean((2, 3), keepdim=True)
    return (factor() * (mean + factor() * (pixels - mean))).clamp(0, 1)
