"""Pocket: our own small residual network, trained by `vsdemo.recipes.pocket`.

Basic blocks (He 2016) with an average-pooled shortcut (He 2019, ResNet-D) and, in the last two
stages, squeeze-and-excitation (Hu 2018); the last map has FEATURES channels.
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from PIL.Image import Resampling
from safetensors.torch import load_file
from torch import Tensor, nn

from vsdemo.vision.backbones.classifier import IMAGENET

STEM = 32
STAGES = ((32, 2, False), (64, 2, False), (160, 3, True), (304, 2, True))  # width, blocks, gated
LAST = 4 + sum(blocks for _, blocks, _ in STAGES[:-1])  # number of the last stage's first layer
FEATURES = 512


def _convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)
    return [convolution, nn.BatchNorm2d(outputs)]


class Gate(nn.Module):
    """Squeeze-and-excitation: each channel times a number from 0 to 1 that all places decide."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = width // 4
        self.layers = nn.Sequential(
            *(nn.Conv2d(width, inner, 1), nn.ReLU(), nn.Conv2d(inner, width, 1), nn.Sigmoid())
        )

    def forward(self, x: Tensor) -> Tensor:
        return x * self.layers(x.mean((2, 3), keepdim=True))  # (B, C, h, w)


class Block(nn.Module):
    """x -> relu(f(x) + shortcut(x)), f two 3 x 3 convolutions."""

    def __init__(self, inputs: int, width: int, stride: int, gated: bool) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *_convolution(inputs, width, 3, stride),
            nn.ReLU(),
            *_convolution(width, width, 3),
            Gate(width) if gated else nn.Identity(),
        )
        pool = nn.AvgPool2d(2, ceil_mode=True) if stride == 2 else nn.Identity()
        same = inputs == width and stride == 1
        self.shortcut = (
            nn.Identity() if same else nn.Sequential(pool, *_convolution(inputs, width, 1))
        )
        nn.init.zeros_(self.layers[4].weight)  # a block begins as its shortcut

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.layers(x) + self.shortcut(x))


class Pocket(nn.Module):
    """Pixels (B, 3, H, W) -> vector (B, FEATURES), last map (B, FEATURES, H/32, W/32).

    Without a path the weights are random. Raises RuntimeError or SafetensorError for a file of
    weights that does not fit or is damaged.
    """

    size, short, resampling, mean_std = 224, 256, Resampling.BILINEAR, IMAGENET
    large = 576  # the side of a photo whose regions are wanted

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        layers = [*_convolution(3, STEM, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
        inputs = STEM
        for stage, (width, blocks, gated) in enumerate(STAGES):
            for block in range(blocks):
                stride = 2 if stage and not block else 1
                layers.append(Block(inputs, width, stride, gated))
                inputs = width
        self.layers = nn.Sequential(*layers, *_convolution(inputs, FEATURES, 1), nn.ReLU())
        if path:
            self.load_state_dict({k: t.float() for k, t in load_file(path).items()})

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        spatial = self.layers(pixels)
        return spatial.mean((2, 3)), spatial

    def fine(self, pixels: Tensor) -> Tensor:
        """The maps of the last two stages, each place of length 1, on the finer one's places:
        (B, FEATURES + width, h, w). The last knows what things are, the one before where."""
        before = self.layers[:LAST](pixels)
        last = F.interpolate(self.layers[LAST:](before), before.shape[2:], mode="bilinear")
        return torch.cat([F.normalize(last, dim=1), F.normalize(before, dim=1)], 1)
