"""Random crops of photos and, of the teacher's maps, what it sees in them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor
from torchvision.transforms import v2

ASPECT = (3 / 4, 4 / 3)  # width by height of a crop
JITTER = 0.4  # largest change of brightness, contrast and saturation, as a share
GREY = 0.06  # share of crops without colour


def boxes(sizes: Sequence[tuple[int, int]], smallest: Tensor, draw: torch.Generator) -> Tensor:
    """Random boxes (B, 4) in photos of these heights and widths: left, top, width, height as
    shares of the photo. smallest: (B,) the least share of the photo's area."""
    heights, widths = torch.tensor(sizes, dtype=torch.float32).T
    area = heights * widths * (smallest + (1 - smallest) * torch.rand(len(sizes), generator=draw))
    least, most = map(math.log, ASPECT)
    aspect = (least + (most - least) * torch.rand(len(sizes), generator=draw)).exp()
    width = (area * aspect).sqrt().min(widths) / widths
    height = (area / aspect).sqrt().min(heights) / heights
    left = (1 - width) * torch.rand(len(sizes), generator=draw)
    top = (1 - height) * torch.rand(len(sizes), generator=draw)
    return torch.stack([left, top, width, height], 1)


def cut(photo: Tensor, box: Tensor, size: int) -> Tensor:
    """The box of a photo (3, h, w), uint8, scaled to (3, size, size)."""
    high, wide = photo.shape[1:]
    left, top, width, height = box.tolist()
    return v2.functional.resized_crop(
        photo,
        *(round(top * high), round(left * wide)),
        *(max(1, round(height * high)), max(1, round(width * wide))),
        [size, size],
    )


def target(maps: Tensor, box: Tensor, places: int) -> Tensor:
    """The part of maps (B, K, h, w) below each box (B, 4), averaged to (B, K, places, places)."""
    fine = 2 * places  # two samples a side of each place
    steps = (torch.arange(fine) + 0.5) / fine
    across = box[:, :1] + box[:, 2:3] * steps  # (B, fine), shares of the photo
    down = box[:, 1:2] + box[:, 3:] * steps
    where = torch.stack(
        [across[:, None, :].expand(-1, fine, -1), down[:, :, None].expand(-1, -1, fine)], -1
    )
    seen = F.grid_sample(maps.float(), 2 * where - 1, padding_mode="border", align_corners=False)
    return F.avg_pool2d(seen, 2)


def jittered(pixels: Tensor, strength: Tensor, draw: torch.Generator) -> Tensor:
    """Pixels (B, 3, H, W) from 0 to 1 with other brightness, contrast and saturation; some lose
    all colour. strength: (B,) from 0 to 1."""
    count, strength = len(pixels), strength[:, None, None, None]

    def factor() -> Tensor:
        return 1 + JITTER * strength * (2 * torch.rand(count, 1, 1, 1, generator=draw) - 1)

    weights = pixels.new_tensor([0.299, 0.587, 0.114])[:, None, None]
    saturation = factor() * (torch.rand(count, 1, 1, 1, generator=draw) >= GREY * strength)
    grey = (pixels * weights).sum(1, keepdim=True)
    pixels = grey + saturation * (pixels - grey)
    mean = grey.mean((2, 3), keepdim=True)
    return (factor() * (mean + factor() * (pixels - mean))).clamp(0, 1)
