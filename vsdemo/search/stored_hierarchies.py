"""Hierarchies that ship with a checkpoint, so that the map of a gallery is there at once.

A file holds where the items lie on the map and what the order compares of the photos, in 8 bits.
The texts are encoded when it is read. Their captions are in the file only where the data set is
generated; those of others come from the data set itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open

from vsdemo.core import checksums, tensors
from vsdemo.core.errors import UserError
from vsdemo.core.progress import Progress
from vsdemo.data import datasets
from vsdemo.hierarchy import projection
from vsdemo.hierarchy.map_content import map_items
from vsdemo.hierarchy.order import CAPTION, PHOTO, Hierarchy, Item, check_order, hierarchy_of_photos
from vsdemo.models import checkpoint
from vsdemo.search.engine import Engine, Reader
from vsdemo.search.hierarchies import (
    captions_beside,
    from_gallery,
    known_concepts,
    text_coordinates,
    thinned,
    truth_of,
)

VERSION = "1"
LEVELS = 255  # a coordinate is stored as one of 0..255


@dataclass(frozen=True)
class StoredHierarchy:
    """A hierarchy and its map.

    Attributes:
        hierarchy: The items.
        points: (N, 2), their positions on the map.
    """

    hierarchy: Hierarchy
    points: np.ndarray


def file(folder: Path, dataset: str, split: str) -> Path:
    """Return where the hierarchy of a gallery is stored in a checkpoint."""
    return folder / f"hierarchy-{dataset}-{split}.safetensors"


def write(folder: Path, split: str = "test", progress: Progress | None = None) -> Path:
    """Store the hierarchy of the data set of a checkpoint's training, with its map.

    Args:
        folder: The checkpoint.
        split: Name of the split.
        progress: Called with the steps of the map that are done, and all.

    Raises:
        UserError: The model has no order with coordinates in 0..1, or its data are missing.
    """
    engine = Engine(folder, split=split)
    hierarchy = from_gallery(engine)
    photos = hierarchy.x[hierarchy.of_kind[PHOTO]]
    if photos.min() < 0 or photos.max() > 1:
        raise UserError(f"{folder} has coordinates that are not in 0..1, so it cannot be stored.")
    points = projection.project(hierarchy.x[map_items(hierarchy)].numpy(), progress)
    varying = (photos < 1).any(0)  # the others are 1 in all photos
    content = {
        "points": torch.from_numpy(points).half(),
        "photos": (LEVELS * photos[:, varying]).round().to(torch.uint8),
        "varying": varying,
    }
    metadata = {"version": VERSION, "checkpoint": checkpoint.content_hash(folder)}
    if datasets.is_generated(engine.gallery.name):
        captions = [item.text for item in hierarchy.items if item.kind == CAPTION]
        metadata["captions"] = json.dumps(captions)
    path = file(folder, engine.gallery.name, split)
    checksums.write_files(folder, {path.name: tensors.to_bytes(content, metadata)})
    return path


def read(reader: Reader, folder: Path, dataset: str, split: str) -> StoredHierarchy | None:
    """Return what `write` stored; None if it is missing, damaged or of other weights.

    Args:
        reader: The model of the checkpoint.
        folder: The checkpoint.
        dataset: Name of the gallery's data set.
        split: Its split.
    """
    path = file(folder, dataset, split)
    try:
        checksums.check(path)
        with safe_open(path, "pt") as stored:
            metadata: dict[str, Any] = stored.metadata()
            content = {name: stored.get_tensor(name) for name in ("points", "photos", "varying")}
        current = (VERSION, checkpoint.content_hash(folder))
        if (metadata["version"], metadata["checkpoint"]) != current:
            return None
        concepts = known_concepts(reader)
        captions = _captions(metadata, concepts, dataset, split)
    except (OSError, SafetensorError, UserError, LookupError, TypeError, ValueError):
        return None
    photos = torch.ones(len(content["photos"]), len(content["varying"]))
    photos[:, content["varying"]] = content["photos"].float() / LEVELS
    items = [*concepts, *(Item(CAPTION, text) for text in captions)]
    hierarchy = hierarchy_of_photos(
        items,
        text_coordinates(reader, [item.text for item in items]),
        [photo.name for photo in datasets.photos(dataset, split)],
        photos,
        check_order(reader.score, reader.spec.preset),
        reader.model.limits,
    )
    hierarchy.truth = truth_of(dataset, split)
    points = content["points"].float().numpy()
    return StoredHierarchy(hierarchy, points) if len(points) == len(hierarchy) else None


def _captions(
    metadata: dict[str, str], concepts: Sequence[Item], dataset: str, split: str
) -> list[str]:
    if "captions" in metadata:
        captions: list[str] = json.loads(metadata["captions"])
        return captions
    return thinned(captions_beside(concepts, datasets.load(dataset, split).captions))
