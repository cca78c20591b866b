"""What finds the regions of photos, by one of the names in `regions.REGIONS`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.data.datasets import entities
from vsdemo.vision.backbones import Weights, detectors
from vsdemo.vision.regions import FIXED, REGIONS, padded

# Photos and where they lie, None for one in memory -> boxes (B, K, 4), zeros for none.
Finder = Callable[[Sequence[Image.Image], Sequence[Path | None]], Tensor]


class Proposals:
    """Finds boxes; `version` changes whenever it would find others.

    Raises UserError when what is needed for it is not here.
    """

    def __init__(self, kind: str) -> None:
        if kind in FIXED:
            boxes = FIXED[kind]()
            self.version = hashlib.sha256(boxes.numpy().tobytes()).hexdigest()[:16]
            self.find: Finder = lambda photos, paths: boxes.expand(len(photos), *boxes.shape)
        elif kind == "detector":
            found = detectors.find()
            self.version = found.hash
            self.find = lambda photos, paths: _detector(found).boxes(photos)
        else:
            self.version = "drawn"
            self.find = lambda photos, paths: torch.stack([_drawn(path) for path in paths])


@cache
def _detector(weights: Weights) -> detectors.Detector:
    """The network, built once a process."""
    return detectors.Detector(weights)


def _drawn(path: Path | None) -> Tensor:
    """The boxes that people drew."""
    if path is None:
        raise UserError("Boxes drawn by people are known for photos of Flickr8k only.")
    return padded(entities.boxes(path), REGIONS["entities"])
