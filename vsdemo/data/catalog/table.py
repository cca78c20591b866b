"""What catalogs know about many photos, in columns, so that conditions are checked quickly."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data.catalog.catalog import find_catalog
from vsdemo.data.catalog.filters import Orientation, PhotoFilter

SQUARE = 1.02  # a photo is square if its sides differ by less
MEGA = 1_000_000


@dataclass(frozen=True)
class PhotoTable:
    """The photos of an index, one row each.

    Attributes:
        root: The folder of the index.
        folders: Each folder with photos, below the root; "" for the root.
        folder_of: (N,) index into `folders`.
        cameras: Each camera; "" where it is unknown.
        camera_of: (N,) index into `cameras`.
        taken: (N,) datetime64[s]; NaT where it is unknown.
        widths: (N,) pixels.
        heights: (N,) pixels.
    """

    root: Path
    folders: Sequence[str]
    folder_of: np.ndarray
    cameras: Sequence[str]
    camera_of: np.ndarray
    taken: np.ndarray
    widths: np.ndarray
    heights: np.ndarray

    @classmethod
    def of(cls, photos: CaptionSet) -> PhotoTable | None:
        """Return the table of the photos of a set, in its order; None if they are not indexed.

        Raises:
            UserError: The index is damaged.
        """
        catalog = find_catalog(photos.name) if photos.keys else None
        if catalog is None:
            return None
        rows = {name: row for row, name in enumerate(photos.names)}
        folders, cameras = _Codes(), _Codes()
        count = len(photos.photos)
        # A photo that was removed from the index meanwhile has no values.
        folder_of = np.array([folders.code(os.path.dirname(name)) for name in rows], np.int32)
        camera_of = np.full(count, cameras.code(""), np.int32)
        taken = np.full(count, "NaT", "datetime64[s]")
        sides = np.zeros((2, count), np.int32)
        for path, date, camera, width, height in catalog.table():
            row = rows.get(path)
            if row is not None:
                camera_of[row] = cameras.code(camera)
                taken[row] = _time(date)
                sides[:, row] = width, height
        return cls(
            root=catalog.folder,
            folders=[*folders],
            folder_of=folder_of,
            cameras=[*cameras],
            camera_of=camera_of,
            taken=taken,
            widths=sides[0],
            heights=sides[1],
        )

    def __len__(self) -> int:
        return len(self.widths)

    def mask(self, conditions: PhotoFilter) -> np.ndarray:
        """Return which photos meet some conditions, (N,) bool.

        Raises:
            UserError: There is no such folder in the index.
        """
        result = np.ones(len(self), dtype=bool)
        if conditions.folder:
            result &= self._in_folder(conditions.folder)
        if conditions.camera:
            text = conditions.camera.casefold()
            result &= np.array([text in name.casefold() for name in self.cameras])[self.camera_of]
        # Comparisons with NaT are False.
        if conditions.since:
            result &= self.taken >= np.datetime64(conditions.since, "s")
        if conditions.until:
            result &= self.taken < np.datetime64(conditions.until, "s") + np.timedelta64(1, "D")
        if conditions.orientation:
            result &= self._has_orientation(conditions.orientation)
        if conditions.megapixels:
            result &= self.widths.astype(np.int64) * self.heights >= conditions.megapixels * MEGA
        return result

    def _in_folder(self, folder: str) -> np.ndarray:
        """Return which photos are in a folder or below it; an absolute path is also accepted."""
        wanted = Path(self.root, folder).parts
        depth = len(wanted)
        is_in = np.array([Path(self.root, name).parts[:depth] == wanted for name in self.folders])
        if not is_in.any():
            raise UserError(f"There are no photos in the folder {folder[:200]!r} of this index.")
        result: np.ndarray = is_in[self.folder_of]
        return result

    def _has_orientation(self, orientation: Orientation) -> np.ndarray:
        is_wide = self.widths >= SQUARE * self.heights
        is_high = self.heights >= SQUARE * self.widths
        match orientation:
            case Orientation.LANDSCAPE:
                return np.asarray(is_wide)
            case Orientation.PORTRAIT:
                return np.asarray(is_high)
            case _:
                return np.asarray(~is_wide & ~is_high)

    @cached_property
    def folder_counts(self) -> dict[str, int]:
        """Number of photos in each folder and below it; "" is the root."""
        counts: Counter[str] = Counter()
        for folder, count in zip(self.folders, np.bincount(self.folder_of).tolist(), strict=True):
            counts[folder] += count
            for parent in Path(folder).parents:
                counts["" if parent == Path() else str(parent)] += count
        return dict(sorted(counts.items()))

    @cached_property
    def camera_counts(self) -> dict[str, int]:
        """Number of photos of each known camera, the most used first."""
        counts = np.bincount(self.camera_of, minlength=len(self.cameras)).tolist()
        pairs = zip(self.cameras, counts, strict=True)
        return dict(sorted(((n, c) for n, c in pairs if n), key=lambda pair: -pair[1]))


class _Codes(dict[str, int]):
    """Different texts, numbered in the order in which they first come."""

    def code(self, text: str) -> int:
        """Return the number of a text."""
        return self.setdefault(text, len(self))


def _time(text: str) -> np.datetime64:
    try:
        return np.datetime64(text[:19] or "NaT", "s")
    except ValueError:  # a date that does not exist
        return np.datetime64("NaT")
