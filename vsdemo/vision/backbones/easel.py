"""Easel: our own network for the drawings of Storybook, trained by `vsdemo.recipes.easel`.

A pyramid of maps (Lin et al. 2017) finds things by their centres, whatever they are, as CenterNet
does (Zhou et al. 2019), and describes each by what the maps show at its centre.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from PIL.Image import Resampling
from torch import Tensor, nn

from vsdemo.vision.backbones.network import OwnNetwork
from vsdemo.vision.backbones.weights import read
from vsdemo.vision.crops import InputSpec
from vsdemo.vision.regions import FRAME, LEAST

SIDE = 288  # of the square that a whole picture is squeezed into, in pixels
STRIDE = 4  # pixels between the places of the finest map
FINE, MIDDLE, COARSE = 32, 64, 128  # channels of the maps at 4, 8 and 16 pixels
HIDDEN = 256
FEATURES = 192  # length of a description
THINGS = 12  # in a picture, at most
RARE = -4.0  # initial logit of a centre
CERTAIN = 0.25  # least probability of a centre
WAVES = 8  # frequencies that encode the place of a box


class Maps(NamedTuple):
    """What a picture shows at several scales: (B, C, h, w) each.

    Attributes:
        coarse: One place per 16 pixels.
        middle: One place per 8 pixels, with information from the coarse map.
        fine: One place per 4 pixels, with information from the other maps.
    """

    coarse: Tensor
    middle: Tensor
    fine: Tensor


def _layer(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Sequential:
    padding = 0 if stride == size else size // 2
    convolution = nn.Conv2d(inputs, outputs, size, stride=stride, padding=padding, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


class Block(nn.Module):
    """A basic block: y = relu(x + f(x)), f two 3 x 3 convolutions (He et al. 2016)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        last = nn.BatchNorm2d(width)
        nn.init.zeros_(last.weight)  # a block starts as its shortcut
        self.layers = nn.Sequential(
            *_layer(width, width, 3), nn.Conv2d(width, width, 3, padding=1, bias=False), last
        )

    def forward(self, x: Tensor) -> Tensor:
        """Compute (B, width, h, w) of x (B, width, h, w)."""
        return torch.relu(x + self.layers(x))


class Easel(OwnNetwork):
    """The network: pixels (B, 3, H, W) to a vector (B, FEATURES) and a map (B, MIDDLE, H/8, W/8).

    The vector describes the whole picture: setting, time and weather.

    Args:
        path: File of weights; None for random ones.

    Raises:
        RuntimeError: If the weights belong to another network.
        SafetensorError: If the file is damaged.
    """

    spec = InputSpec(
        size=SIDE,
        short=SIDE,
        region_size=SIDE,
        resampling=Resampling.BILINEAR,
        mean=(0.5, 0.5, 0.5),
        std=(0.25, 0.25, 0.25),
    )
    rectified = False

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        self.to_fine = nn.Sequential(_layer(3, FINE, 4, 4), _layer(FINE, FINE, 3))
        self.to_middle = nn.Sequential(_layer(FINE, MIDDLE, 2, 2), Block(MIDDLE), Block(MIDDLE))
        self.to_coarse = nn.Sequential(_layer(MIDDLE, COARSE, 2, 2), Block(COARSE))
        self.coarse_to_middle = nn.Conv2d(COARSE, MIDDLE, 1)
        self.beside_middle = nn.Conv2d(MIDDLE, MIDDLE, 1)
        self.middle = _layer(MIDDLE, MIDDLE, 3)
        self.middle_to_fine = nn.Conv2d(MIDDLE, FINE, 1)
        self.beside_fine = nn.Conv2d(FINE, FINE, 1)
        self.fine = _layer(FINE, FINE, 3)
        self.centres = nn.Conv2d(FINE, 1, 1)
        self.boxes = nn.Conv2d(FINE, 4, 1)
        self.centres.register_parameter("bias", nn.Parameter(torch.tensor([RARE])))
        self.thing = _description(COARSE + MIDDLE + FINE)
        self.whole = _description(2 * COARSE)
        if path:
            self.load_state_dict(read(path))

    def maps(self, pixels: Tensor) -> Maps:
        """Compute the maps of pixels (B, 3, H, W)."""
        fine = self.to_fine(pixels)
        middle = self.to_middle(fine)
        coarse = self.to_coarse(middle)
        middle = self.middle(self.beside_middle(middle) + _larger(self.coarse_to_middle(coarse)))
        fine = self.fine(self.beside_fine(fine) + _larger(self.middle_to_fine(middle)))
        return Maps(coarse, middle, fine)

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the vector and the middle map."""
        maps = self.maps(pixels)
        return self.describe_whole(maps), maps.middle

    def describe_whole(self, maps: Maps) -> Tensor:
        """Describe whole pictures: (B, FEATURES)."""
        coarse = maps.coarse
        vector: Tensor = self.whole(torch.cat([coarse.mean((2, 3)), coarse.amax((2, 3))], 1))
        return vector

    def describe_things(self, maps: Maps, centres: Tensor) -> Tensor:
        """Describe what is at centres (B, K, 2), x and y as fractions: (B, K, FEATURES)."""
        places = centres[:, :, None] * 2 - 1  # (B, K, 1, 2), from -1 to 1
        shown = [
            F.grid_sample(scale, places, align_corners=False, padding_mode="border")[..., 0]
            for scale in maps
        ]
        things: Tensor = self.thing(torch.cat(shown, 1).transpose(1, 2))
        return things

    def describe(self, pixels: Tensor, boxes: Tensor) -> Tensor:
        """Describe each box by what is at its centre, and by its place.

        Args:
            pixels: (N, 3, H, W).
            boxes: (N, K, 4), as fractions; the whole frame is described as a whole.

        Returns:
            (N, K, FEATURES + 64): a vector of length sqrt(FEATURES), then `waves` of the box.
        """
        maps = self.maps(pixels)
        centres, sides = (boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]
        things = self.describe_things(maps, centres)
        is_frame = (boxes == boxes.new_tensor(FRAME)).all(-1, keepdim=True)
        vectors = torch.where(is_frame, self.describe_whole(maps)[:, None], things)
        vectors = F.normalize(vectors, dim=-1) * math.sqrt(FEATURES)
        return torch.cat([vectors, waves(torch.cat([centres, sides], -1)).to(vectors)], -1)

    def find(self, pixels: Tensor) -> list[Tensor]:
        """Find the things in pictures (B, 3, H, W), the most certain first.

        A centre is a peak of the map of centres with a probability above CERTAIN. Boxes are clipped
        to the picture; those outside it are dropped.

        Returns:
            For each picture boxes (at most THINGS, 4), as fractions.
        """
        fine = self.maps(pixels).fine.float()
        # In bfloat16 neighbours would tie, and places be off by half a place.
        with torch.autocast(fine.device.type, enabled=False):
            certain = self.centres(fine).sigmoid()[:, 0]  # (B, h, w)
            boxes = self.decode(self.boxes(fine))  # (B, h, w, 4)
        peaks = F.max_pool2d(certain[:, None], 3, stride=1, padding=1)[:, 0] == certain
        result = []
        for chances, places in zip(certain.where(peaks, 0.0), boxes, strict=True):
            best = chances.flatten().topk(THINGS)
            kept = places.flatten(0, 1)[best.indices[best.values > CERTAIN]].clamp(0, 1)
            result.append(kept[((kept[:, 2:] - kept[:, :2]) > LEAST).all(1)])
        return result

    @staticmethod
    def decode(shifts: Tensor) -> Tensor:
        """Return the boxes at all places, as fractions.

            x, y = (place + 1/2 + shift) / size of the map        width, height = exp(shift) / size

        Args:
            shifts: Output of `boxes`, (B, 4, h, w).

        Returns:
            (B, h, w, 4), left, top, right, bottom.
        """
        height, width = shifts.shape[2:]
        rows, columns = torch.meshgrid(
            torch.arange(height).to(shifts), torch.arange(width).to(shifts), indexing="ij"
        )
        size = shifts.new_tensor([width, height])
        places = torch.stack([columns, rows], -1) + 0.5  # (h, w, 2)
        shifts = shifts.permute(0, 2, 3, 1)
        centres = (places + shifts[..., :2]) / size
        half = shifts[..., 2:].exp() / size / 2
        return torch.cat([centres - half, centres + half], -1)


def waves(x: Tensor) -> Tensor:
    """Encode fractions x (..., 4) as sin and cos of 2^n pi x / 2 for n < WAVES: (..., 64)."""
    angles = x[..., None] * (2.0 ** torch.arange(WAVES, device=x.device) * math.pi / 2)
    return torch.cat([angles.sin(), angles.cos()], -1).flatten(-2)


def _description(inputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, FEATURES))


def _larger(x: Tensor) -> Tensor:
    return F.interpolate(x, scale_factor=2.0)
