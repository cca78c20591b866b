"""Maps of embeddings as records, which the page draws."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vsdemo.core.arrows import Arrow

KINDS = ("photo", "caption", "concept", "root")  # later ones are drawn on top
MAX_ARROWS = 300
Record = dict[str, Any]


@dataclass(frozen=True)
class MapView:
    """N items on a map.

    Args:
        points: `(N, 2)`.
        kinds: N of KINDS.
        texts: N concepts, captions, or names of photos.
        norms: `(N,)`; general items have small ones.
        norm_title: What the norms are.
        arrows: Only the MAX_ARROWS with the smallest violations are drawn.
        path: Indices of the items of a walk, in its order.
        chosen: Index of the item with a ring.
        photos: The index in its gallery of each item that is a photo; by default 0, 1, 2, ...

    Raises:
        ValueError: If lengths differ or a number is not finite.
    """

    points: np.ndarray
    kinds: Sequence[str]
    texts: Sequence[str]
    norms: np.ndarray
    norm_title: str
    arrows: Sequence[Arrow] = ()
    path: Sequence[int] = ()
    chosen: int | None = None
    photos: Sequence[int] | None = None

    def __post_init__(self) -> None:
        count = len(self.kinds)
        shapes = np.shape(self.points), np.shape(self.norms), len(self.texts)
        if shapes != ((count, 2), (count,), count):
            raise ValueError(f"{count} kinds, but points, norms and texts of {shapes}")
        if not (np.isfinite(self.points).all() and np.isfinite(self.norms).all()):
            raise ValueError("points and norms must be finite")
        if self.photos is not None and len(self.photos) != list(self.kinds).count("photo"):
            raise ValueError(f"{len(self.photos)} indices of photos")


def map_record(view: MapView) -> Record:
    """Return all that is drawn. The page keeps its zoom as long as `key` stays the same.

    `photos` has an entry for each item: its index in the gallery if it is a photo, else None.
    """
    points = np.ascontiguousarray(view.points, dtype=np.float32)
    gallery = iter(view.photos if view.photos is not None else range(len(view.kinds)))
    arrows = sorted(view.arrows, key=lambda arrow: arrow.violation)[:MAX_ARROWS]
    return {
        "key": hashlib.sha256(points.tobytes()).hexdigest()[:16],
        "points": points.round(4).astype(float).round(4).tolist(),
        "kinds": [KINDS.index(kind) for kind in view.kinds],
        "texts": list(view.texts),
        "norms": [round(float(norm), 3) for norm in view.norms],
        "normTitle": view.norm_title,
        "photos": [int(next(gallery)) if kind == "photo" else None for kind in view.kinds],
        "arrows": [
            {
                "general": arrow.general,
                "specific": arrow.specific,
                "violation": round(arrow.violation, 4),
            }
            for arrow in arrows
        ],
        **map_overlay(view.path, view.chosen),
    }


def map_overlay(path: Sequence[int], chosen: int | None) -> Record:
    """Return what a new choice changes: the path and the chosen item."""
    return {"path": list(path), "chosen": chosen}
