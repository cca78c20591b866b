"""Two-dimensional maps of embeddings. The one home of umap.

UMAP (McInnes, Healy and Melville 2018): points that are near in D dimensions are near on the map;
distances between far ones mean little. Near is Euclidean, not by angle: the origin, which is above
everything in an order embedding, has no angle, and a general point lies near it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from threading import Event, Lock
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from sklearn.decomposition import PCA

from vsdemo.core import tensors
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.paths import home
from vsdemo.core.progress import Progress

FEWEST = 20  # different points for UMAP; fewer are drawn by their two principal components
NEIGHBOURS, MIN_DIST, EPOCHS = 15, 0.1, 200
CHUNK = 1024  # points whose neighbours are looked for at once
_one = Lock()  # numba's threads end the whole process when two of its parallel calls overlap


def project(
    x: np.ndarray,
    progress: Progress | None = None,
    cancel: Event | None = None,
    seed: int = 0,
) -> np.ndarray:
    """A map (N, 2) of points (N, D), from -1 to 1 along its longer side; same seed, same map.

    Equal points share a place. The first map of a process waits for umap to be compiled, which
    `progress` does not tell of. Raises UserError when x is no table of finite numbers, Cancelled
    once `cancel` is set.
    """
    x = np.asarray(x)
    if x.ndim != 2 or not np.issubdtype(x.dtype, np.number) or np.iscomplexobj(x):
        raise UserError("A map needs a table of numbers, one row a point.")
    if not np.isfinite(x).all():
        raise UserError("A map needs finite numbers, but some of the embeddings are not.")
    different, same = np.unique(_prepared(x), axis=0, return_inverse=True)
    steps = _Steps(-(-len(different) // CHUNK) + EPOCHS, progress, cancel)
    threads = torch.get_num_threads()
    try:
        drawn = _umap(different, steps, seed) if len(different) >= FEWEST else _pca(different, seed)
    finally:
        torch.set_num_threads(threads)  # numba sets that of all that is parallel
    return _scaled(drawn)[same.reshape(-1)]


def stored(key: str, make: Callable[[], np.ndarray]) -> np.ndarray:
    """The map of this key below VSDEMO_HOME, (N, 2); made and kept where there is none, or where
    its file is damaged. `key` names all that the map depends on."""
    path = home() / "maps" / f"{key}.safetensors"
    try:
        return load_file(path)["points"].numpy()
    except (OSError, SafetensorError, KeyError):
        points = make()
        tensors.write(path, {"points": torch.from_numpy(points)})
        return points


class _Steps:
    """Counts steps and stops the work."""

    def __init__(self, of: int, progress: Progress | None, cancel: Event | None) -> None:
        self.of, self.done, self.progress, self.cancel = of, 0, progress, cancel

    def to(self, done: int) -> None:
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled
        if done > self.done and self.progress is not None:
            self.progress(done, self.of)
        self.done = max(self.done, done)

    def epochs(self, numbers: range, **_: Any) -> Iterator[int]:
        """Takes the place of umap's progress bar. To stop from within a bar would leave the lock of
        all bars closed: it is not opened where drawing a bar fails, and other threads wait."""
        for number in numbers:
            self.to(self.of - EPOCHS + number)
            yield number
        self.to(self.of)


def _prepared(x: np.ndarray) -> np.ndarray:
    """(N, D) as float32 around 0 and at most 1, so that no square overflows."""
    x = x.astype(np.float64)
    x /= max(np.abs(x).max(initial=0), np.finfo(np.float64).tiny)
    x -= x.mean(0, keepdims=True) if len(x) else 0
    return (x / (np.abs(x).max(initial=0) or 1)).astype(np.float32)


def _pca(x: np.ndarray, seed: int) -> np.ndarray:
    """(N, 2) of few points (N, D); what has no second dimension lies on a line."""
    drawn = np.zeros((len(x), 2))
    if wide := min(2, *x.shape) if len(x) > 1 else 0:
        drawn[:, :wide] = PCA(wide, random_state=seed).fit_transform(x.astype(np.float64))
    return drawn


def _umap(x: np.ndarray, steps: _Steps, seed: int) -> np.ndarray:
    """(N, 2) of at least FEWEST different points (N, D).

    The neighbours are found here, exactly, which for ten thousand points takes seconds; umap's own
    way to approximate them takes a minute to compile.
    """
    found = _neighbours(x, steps)
    if x.shape[1] < 2:
        x = np.hstack([x, np.zeros_like(x)])  # where to start are two principal components
    with _one, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a seed means one thread; neighbours cannot be asked later
        from umap import UMAP, layouts  # takes seconds, and on a new machine a minute

        network = UMAP(
            n_neighbors=found[0].shape[1],
            min_dist=MIN_DIST,
            n_epochs=EPOCHS,
            init="pca",
            random_state=seed,
            n_jobs=1,
            precomputed_knn=(*found, None),
            force_approximation_algorithm=True,  # or fewer than 4,096 points ignore the neighbours
        )
        bar, layouts.tqdm = layouts.tqdm, steps.epochs
        try:
            return network.fit_transform(x)
        finally:
            layouts.tqdm = bar


def _neighbours(x: np.ndarray, steps: _Steps) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and Euclidean distances of the nearest points of each, itself first; both (N, k)."""
    points, numbers, distances = torch.from_numpy(x), [], []
    squares = points.square().sum(1)
    for start in range(0, len(x), CHUNK):
        part = points[start : start + CHUNK]
        far = squares - 2 * part @ points.T  # (P, N), but for what is the same in a row
        own = torch.arange(len(part))
        far[own, start + own] = -torch.inf
        near = far.topk(NEIGHBOURS, largest=False).indices  # (P, k)
        numbers.append(near)
        distances.append((points[near] - part[:, None]).norm(dim=2))  # exact also where tiny
        steps.to(steps.done + 1)
    return torch.cat(numbers).int().numpy(), torch.cat(distances).numpy()


def _scaled(drawn: np.ndarray) -> np.ndarray:
    """(N, 2) around 0, from -1 to 1 along the longer side, as float32."""
    if not len(drawn):
        return np.zeros((0, 2), np.float32)
    low, high = drawn.min(0), drawn.max(0)
    half = (high - low).max() / 2
    return ((drawn - (low + high) / 2) / (half or 1)).astype(np.float32)
