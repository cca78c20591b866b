"""The sources of a photo's regions, by the names in `crops.REGIONS`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Protocol

import torch
from PIL import Image
from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.data.datasets import entities
from vsdemo.vision import backbones
from vsdemo.vision.backbones import detectors
from vsdemo.vision.backbones.weights import Weights
from vsdemo.vision.crops import MOST_REGIONS, MOST_THINGS
from vsdemo.vision.regions import FRAME, grid, pad, windows

EASEL = "easel"  # name of the backbone that finds the things in drawings
FINDER = "finder"  # name of the one that finds regions of photos


class Proposals(Protocol):
    """Finds the regions of photos.

    Attributes:
        version: Changes whenever other boxes would be found; part of the name of cached features.
        is_network: Whether the boxes come from a network of their own, on whose weights a model
            then depends.
        by_backbone: Whether the backbone finds them while it describes them; then `find` is not
            called.
    """

    version: str
    is_network: bool
    by_backbone: bool

    def find(self, photos: Sequence[Image.Image], paths: Sequence[Path | None]) -> Tensor:
        """Find the boxes of B photos: (B, K, 4), zeros for missing ones.

        Args:
            photos: RGB.
            paths: Files of the photos, None for a photo in memory.
        """


class FixedBoxes:
    """The same boxes (K, 4) in each photo."""

    is_network = by_backbone = False

    def __init__(self, boxes: Tensor) -> None:
        self.boxes = boxes
        self.version = hashlib.sha256(boxes.numpy().tobytes()).hexdigest()[:16]

    def find(self, photos: Sequence[Image.Image], paths: Sequence[Path | None]) -> Tensor:
        """Repeat the boxes for each photo."""
        return self.boxes.expand(len(photos), *self.boxes.shape)


class DetectedBoxes:
    """The 19 most certain boxes of an object detector.

    Raises:
        UserError: If no detector is available.
    """

    is_network, by_backbone = True, False

    def __init__(self) -> None:
        self.weights = detectors.find_weights()
        self.version = self.weights.hash

    def find(self, photos: Sequence[Image.Image], paths: Sequence[Path | None]) -> Tensor:
        """Run the detector."""
        return _detector(self.weights).boxes(photos)


class FoundThings:
    """The 12 most certain things that the network Easel finds in a drawing.

    Raises:
        UserError: If its weights are not available.
    """

    is_network, by_backbone = True, False

    def __init__(self) -> None:
        self.weights = backbones.find_weights(EASEL)
        self.version = self.weights.hash

    def find(self, photos: Sequence[Image.Image], paths: Sequence[Path | None]) -> Tensor:
        """Run the network on the whole photos."""
        network = backbones.load_backbone(self.weights)
        views = torch.cat([network.views(photo, "things") for photo in photos])
        return torch.stack([pad(boxes.tolist(), MOST_THINGS) for boxes in network.find(views)])


class OwnBoxes:
    """The boxes that the backbone finds, see `Network.find_and_describe`."""

    is_network, by_backbone = False, True
    version = "own"

    def find(self, photos: Sequence[Image.Image], paths: Sequence[Path | None]) -> Tensor:
        """Raise an error, as the backbone finds them."""
        raise NotImplementedError


class DrawnBoxes:
    """The boxes that people drew (Flickr30k Entities), for analysis."""

    is_network = by_backbone = False
    version = "drawn"

    def find(self, photos: Sequence[Image.Image], paths: Sequence[Path | None]) -> Tensor:
        """Read the annotations. Raises UserError for a photo without any."""
        return torch.stack([_drawn(path) for path in paths])


PROPOSALS: dict[str, Callable[[], Proposals]] = {
    "windows": lambda: FixedBoxes(windows()),
    "grid": lambda: FixedBoxes(grid()),
    "detector": DetectedBoxes,
    "things": FoundThings,
    "found": OwnBoxes,
    "entities": DrawnBoxes,
    "frame": lambda: FixedBoxes(torch.tensor([FRAME])),
}
NETWORKS: dict[
    str, Callable[[], bool]
] = {  # name -> whether the network that it needs is available
    "detector": detectors.is_available,
    "things": partial(backbones.is_available, EASEL),
    "found": partial(backbones.is_available, FINDER),
}


def is_available(name: str) -> bool:
    """Return whether regions or views can be computed without downloading a network."""
    return name not in NETWORKS or NETWORKS[name]()


@cache
def _detector(weights: Weights) -> detectors.Detector:
    """Load a detector once per process."""
    return detectors.Detector(weights)


def _drawn(path: Path | None) -> Tensor:
    if path is None:
        raise UserError(
            "Boxes drawn by people exist for the photos of Flickr8k only; "
            "choose a model with other regions for this photo."
        )
    return pad(entities.boxes(path), MOST_REGIONS)
