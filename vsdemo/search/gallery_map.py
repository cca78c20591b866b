"""The map of a gallery: photos that the model finds similar lie near each other.

UMAP places up to `LANDMARKS` photos, a random sample. All others are placed among their `NEAREST`
nearest landmarks: umap's own `transform` of 95,000 photos took minutes, and minutes more to
compile. So a map can grow: landmarks are stored, photos that were there keep their places, and new
ones are placed among them. A map starts again when the gallery has more than `GROWTH` times the
photos that the landmarks were chosen from, or less than `KEPT` of the landmarks are left.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from vsdemo.core import locks, tensors
from vsdemo.core.checksums import DamagedFile
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.language import translate
from vsdemo.core.paths import home
from vsdemo.core.progress import Progress
from vsdemo.hierarchy import projection
from vsdemo.search.engine import Engine
from vsdemo.search.region_names import name_regions

VERSION = "1"
LANDMARKS = 4096
NEAREST = 5
SHARPNESS = 4  # a landmark's weight is its squared distance to the power of minus this
BLOCK = 4096  # photos that are placed at once
GROWTH = 2
KEPT = 0.5  # share of the landmarks that must still be among the photos
SAME = 1e-5  # squared distance below which photos are the same, as a share of the mean square
GRID = 32767  # positions are multiples of 1 / GRID, so that 16 bits hold them exactly
REGIONS = (8, 30)  # how many there are, by the number of photos
PHOTOS_OF_REGION = 5  # at least, in a small gallery
MAX_CORNERS = 2000  # corners of a polygon
SHARES = {"map": 45, "place": 35, "name": 20}  # of the time, in percent


@dataclass(frozen=True)
class Region:
    """A part of a map.

    Attributes:
        name: What the photos there show, in a word; empty if nothing stands out.
        x: Where the middle of its photos lies, -1 to 1.
        y: As `x`.
        photos: How many photos it has.
    """

    name: str
    x: float
    y: float
    photos: int


@dataclass(frozen=True)
class GalleryMap:
    """Where N photos lie on a map, and what is where.

    Attributes:
        positions: (N, 2) float32, from -1 to 1; x to the right and y upwards.
        regions: The regions, the largest first.
        region_of: (N,), the number of the region of each photo.
    """

    positions: np.ndarray
    regions: tuple[Region, ...]
    region_of: np.ndarray

    def inside(self, polygon: Sequence[Sequence[float]]) -> np.ndarray:
        """Return the numbers of the photos inside a polygon, in ascending order.

        Where the polygon crosses itself, the even-odd rule applies.

        Args:
            polygon: Its corners as (x, y).

        Raises:
            UserError: It is not a list of 3 to MAX_CORNERS pairs of finite numbers.
        """
        corners = _check_polygon(polygon)
        low, high = corners.min(0), corners.max(0)
        near = ((self.positions >= low) & (self.positions <= high)).all(1).nonzero()[0]
        x, y = self.positions[near].astype(np.float64).T
        is_inside = np.zeros(len(near), dtype=bool)
        for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            if y0 != y1:
                crosses = (y0 > y) != (y1 > y)
                is_inside ^= crosses & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
        return np.asarray(near[is_inside])

    def of_region(self, number: int) -> np.ndarray:
        """Return the numbers of the photos of a region, in ascending order."""
        return np.asarray((self.region_of == number).nonzero()[0])


def _check_polygon(polygon: Any) -> np.ndarray:
    try:
        corners = np.array(polygon, dtype=np.float64)
        valid = corners.ndim == 2 and corners.shape[1] == 2 and bool(np.isfinite(corners).all())
    except (TypeError, ValueError, OverflowError):
        corners, valid = np.zeros((0, 2)), False
    if not valid or not 3 <= len(corners) <= MAX_CORNERS:
        raise UserError(
            translate("An area of the map needs at least three corners; draw it again.")
        )
    return corners


def build_map(
    engine: Engine, progress: Progress | None = None, cancel: Event | None = None
) -> GalleryMap:
    """Return the map of the photos of an engine, from the cache below VSDEMO_HOME if it is there.

    Args:
        engine: A model over all photos of a gallery. A set of vectors for a photo counts as their
            mean.
        progress: Called with the part that is done, and the whole.
        cancel: Once set, the work stops.

    Raises:
        Cancelled: `cancel` is set.
    """
    x = engine.photos.embeddings.float().to("cpu").mean().contiguous()
    path = _path(engine)
    digest = hashlib.sha256(x.numpy().tobytes()).hexdigest()
    stored = _Stored.read(path)
    if stored is not None and stored.digest == digest:
        return stored.map
    stages = _Stages(progress, cancel)
    with locks.turn(path, wait=partial(stages.stage("map"), 0, 1)):
        stored = _Stored.read(path)  # another process may have made it meanwhile
        if stored is None or stored.digest != digest:
            stored = _make(engine, x, digest, stored, stages)
            stored.write(path)
    return stored.map


def _make(
    engine: Engine, x: Tensor, digest: str, stored: _Stored | None, stages: _Stages
) -> _Stored:
    """Return the map of photos with vectors (N, D), among the landmarks that are stored."""
    landmarks, places, kept = stored.landmarks if stored is not None else None, None, 0.0
    if landmarks is not None and landmarks.cover(x):
        places, kept = landmarks.place(x, stages.stage("place"))
    if landmarks is None or places is None or kept < KEPT:
        landmarks = _Landmarks.choose(x, stages.stage("map"), stages.cancel)
        places, _ = landmarks.place(x, stages.stage("place"))
    positions = (np.round(places * GRID) / GRID).astype(np.float32)
    region_of = _find_regions(positions)
    names = name_regions(engine, region_of, stages.stage("name"))
    result = GalleryMap(positions, _regions(positions, region_of, names), region_of)
    return _Stored(digest, result, landmarks)


def _path(engine: Engine) -> Path:
    """Return where the map of a gallery is cached; it stays there when photos are added."""
    gallery = engine.gallery
    text = "\n".join([VERSION, engine.content_hash, gallery.name, gallery.split])
    return home() / "maps" / f"gallery-{hashlib.sha256(text.encode()).hexdigest()[:32]}.safetensors"


class _Stages:
    """Progress of several pieces of work as one, in percent."""

    def __init__(self, progress: Progress | None, cancel: Event | None) -> None:
        self._progress, self.cancel = progress, cancel

    def stage(self, name: str) -> Progress:
        """Return the progress of a piece of work."""
        names = list(SHARES)
        start = sum(SHARES[before] for before in names[: names.index(name)])

        def report(done: int, total: int) -> None:
            if self.cancel is not None and self.cancel.is_set():
                raise Cancelled
            if self._progress is not None:
                share = min(done / max(total, 1), 1)
                self._progress(start + round(share * SHARES[name]), sum(SHARES.values()))

        return report


@dataclass(frozen=True)
class _Landmarks:
    """Photos that UMAP has placed.

    Attributes:
        x: (L, D), their vectors.
        places: (L, 2), where they lie.
        photos: How many photos they were chosen from.
    """

    x: Tensor
    places: np.ndarray
    photos: int

    @classmethod
    def choose(cls, x: Tensor, progress: Progress, cancel: Event | None) -> _Landmarks:
        """Choose at most LANDMARKS of the photos (N, D), and let UMAP place them."""
        chosen = np.sort(np.random.default_rng(0).permutation(len(x))[:LANDMARKS])
        own = x[torch.from_numpy(chosen)]
        return cls(own, projection.project(own.numpy(), progress, cancel), len(x))

    def cover(self, x: Tensor) -> bool:
        """Return whether there are enough landmarks for photos (N, D)."""
        return x.shape[1] == self.x.shape[1] and len(x) <= GROWTH * self.photos

    def place(self, x: Tensor, progress: Progress) -> tuple[np.ndarray, float]:
        """Place photos (N, D) among their nearest landmarks.

        Returns:
            (N, 2), and the share of the landmarks that are among the photos.
        """
        middle = self.x.mean(0)  # squares around it lose the fewest digits
        own = self.x - middle
        squares = own.square().sum(1)  # (L,)
        mean_square = float(squares.mean()) or 1.0
        points = torch.from_numpy(self.places)
        places = torch.empty(len(x), 2)
        is_there = torch.zeros(len(own), dtype=torch.bool)
        for start in range(0, len(x), BLOCK):
            rows = x[start : start + BLOCK] - middle  # (B, D)
            square_distances = rows.square().sum(1, keepdim=True) + squares - 2 * rows @ own.T
            square_distances.div_(mean_square).clamp_(min=SAME / 10)
            is_there |= square_distances.amin(0) < SAME
            nearest, numbers = square_distances.topk(min(NEAREST, len(own)), largest=False)
            weights = (nearest[:, :1] / nearest) ** SHARPNESS  # (B, k), 1 for the nearest
            weights /= weights.sum(1, keepdim=True)
            places[start : start + BLOCK] = (points[numbers] * weights[..., None]).sum(1)
            progress(min(start + BLOCK, len(x)), len(x))
        return places.numpy(), float(is_there.float().mean()) if len(own) else 1.0


def _find_regions(positions: np.ndarray) -> np.ndarray:
    """Return the number of the region of each photo, (N,), the largest region first."""
    from sklearn.cluster import KMeans  # takes seconds to import

    distinct = len(np.unique(positions, axis=0))
    least, most = REGIONS
    wanted = int(np.clip(0.7 * len(positions) ** 0.5, least, most))
    count = max(1, min(wanted, len(positions) // PHOTOS_OF_REGION, distinct))
    if count < 2:
        return np.zeros(len(positions), dtype=np.int64)
    means: Any = KMeans(count, n_init=1, random_state=0)
    regions = means.fit_predict(positions.astype(np.float64))
    order = np.argsort(-np.bincount(regions, minlength=count), kind="stable")
    return np.asarray(np.argsort(order)[regions], dtype=np.int64)


def _regions(
    positions: np.ndarray, region_of: np.ndarray, names: Sequence[str]
) -> tuple[Region, ...]:
    regions = []
    for number, name in enumerate(names):
        own = positions[region_of == number]
        x, y = np.median(own, axis=0).tolist()
        regions.append(Region(name, x, y, len(own)))
    return tuple(regions)


@dataclass(frozen=True)
class _Stored:
    """A map in the cache.

    Attributes:
        digest: Digest of the vectors of its photos.
        map: The map.
        landmarks: What new photos are placed among.
    """

    digest: str
    map: GalleryMap
    landmarks: _Landmarks

    def write(self, path: Path) -> None:
        """Write it to a file."""
        content = {
            "positions": torch.from_numpy(self.map.positions),
            "region_of": torch.from_numpy(self.map.region_of).short(),
            "landmarks": self.landmarks.x,
            "places": torch.from_numpy(self.landmarks.places),
        }
        names = json.dumps([region.name for region in self.map.regions])
        metadata = {"digest": self.digest, "names": names, "photos": str(self.landmarks.photos)}
        tensors.write_checked(path, content, metadata)

    @classmethod
    def read(cls, path: Path) -> _Stored | None:
        """Read what `write` wrote; None if it is missing or damaged."""
        try:
            tensors.check(path)
            with safe_open(path, "pt") as file:
                metadata: dict[str, str] = file.metadata()
                get: Callable[[str], Tensor] = file.get_tensor
                positions = get("positions").numpy().copy()  # it does not depend on the file
                region_of = get("region_of").long().numpy()
                landmarks = _Landmarks(
                    get("landmarks").clone(), get("places").numpy().copy(), int(metadata["photos"])
                )
            regions = _regions(positions, region_of, json.loads(metadata["names"]))
        except (DamagedFile, OSError, SafetensorError):
            return None
        return cls(metadata["digest"], GalleryMap(positions, regions, region_of), landmarks)
