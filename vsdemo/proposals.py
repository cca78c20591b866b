"""What finds the regions of photos, by one of the names in `regions.REGIONS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor

from vsdemo.data import entities
from vsdemo.regions import FIXED, REGIONS, padded
from vsdemo.types import UserError

# Photos and where they lie, None for one in memory -> boxes (B, K, 4), zeros for none.
Proposals = Callable[[Sequence[Image.Image], Sequence[Path | None]], Tensor]


def proposals(kind: str) -> Proposals:
    """Raises UserError when what finds them is not here."""
    if kind in FIXED:
        boxes = FIXED[kind]()
        return lambda photos, paths: boxes.expand(len(photos), *boxes.shape)
    if kind == "detector":
        from vsdemo.backbones.detectors import load  # torchvision takes seconds to import

        detector = load()
        return lambda photos, paths: detector.boxes(photos)
    return lambda photos, paths: torch.stack([_drawn(path) for path in paths])


def _drawn(path: Path | None) -> Tensor:
    """The boxes that people drew."""
    if path is None:
        raise UserError("Boxes drawn by people are known for photos of Flickr8k only.")
    return padded(entities.boxes(path), REGIONS["entities"])
