"""Hierarchies that ship with a checkpoint, so that the map of a gallery is there at once.

A file holds where the items lie on the map and what the order compares of the photos, in 8 bits.
The texts are encoded when it is read. For generated data sets it also holds the captions and what
is true; for others these come from the data set itself.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open

from vsdemo.core import checksums, tensors
from vsdemo.core.errors import UserError
from vsdemo.core.paths import AnyPath, to_path
from vsdemo.core.progress import Progress
from vsdemo.data import datasets, relations
from vsdemo.hierarchy import projection
from vsdemo.hierarchy.map_content import map_items
from vsdemo.hierarchy.order import (
    CAPTION,
    CONCEPT,
    PHOTO,
    Hierarchy,
    Item,
    check_order,
    hierarchy_of_photos,
)
from vsdemo.hierarchy.truth import FactTable, Truth
from vsdemo.models import checkpoint
from vsdemo.search.engine import Engine, Reader
from vsdemo.search.hierarchies import (
    from_gallery,
    gallery_texts,
    text_coordinates,
    truth_of,
)

VERSION = "1"
TEXTS = (CONCEPT, CAPTION)
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


def write(folder: AnyPath, split: str = "test", progress: Progress | None = None) -> Path:
    """Store the hierarchy of the data set of a checkpoint's training, with its map.

    Args:
        folder: The checkpoint.
        split: Name of the split.
        progress: Called with the number of steps of the map that are done and the total.

    Raises:
        UserError: The model has no order with coordinates in 0..1, or its data are missing.
    """
    folder = to_path(folder)
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
    if engine.gallery.name in relations.EXACT:
        texts = [item.text for item in hierarchy.items if item.kind in TEXTS]
        facts = FactTable.of(relations.load(engine.gallery), texts, len(photos))
        content |= {
            "follows": _to_bits(facts.follows == relations.TRUE),
            "describes": _to_bits(facts.describes == relations.TRUE),
        }
    path = file(folder, engine.gallery.name, split)
    checksums.write_files(folder, {path.name: tensors.to_bytes(content, metadata)})
    return path


def read(reader: Reader, folder: Path, dataset: str, split: str) -> StoredHierarchy | None:
    """Return what `write` stored; None if it is missing, damaged or from other weights.

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
            names: list[str] = stored.keys()
            content = {name: stored.get_tensor(name) for name in names}
        current = (VERSION, checkpoint.content_hash(folder))
        if (metadata["version"], metadata["checkpoint"]) != current:
            return None
        items = gallery_texts(reader, dataset, _captions(metadata, dataset, split))
        truth = _truth(content, items, dataset, split)
    except (OSError, SafetensorError, UserError, LookupError, TypeError, ValueError):
        return None
    photos = torch.ones(len(content["photos"]), len(content["varying"]))
    photos[:, content["varying"]] = content["photos"].float() / LEVELS
    hierarchy = hierarchy_of_photos(
        items,
        text_coordinates(reader, [item.text for item in items]),
        [photo.name for photo in datasets.photos(dataset, split)],
        photos,
        check_order(reader.score, reader.spec.preset),
        reader.model.limits.usable,
    )
    hierarchy.truth = truth
    points = content["points"].float().numpy()
    return StoredHierarchy(hierarchy, points) if len(points) == len(hierarchy) else None


def _captions(metadata: dict[str, str], dataset: str, split: str) -> Sequence[str]:
    if "captions" in metadata:
        captions: list[str] = json.loads(metadata["captions"])
        return captions
    return datasets.load(dataset, split).captions


def _truth(
    content: dict[str, torch.Tensor], items: Sequence[Item], dataset: str, split: str
) -> Truth | None:
    """Return what is true of the texts and photos, as stored if possible."""
    if "follows" not in content:
        return truth_of(dataset, split)
    texts = [item.text for item in items]
    facts = FactTable(
        texts=texts,
        follows=_from_bits(content["follows"], len(texts), len(texts)),
        describes=_from_bits(content["describes"], len(texts), len(content["photos"])),
    )
    return Truth(lambda: facts)


def _to_bits(labels: np.ndarray) -> torch.Tensor:
    """Return a table of booleans as compressed bytes, (B,)."""
    compressed = zlib.compress(np.packbits(labels).tobytes(), level=9)
    return torch.frombuffer(bytearray(compressed), dtype=torch.uint8)


def _from_bits(compressed: torch.Tensor, rows: int, columns: int) -> np.ndarray:
    """Return the table that `_to_bits` compressed, (rows, columns), as 0 and 1.

    Raises:
        ValueError: It has another size.
    """
    try:
        content = zlib.decompress(compressed.numpy().tobytes())
    except zlib.error as error:
        raise ValueError(str(error)) from None
    bits = np.unpackbits(np.frombuffer(content, np.uint8))
    if not 0 <= len(bits) - rows * columns < 8:
        raise ValueError(f"{len(bits)} bits for {rows} x {columns} labels")
    return bits[: rows * columns].reshape(rows, columns).astype(np.int8)
