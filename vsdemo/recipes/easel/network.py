"""Easel with the linear layers that name what it describes; only its training uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from vsdemo.recipes.easel.labels import Classes, thing_classes, whole_classes
from vsdemo.vision.backbones.easel import FEATURES, Easel


class Prediction(NamedTuple):
    """What a network says about B pictures, with K given centres in each.

    Attributes:
        centres: Logits of a centre at each place, (B, h, w).
        shifts: Shifts of the boxes at each place, (B, 4, h, w); see `Easel.decode`.
        things: Label of a thing -> logits of its classes, (B, K, C).
        wholes: Label of a whole picture -> logits of its classes, (B, C).
    """

    centres: Tensor
    shifts: Tensor
    things: dict[str, Tensor]
    wholes: dict[str, Tensor]


class EaselWithHeads(nn.Module):
    """Easel, and a linear layer for each label.

    Attributes:
        net: The network, which ships without the layers.
    """

    def __init__(self) -> None:
        super().__init__()
        self.net = Easel()
        self.of_things = _heads(thing_classes())
        self.of_wholes = _heads(whole_classes())

    def forward(self, pixels: Tensor, centres: Tensor) -> Prediction:
        """Predict what is in pictures.

        Args:
            pixels: (B, 3, H, W), from 0 to 255.
            centres: Centres of things, as fractions, (B, K, 2).
        """
        maps = self.net.maps(self.scale(pixels))
        things = self.net.describe_things(maps, centres)
        wholes = self.net.describe_whole(maps)
        return Prediction(
            centres=self.net.centres(maps.fine)[:, 0],
            shifts=self.net.boxes(maps.fine),
            things={label: head(things) for label, head in self.of_things.items()},
            wholes={label: head(wholes) for label, head in self.of_wholes.items()},
        )

    if TYPE_CHECKING:

        def __call__(self, pixels: Tensor, centres: Tensor) -> Prediction:
            """Run `forward`."""

    def find(self, pixels: Tensor) -> list[Tensor]:
        """Find the things in pictures (B, 3, H, W), from 0 to 255; see `Easel.find`."""
        return self.net.find(self.scale(pixels))

    def scale(self, pixels: Tensor) -> Tensor:
        """Return pixels from 0 to 255 as the network expects them."""
        spec = self.net.spec
        mean, std = (
            torch.tensor(values, device=pixels.device)[:, None, None]
            for values in (spec.mean, spec.std)
        )
        scaled = (pixels.float() / 255 - mean) / std
        return scaled.contiguous(memory_format=torch.channels_last)


def _heads(classes: Classes) -> nn.ModuleDict:
    return nn.ModuleDict(
        {label: nn.Linear(FEATURES, len(values)) for label, values in classes.items()}
    )
