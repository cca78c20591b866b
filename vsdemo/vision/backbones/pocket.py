"""Pocket: our own small residual network, trained by `vsdemo.recipes.pocket`.

Basic blocks (He et al. 2016) with an average-pooled shortcut (He et al. 2019, ResNet-D) and, in the
last two stages, squeeze-and-excitation (Hu et al. 2018).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from PIL.Image import Resampling
from torch import Tensor, nn

from vsdemo.vision.backbones.network import OwnNetwork
from vsdemo.vision.backbones.weights import read
from vsdemo.vision.crops import IMAGENET_MEAN, IMAGENET_STD, InputSpec


class Stage(NamedTuple):
    """Blocks of one width; all but the first stage halve the map."""

    width: int
    blocks: int
    gated: bool


STEM = 32  # channels of the first convolution
STAGES = (
    Stage(width=32, blocks=2, gated=False),
    Stage(width=64, blocks=2, gated=False),
    Stage(width=160, blocks=3, gated=True),
    Stage(width=304, blocks=2, gated=True),
)
STEM_LAYERS = 4  # convolution, norm, ReLU, pooling
LAST = STEM_LAYERS + sum(stage.blocks for stage in STAGES[:-1])  # first layer of the last stage
FEATURES = 512  # channels of the last map


def _convolution(
    inputs: int, outputs: int, size: int, stride: int = 1
) -> tuple[nn.Conv2d, nn.BatchNorm2d]:
    convolution = nn.Conv2d(inputs, outputs, size, stride=stride, padding=size // 2, bias=False)
    return convolution, nn.BatchNorm2d(outputs)


class Gate(nn.Module):
    """Squeeze-and-excitation (Hu et al. 2018, Eq. 2 to 4): (B, C, h, w) -> (B, C, h, w).

    z = mean over places of x (Eq. 2)        y = x * sigmoid(W_2 relu(W_1 z))  (Eq. 3 and 4)
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = width // 4
        self.layers = nn.Sequential(
            nn.Conv2d(width, inner, 1),
            nn.ReLU(),
            nn.Conv2d(inner, width, 1),
            nn.Sigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Scale each channel by a number from 0 to 1 that depends on all places."""
        gates: Tensor = self.layers(x.mean((2, 3), keepdim=True))  # (B, C, 1, 1)
        return x * gates


class Block(nn.Module):
    """A basic block: y = relu(f(x) + shortcut(x)), f two 3 x 3 convolutions (He et al. 2016).

    Args:
        inputs: Channels of x.
        width: Channels of y.
        stride: 2 halves the map.
        gated: Whether f ends with a `Gate`.
    """

    def __init__(self, inputs: int, width: int, *, stride: int, gated: bool) -> None:
        super().__init__()
        first, first_norm = _convolution(inputs, width, 3, stride)
        second, second_norm = _convolution(width, width, 3)
        gate = Gate(width) if gated else nn.Identity()
        self.layers = nn.Sequential(first, first_norm, nn.ReLU(), second, second_norm, gate)
        self.shortcut: nn.Module = nn.Identity()
        if inputs != width or stride != 1:
            pool = nn.AvgPool2d(2, ceil_mode=True) if stride == 2 else nn.Identity()
            self.shortcut = nn.Sequential(pool, *_convolution(inputs, width, 1))
        nn.init.zeros_(second_norm.weight)  # a block starts as its shortcut

    def forward(self, x: Tensor) -> Tensor:
        """Compute (B, width, h / stride, w / stride) of x (B, inputs, h, w)."""
        return torch.relu(self.layers(x) + self.shortcut(x))


class Pocket(OwnNetwork):
    """The network: pixels (B, 3, H, W) to a vector (B, 512) and a map (B, 512, H/32, W/32).

    The vector is the mean of the map over its places.

    Args:
        path: File of weights; None for random ones.

    Raises:
        RuntimeError: If the weights belong to another network.
        SafetensorError: If the file is damaged.
    """

    spec = InputSpec(
        size=224,
        short=256,
        region_size=576,
        resampling=Resampling.BILINEAR,
        mean=IMAGENET_MEAN,
        std=IMAGENET_STD,
    )

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        layers: list[nn.Module] = [
            *_convolution(3, STEM, 3, 2),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
        ]
        inputs = STEM
        for number, stage in enumerate(STAGES):
            for block in range(stage.blocks):
                stride = 2 if number and not block else 1
                layers.append(Block(inputs, stage.width, stride=stride, gated=stage.gated))
                inputs = stage.width
        layers += [*_convolution(inputs, FEATURES, 1), nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        if path:
            self.load_state_dict(read(path))

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the vector and the last map."""
        spatial: Tensor = self.layers(pixels)
        return spatial.mean((2, 3)), spatial

    def region_map(self, pixels: Tensor) -> Tensor:
        """Compute the maps of the last two stages at the resolution of the finer one.

        The last stage knows what things are, the one before where they are. Each place of either
        map has length 1.

        Returns:
            (B, FEATURES + width of the stage before the last, H/16, W/16).
        """
        before: Tensor = self.layers[:LAST](pixels)
        last: Tensor = self.layers[LAST:](before)
        last = F.interpolate(last, before.shape[2:], mode="bilinear")
        return torch.cat([F.normalize(last, dim=1), F.normalize(before, dim=1)], 1)
