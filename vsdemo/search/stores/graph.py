"""Merged embeddings with a graph of near neighbours by usearch, so that few are compared.

The graph is a file in the folder of the embeddings, mapped into memory. It returns candidates for
the best photos; with conditions on the photos, all that meet them are compared instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel, ValidationError
from torch import Tensor

from vsdemo.core import cores, json_files
from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic, write_text
from vsdemo.core.progress import Progress
from vsdemo.data.catalog.filters import PhotoFilter
from vsdemo.models.scores import Score
from vsdemo.search.stores.folder import FolderStore
from vsdemo.search.stores.store import Candidates, check_numbers

FILE = "photos.usearch"
METRICS = {"cosine": "cos", "inner": "ip", "euclidean": "l2sq"}  # ours -> usearch's
SAVED = 250_000  # new embeddings after which the graph is saved; a build continues from there
FIRST = 10_000  # embeddings that one thread adds, as several would leave some unreachable
MIN_EXPANSION = 160  # the fewest nodes that a search visits


class GraphInfo(BaseModel, frozen=True):
    """What a graph was built from.

    Attributes:
        content_hash: Content hash of the checkpoint.
        photos: Number of the folder's embeddings.
        metric: Metric of usearch.
        dim: Length of the vectors in the graph.
    """

    content_hash: str
    photos: int
    metric: str
    dim: int


class GraphStore:
    """Embeddings in a folder with a graph.

    Args:
        folder: The folder.

    Attributes:
        about: Where they come from.

    Raises:
        UserError: As `FolderStore`; usearch is not installed, or the graph is missing, cut short or
            built from other embeddings.
    """

    def __init__(self, folder: Path) -> None:
        self._embeddings = FolderStore(folder)
        self.about = self._embeddings.about
        path = folder / FILE
        info = _read_info(path)
        if info is None or not path.exists():
            raise UserError(
                f"{folder} has no graph; run `python -m vsdemo store` with usearch first."
            )
        if (info.content_hash, info.photos) != (self.about.content_hash, self.about.photos):
            raise UserError(
                f"{path} was built from other embeddings than those in the folder; run `python -m "
                "vsdemo store` again."
            )
        self._graph = _new_graph(info)
        try:
            self._graph.view(path)
        except RuntimeError:
            raise _damaged(path) from None
        if len(self._graph) != info.photos:
            raise _damaged(path)

    def candidates(
        self, query: Tensor, score: Score, count: int, conditions: PhotoFilter
    ) -> Candidates:
        """Return the nearest photos by the graph; with conditions, the best that meet them."""
        if not conditions.is_empty:
            return self._embeddings.candidates(query, score, count, conditions)
        self._graph.expansion_search = max(MIN_EXPANSION, count)
        near = self._graph.search(score.angle_part(query[None])[0].numpy(), count, threads=1)
        numbers = near.keys.astype("int64")
        return Candidates(numbers, self._embeddings.rows(numbers))

    def paths(self, numbers: Sequence[int]) -> list[str]:
        """Return the paths of photos, from the folder or tar file that was embedded."""
        return self._embeddings.paths(numbers)


def build(folder: Path, score: Score, progress: Progress) -> None:
    """Write the graph of merged embeddings; an interrupted build continues where it was saved.

    Args:
        folder: The folder of the embeddings.
        score: The score of their model.
        progress: Called with the number of embeddings in the graph and the total.

    Raises:
        UserError: As `GraphStore`, an embedding is not finite, or the disk is full.
    """
    embeddings = FolderStore(folder)
    about, path = embeddings.about, folder / FILE
    dim = score.angle_part(torch.zeros(1, about.dim)).shape[1]
    info = GraphInfo(
        content_hash=about.content_hash,
        photos=about.photos,
        metric=METRICS[score.metric],
        dim=dim,
    )
    graph = _new_graph(info)
    if path.exists() and _read_info(path) == info:
        try:
            graph.load(path)
        except RuntimeError:  # cut short
            graph.clear()
    try:
        write_text(_info_path(path), info.model_dump_json())
        saved = len(graph)
        for block in embeddings.blocks(start=saved):
            numbers = np.arange(block.start, block.stop)
            x = embeddings.rows(numbers)
            check_numbers(x, block.start)
            threads = cores.available() if len(graph) >= FIRST else 1
            graph.add(numbers, score.angle_part(x).numpy(), threads=threads)
            progress(block.stop, about.photos)
            if block.stop - saved >= SAVED or block.stop == about.photos:
                _save(graph, path)
                saved = block.stop
    except OSError as error:
        raise UserError(
            f"{path} cannot be written ({error.strerror or error}); make room there, and start "
            "again."
        ) from None


def _save(graph: Any, path: Path) -> None:
    with atomic(path) as temporary:
        try:
            graph.save(temporary)
        except RuntimeError as error:  # usearch raises it when the disk is full
            raise OSError(str(error)) from None


def _new_graph(info: GraphInfo) -> Any:
    """Return an empty graph.

    Raises:
        UserError: usearch is not installed.
    """
    try:
        from usearch.index import Index
    except ImportError:
        raise UserError("usearch is not installed; run `pip install usearch`.") from None
    return Index(ndim=info.dim, metric=info.metric, dtype="f16")


def _info_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _read_info(path: Path) -> GraphInfo | None:
    try:
        return GraphInfo.model_validate(json_files.load(_info_path(path)))
    except (OSError, ValueError, ValidationError):
        return None


def _damaged(path: Path) -> UserError:
    return UserError(f"{path} is incomplete or damaged; run `python -m vsdemo store` again.")
