"""Speed and recall of search, compared with what any program would do with the same vectors."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from vsdemo.core import cores, memory
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.paths import checkpoints_root
from vsdemo.core.progress import StageProgress
from vsdemo.models.scores import ORDER, Score
from vsdemo.search import bench_vectors
from vsdemo.search.engine import Reader
from vsdemo.search.index import Index
from vsdemo.search.stores import opening
from vsdemo.search.stores.folder import FolderStore
from vsdemo.search.stores.store import search_store

CHECKPOINTS = {"cosine": "flickr8k/bow", "order": "flickr8k/order"}  # 512 and 1,024 numbers
K = 10
STORED = 100_000  # vectors in the comparison with BLAS and plain torch
QUERIES = 1_000
STORE_QUERIES = 100  # to each store, as one may take seconds
ROUNDS = 15  # medians are reported
FEW_ROUNDS = 5  # of what takes seconds
ROUNDING = 1e-6  # by which the scores of equal vectors may differ
TORCH_STORED = 10_000  # vectors that plain torch, which is slow, is timed with
# Queries and vectors in a block of plain torch; the fastest counts, as that depends on caches.
BLOCKS = ((1, 1024), (8, 64), (4, 256))


def measure(count: int, progress: StageProgress) -> dict[str, Any]:
    """Search sentences of Storybook, encoded by shipped models.

    Args:
        count: Number of stored sentences, in half precision.
        progress: Called with a stage, steps done and all of them.

    Returns:
        `order_ms` and `blas_ms`: the ten best of 100,000 vectors in single precision for one query,
        by the order violation, and by BLAS and a partition; `order_vs_blas`, their ratio.
        `order_vs_torch_1000`: how many times as fast as plain torch all order violations of 1,000
        queries are. By cosine and by order, for all stored vectors: `exact_ms` for the ten best;
        `usearch_ms`, `usearch_recall` and `usearch_vs_exact`, its time as a share of exact search;
        `milvus_ms` and `milvus_recall`; `certain`, the share of queries whose results by Milvus
        cannot be wrong. `memory_ratio` is the memory of exact search over that of the vectors.
    """
    texts = bench_vectors.sentences(count + QUERIES, progress)
    readers = {name: Reader(checkpoints_root() / at) for name, at in CHECKPOINTS.items()}
    folders, queries = {}, {}
    for name, reader in readers.items():
        folders[name] = bench_vectors.stored(texts[:count], reader, progress)
        queries[name] = bench_vectors.encode(reader, texts[count:]).float()
    result: dict[str, Any] = {"stored": count, "queries": QUERIES}
    result |= _beside_others(folders["order"], queries["order"], progress)
    result["memory_ratio"] = _memory_ratio(folders["order"], queries["order"], progress)
    for name, reader in readers.items():
        of_name = _stores(folders[name], reader.score, queries[name][:STORE_QUERIES], progress)
        result |= {f"{key}_{name}": value for key, value in of_name.items()}
    for store in ("usearch", "milvus"):
        result[f"{store}_recall"] = min(result[f"{store}_recall_{name}"] for name in readers)
    rounded = {k: round(v, 3) if isinstance(v, float) else v for k, v in result.items()}
    return {**rounded, "cores": cores.available(), "device": str(device())}


def _beside_others(folder: Path, queries: Tensor, progress: StageProgress) -> dict[str, Any]:
    """Return the times of the order violation in single precision, and of BLAS and torch."""
    progress("Comparing with BLAS and torch", 0, 1)
    store = FolderStore(folder)
    vectors = store.rows(np.arange(min(STORED, store.about.photos))).float()
    index = Index(Embeddings(vectors.to(device())), range(len(vectors)), ORDER)  # type: ignore[arg-type]
    order, blas = _in_turns(
        lambda number: index.top_specific(Embeddings(queries[[number]]), K),
        lambda number: _blas(vectors.numpy(), queries[number].numpy()),
    )
    faster = _times_as_fast(vectors, queries)
    return {
        "order_ms": order,
        "blas_ms": blas,
        "order_vs_blas": order / blas,
        "order_vs_torch_1000": faster,
    }


def _in_turns(*ways: Callable[[int], object], rounds: int = ROUNDS) -> list[float]:
    """Return the median milliseconds of functions of the number of a round, run in turns."""
    times: list[list[float]] = [[] for _ in ways]
    for number in range(rounds + 1):
        for run, of_run in zip(ways, times, strict=True):
            started = time.perf_counter()
            run(number)
            of_run.append(1000 * (time.perf_counter() - started))
    return [statistics.median(of_run[1:]) for of_run in times]  # the first round warms up


def _blas(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    products = rows @ query
    best: np.ndarray = np.argpartition(products, -K)[-K:]
    return np.asarray(best[products[best].argsort()[::-1]])


def _times_as_fast(vectors: Tensor, queries: Tensor) -> float:
    """Return how many times as fast the score is as plain torch, for all queries at once."""
    some = vectors[:TORCH_STORED]
    *plain, ours = _in_turns(
        *(lambda _, block=block: _plain_torch(some, queries, *block) for block in BLOCKS),
        lambda _: ORDER(Embeddings(queries), Embeddings(vectors)),
        rounds=FEW_ROUNDS,
    )
    return min(plain) * len(vectors) / len(some) / ours


def _plain_torch(vectors: Tensor, queries: Tensor, rows: int, columns: int) -> None:
    for part in vectors.split(columns):
        for some in queries.split(rows):
            (some[:, None] - part).clamp(min=0).square().sum(2)


def _memory_ratio(folder: Path, queries: Tensor, progress: StageProgress) -> float:
    """Return how much exact searches enlarge this process, over the size of the vectors."""
    progress("Memory", 0, 1)
    before = memory.resident() or 0
    store = opening.open_store(str(folder))
    for query in queries[:ROUNDS]:
        search_store(store, Embeddings(query[None]), ORDER, K)
    size = store.about.photos * store.about.dim * 2
    return ((memory.resident() or 0) - before) / size


def _stores(
    folder: Path, score: Score, queries: Tensor, progress: StageProgress
) -> dict[str, float]:
    """Return times and recall of all stores with the same embeddings."""
    about = opening.open_store(str(folder)).about
    milvus = f"milvus:{folder / 'milvus.db'}"
    for to in ("usearch", milvus):
        stage = f"{to.partition(':')[0]}, {about.checkpoint}"
        opening.build(folder, to, score, partial(progress, stage))
    exact = _Searches(str(folder), score, queries)
    near = _Searches(f"usearch:{folder}", score, queries)
    sent = _Searches(milvus, score, queries)
    return {
        "exact_ms": exact.milliseconds,
        "usearch_ms": near.milliseconds,
        "usearch_vs_exact": near.milliseconds / exact.milliseconds,
        "usearch_recall": near.recall(exact),
        "milvus_ms": sent.milliseconds,
        "milvus_recall": sent.recall(exact),
        "certain": statistics.fmean(sent.certain),
    }


class _Searches:
    """The results of searches of a store, one query after the other.

    Attributes:
        milliseconds: Median time of a search.
        scores: Scores of the best hits of each query.
        certain: Whether the hits of each query cannot be wrong.
    """

    def __init__(self, address: str, score: Score, queries: Tensor) -> None:
        store = opening.open_store(address)
        search_store(store, Embeddings(queries[:1]), score, K)
        times, self.scores, self.certain = [], [], []
        for query in queries:
            started = time.perf_counter()
            result = search_store(store, Embeddings(query[None]), score, K)
            times.append(1000 * (time.perf_counter() - started))
            self.scores.append([hit.score for hit in result.hits])
            self.certain.append(result.is_certain)
        self.milliseconds = statistics.median(times)

    def recall(self, exact: _Searches) -> float:
        """Return the share of these results that are as good as the last of the exact ones.

        Many sentences are equal for a model, so that several results are exact.
        """
        pairs = zip(self.scores, exact.scores, strict=True)
        return statistics.fmean(
            sum(score >= theirs[-1] - ROUNDING for score in mine) / len(theirs)
            for mine, theirs in pairs
        )
