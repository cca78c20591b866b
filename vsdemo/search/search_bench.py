"""Speed of exact search, beside what any program would do with the same vectors."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from vsdemo.core import cores
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.progress import StageProgress
from vsdemo.models.scores import SCORES, Score
from vsdemo.search.index import Index

DIM, K = 512, 10
STORED, MANY_STORED = 100_000, 1_000_000
QUERIES = 1_000
ROUNDS = 9  # medians are reported
BLOCK = 1 << 20  # numbers in a block of plain torch, few enough for the cache
COLUMNS = 64  # vectors in such a block


def measure(progress: StageProgress) -> dict[str, Any]:
    """Search random vectors on one machine.

    Args:
        progress: Called with a stage, steps done and all of them.

    Returns:
        `order_ms` and `blas_ms`: the ten best of 100,000 vectors of 512 numbers for one query, by
        the order violation, and by BLAS and a partition; `order_vs_blas`, their ratio.
        `order_vs_torch_1000`: how many times as fast all order violations of 1,000 queries are
        than by plain torch. `million_cosine_ms` and `million_order_ms`: the ten best of a million
        vectors in half precision.
    """
    stages = ("One query", "1,000 queries", "A million vectors")
    result: dict[str, Any] = {"stored": STORED, "dim": DIM, "queries": QUERIES}
    vectors, queries = _vectors(STORED, seed=0), _vectors(QUERIES, seed=1)
    progress(stages[0], 0, 1)
    result["order_ms"] = _search_ms(vectors, SCORES["order"], queries)
    result["blas_ms"] = _blas_ms(vectors, queries)
    result["order_vs_blas"] = result["order_ms"] / result["blas_ms"]
    progress(stages[1], 0, 1)
    result["order_vs_torch_1000"] = _times_as_fast(vectors, queries)
    progress(stages[2], 0, 1)
    many = torch.cat([vectors.half()] * (MANY_STORED // STORED))
    for name in ("cosine", "order"):
        result[f"million_{name}_ms"] = _search_ms(many, SCORES[name], queries)
    rounded = {k: round(v, 2) if isinstance(v, float) else v for k, v in result.items()}
    return {**rounded, "cores": cores.available(), "device": str(device())}


def _vectors(count: int, seed: int) -> Tensor:
    """Return random vectors without negative numbers, of length 1, (count, DIM)."""
    numbers = torch.rand(count, DIM, generator=torch.Generator().manual_seed(seed))
    return F.normalize(numbers, dim=1)


def _milliseconds(run: Callable[[int], object]) -> float:
    """Return the median time of a function of the number of a round, after a first call."""
    run(0)
    times = []
    for number in range(ROUNDS):
        started = time.perf_counter()
        run(number)
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times)


def _search_ms(vectors: Tensor, score: Score, queries: Tensor) -> float:
    index = Index(Embeddings(vectors.to(device())), range(len(vectors)), score)  # type: ignore[arg-type]
    return _milliseconds(lambda number: index.top_specific(Embeddings(queries[[number]]), K))


def _blas_ms(vectors: Tensor, queries: Tensor) -> float:
    rows, columns = vectors.numpy(), queries.numpy()

    def search(number: int) -> np.ndarray:
        products = rows @ columns[number]
        best: np.ndarray = np.argpartition(products, -K)[-K:]
        best = best[products[best].argsort()[::-1]]
        return best

    return _milliseconds(search)


def _times_as_fast(vectors: Tensor, queries: Tensor) -> float:
    """Return how many times as fast the score is as plain torch, for all queries at once."""
    rows = max(1, BLOCK // (COLUMNS * vectors.shape[1]))
    started = time.perf_counter()
    for part in vectors.split(COLUMNS):
        for some in queries.split(rows):
            (some[:, None] - part).clamp(min=0).square().sum(2)
    plain = time.perf_counter() - started
    SCORES["order"](Embeddings(queries[:2]), Embeddings(vectors))  # compiles it
    started = time.perf_counter()
    SCORES["order"](Embeddings(queries), Embeddings(vectors))
    return plain / (time.perf_counter() - started)
