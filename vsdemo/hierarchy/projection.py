"""Two-dimensional maps of embeddings, by UMAP. The one home of umap.

UMAP (McInnes, Healy and Melville 2018) puts embeddings that are near in D dimensions near each
other on the map; distances between far ones mean little. The metric is Euclidean rather than
cosine: the origin, which lies above everything in an order embedding, has no angle, and general
embeddings lie near it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Event, Lock
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from vsdemo.core import locks, tensors
from vsdemo.core.checksums import DamagedFile
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.numba_cache import let_numba_cache
from vsdemo.core.paths import home
from vsdemo.core.progress import Progress

MIN_FOR_UMAP = 20  # distinct embeddings; fewer are mapped by their two principal components
NEIGHBOURS = 15
MIN_DIST = 0.1
EPOCHS = 200
CHUNK = 1024  # embeddings whose neighbours are searched at once
_umap_lock = Lock()  # numba aborts the process when two of its parallel calls overlap


def project(
    x: np.ndarray,
    progress: Progress | None = None,
    cancel: Event | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Return a map `(N, 2)` of embeddings `(N, D)`, from -1 to 1 along its longer side.

    The same embeddings and seed give the same map, and equal embeddings share a place. The first
    map of a process takes longer, since umap is compiled; `progress` does not show this.

    Args:
        x: `(N, D)`, finite numbers.
        progress: Called with the steps done and the steps in all.
        cancel: Once set, the work stops.
        seed: Seed of the random numbers.

    Raises:
        UserError: If `x` is not a table of finite numbers.
        Cancelled: If `cancel` is set.
    """
    x = np.asarray(x)
    if x.ndim != 2 or not np.issubdtype(x.dtype, np.number) or np.iscomplexobj(x):
        raise UserError("A map needs a table of numbers, one row for each embedding.")
    if not np.isfinite(x).all():
        raise UserError("A map needs finite numbers, but some of the embeddings are not.")
    distinct, inverse = np.unique(_normalized(x), axis=0, return_inverse=True)
    steps = _Steps(-(-len(distinct) // CHUNK) + EPOCHS, progress, cancel)
    threads = torch.get_num_threads()
    try:
        if len(distinct) >= MIN_FOR_UMAP:
            places = _umap(distinct, steps, seed)
        else:
            places = _pca(distinct, seed)
    finally:
        torch.set_num_threads(threads)  # numba changes this setting of OpenMP
    return _scaled(places)[inverse.reshape(-1)]


def cached_map(
    key: str, make: Callable[[], np.ndarray], wait: Callable[[], object] = lambda: None
) -> np.ndarray:
    """Return the map `(N, 2)` of a key from the folder below VSDEMO_HOME.

    A missing or damaged map is made and saved.

    Args:
        key: Identifies everything that the map depends on.
        make: Returns the map.
        wait: As in `locks.turn`, for a map that another process makes.
    """
    path = home() / "maps" / f"{key}.safetensors"

    def make_and_write() -> np.ndarray:
        places = make()
        tensors.write_checked(path, {"points": torch.from_numpy(places)})
        return places

    return locks.made_once(path, partial(_read, path), make_and_write, wait)


def _read(path: Path) -> np.ndarray | None:
    """Return a map from its file; None if it is missing or damaged."""
    try:
        tensors.check(path)
        places: np.ndarray = load_file(path)["points"].numpy().copy()  # not mapped from the file
    except (DamagedFile, OSError, SafetensorError):
        return None
    return places


class _Steps:
    """Reports progress, and stops the work once it is cancelled."""

    def __init__(self, total: int, progress: Progress | None, cancel: Event | None) -> None:
        self.total = total
        self.done = 0
        self.progress = progress
        self.cancel = cancel

    def advance_to(self, done: int) -> None:
        """Report that `done` steps are done. Raises Cancelled."""
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled
        if done > self.done and self.progress is not None:
            self.progress(done, self.total)
        self.done = max(self.done, done)

    def epochs(self, numbers: range, **_: Any) -> Iterator[int]:
        """Replace umap's progress bar.

        Raising from within the bar itself would leave the lock of all tqdm bars closed, and other
        threads would wait for it forever.
        """
        for number in numbers:
            self.advance_to(self.total - EPOCHS + number)
            yield number
        self.advance_to(self.total)


def _normalized(x: np.ndarray) -> np.ndarray:
    """Return `(N, D)` as float32 around 0 and at most 1, so that no square overflows."""
    x = x.astype(np.float64)
    x /= max(np.abs(x).max(initial=0), np.finfo(np.float64).tiny)
    x -= x.mean(0, keepdims=True) if len(x) else 0
    return (x / (np.abs(x).max(initial=0) or 1)).astype(np.float32)


def _pca(x: np.ndarray, seed: int) -> np.ndarray:
    """Return `(N, 2)` for a few embeddings `(N, D)`; without a second dimension it is a line."""
    from sklearn.decomposition import PCA  # takes seconds to import

    places = np.zeros((len(x), 2))
    dims = min(2, *x.shape) if len(x) > 1 else 0
    if dims:
        pca: Any = PCA(dims, random_state=seed)
        places[:, :dims] = pca.fit_transform(x.astype(np.float64))
    return places


def _umap(x: np.ndarray, steps: _Steps, seed: int) -> np.ndarray:
    """Return `(N, 2)` for at least MIN_FOR_UMAP distinct embeddings `(N, D)`.

    The neighbours are exact. For ten thousand embeddings this takes seconds, while umap's own
    approximate search takes a minute to compile.
    """
    let_numba_cache()
    numbers, distances = _neighbours(x, steps)
    if x.shape[1] < 2:
        x = np.hstack([x, np.zeros_like(x)])  # the initial places are two principal components
    with _umap_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # umap warns of one thread and of a missing `transform`
        umap: Any = import_module("umap")  # takes seconds, and on a new machine a minute
        layouts: Any = import_module("umap.layouts")
        reducer = umap.UMAP(
            n_neighbors=numbers.shape[1],
            min_dist=MIN_DIST,
            n_epochs=EPOCHS,
            init="pca",
            random_state=seed,
            n_jobs=1,
            precomputed_knn=(numbers, distances, None),
            force_approximation_algorithm=True,  # else below 4,096 rows the neighbours are ignored
        )
        bar, layouts.tqdm = layouts.tqdm, steps.epochs
        try:
            return np.asarray(reducer.fit_transform(x))
        finally:
            layouts.tqdm = bar


def _neighbours(x: np.ndarray, steps: _Steps) -> tuple[np.ndarray, np.ndarray]:
    """Return indices and Euclidean distances of the nearest rows of each row, itself first.

    Both are `(N, k)`.
    """
    rows = torch.from_numpy(x)
    numbers, distances = [], []
    squares = rows.square().sum(1)
    for start in range(0, len(x), CHUNK):
        part = rows[start : start + CHUNK]
        square_distances = squares - 2 * part @ rows.T  # (P, N), up to a constant for each row
        own = torch.arange(len(part))
        square_distances[own, start + own] = -torch.inf
        nearest = square_distances.topk(NEIGHBOURS, largest=False).indices  # (P, k)
        numbers.append(nearest)
        distances.append((rows[nearest] - part[:, None]).norm(dim=2))  # exact for tiny ones too
        steps.advance_to(steps.done + 1)
    return torch.cat(numbers).int().numpy(), torch.cat(distances).numpy()


def _scaled(places: np.ndarray) -> np.ndarray:
    """Return places `(N, 2)` as float32 around 0, from -1 to 1 along the longer side."""
    if not len(places):
        return np.zeros((0, 2), np.float32)
    low, high = places.min(0), places.max(0)
    half = (high - low).max() / 2
    return np.asarray((places - (low + high) / 2) / (half or 1), dtype=np.float32)
