"""Pocket: our own small densely connected network, trained by `vsdemo.recipes.pocket`.

It is a narrow DenseNet (Huang et al. 2017): each layer reads the maps of all layers before it in
its block, through a bottleneck, and adds a few channels.
"""

from __future__ import annotations

from itertools import zip_longest
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
    """A block of layers at one resolution, half that of the block before.

    Attributes:
        inputs: Channels that the block starts with.
        layers: How many layers it has.
        bottleneck: Channels within a layer.
    """

    inputs: int
    layers: int
    bottleneck: int


GROWTH = 32  # channels that a layer adds
STAGES = (
    Stage(inputs=64, layers=4, bottleneck=64),
    Stage(inputs=128, layers=8, bottleneck=64),
    Stage(inputs=256, layers=18, bottleneck=96),
    Stage(inputs=512, layers=14, bottleneck=96),
)
FEATURES = 512  # channels of the last map


class DenseLayer(nn.Module):
    """A layer that adds GROWTH channels to a map x (Huang et al. 2017, DenseNet-BC).

    H(x) = C_3 relu(N C_1 relu(N x))        y = [x, H(x)]

    with C_k a k x k convolution and N a batch norm.

    Args:
        inputs: Channels of x.
        bottleneck: Channels between the two convolutions.
    """

    def __init__(self, inputs: int, bottleneck: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(inputs)
        self.reduce = nn.Conv2d(inputs, bottleneck, 1, bias=False)
        self.reduced_norm = nn.BatchNorm2d(bottleneck)
        self.grow = nn.Conv2d(bottleneck, GROWTH, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Compute (B, inputs + GROWTH, h, w) of x (B, inputs, h, w)."""
        reduced = self.reduced_norm(self.reduce(F.relu(self.norm(x), inplace=True)))
        return torch.cat([x, self.grow(F.relu(reduced, inplace=True))], 1)


class Transition(nn.Sequential):
    """The end of a block, before its map is halved: C_1 relu(N x), (B, outputs, h, w)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(
            nn.BatchNorm2d(inputs), nn.ReLU(), nn.Conv2d(inputs, outputs, 1, bias=False)
        )


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
        size=160,
        short=184,
        region_size=416,
        resampling=Resampling.BILINEAR,
        mean=IMAGENET_MEAN,
        std=IMAGENET_STD,
    )

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        channels = STAGES[0].inputs
        self.stem = nn.Sequential(
            nn.Conv2d(3, channels, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        self.blocks, self.transitions = nn.ModuleList(), nn.ModuleList()
        for stage, following in zip_longest(STAGES, STAGES[1:]):
            block = nn.Sequential()
            channels = stage.inputs
            for _ in range(stage.layers):
                block.append(DenseLayer(channels, stage.bottleneck))
                channels += GROWTH
            self.blocks.append(block)
            if following:
                self.transitions.append(Transition(channels, following.inputs))
        self.last = nn.Sequential(
            *Transition(channels, FEATURES), nn.BatchNorm2d(FEATURES), nn.ReLU()
        )
        if path:
            self.load_state_dict(read(path))

    def _before_last(self, pixels: Tensor) -> Tensor:
        """Compute the map that the last block reads, before it is halved: (B, C, H/16, W/16)."""
        x = self.blocks[0](self.stem(pixels))
        for transition, block in zip(self.transitions[:-1], self.blocks[1:-1], strict=True):
            x = block(F.avg_pool2d(transition(x), 2))
        before: Tensor = self.transitions[-1](x)
        return before

    def _last(self, before: Tensor) -> Tensor:
        """Compute the last map (B, FEATURES, h / 2, w / 2) of the one before (B, C, h, w)."""
        last: Tensor = self.last(self.blocks[-1](F.avg_pool2d(before, 2)))
        return last

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the vector and the last map."""
        spatial = self._last(self._before_last(pixels))
        return spatial.mean((2, 3)), spatial

    def split(self) -> tuple[nn.Module, nn.Module]:
        """Split the network before its last block."""
        layers: list[nn.Module] = [self.stem]
        for block, transition in zip(self.blocks, self.transitions, strict=False):
            layers += [block, transition, nn.AvgPool2d(2)]
        return nn.Sequential(*layers), nn.Sequential(self.blocks[-1], self.last)

    def region_map(self, pixels: Tensor) -> Tensor:
        """Compute the map of the last block and that before it at the latter's resolution.

        The last block knows what things are, the one before where they are. Each place of either
        map has length 1.

        Returns:
            (B, FEATURES + channels of the map before the last, H/16, W/16).
        """
        before = self._before_last(pixels)
        last = F.interpolate(self._last(before), before.shape[2:], mode="bilinear")
        return torch.cat([F.normalize(last, dim=1), F.normalize(before, dim=1)], 1)
