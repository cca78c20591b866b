"""Ranks and what is told of them, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.errors import UserError

RECALLS = (1, 5, 10)
DEEPER = (20, 50)  # told beside them, as in Dufour 2015, Table 3
RESAMPLES = 2000


class Measured(Protocol):
    """What a task found out about a model, to be summed up over any photos of a split."""

    def __len__(self) -> int:
        """The number of photos."""
        ...

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """Figures of all photos, or of those with these numbers, some of them repeatedly."""
        ...


def best_ranks(scores: Tensor, relevant: Tensor) -> Tensor:
    """Rank of the best relevant item for each query, (Q,), from 1 and possibly half-integers.

    scores: (Q, N), higher is better. relevant: (Q, N) booleans, at least one true in a row.
    rank = 1 + number of other items that score higher + half the number of those that tie.
    Raises UserError when a score is not a number, which nothing would outrank.
    """
    if scores.isnan().any():
        raise UserError("Some scores are not numbers; the model's weights are damaged.")
    best = scores.masked_fill(~relevant, -torch.inf).amax(1, keepdim=True)
    higher = ((scores > best) & ~relevant).sum(1)
    tied = ((scores == best) & ~relevant).sum(1)
    return 1 + higher + tied / 2


def summary(ranks: np.ndarray) -> dict[str, float]:
    """r1, r5, r10, r20, r50 in percent; medr = floor(median); meanr."""
    return {
        **{f"r{k}": 100 * float((ranks <= k).mean()) for k in RECALLS + DEEPER},
        "medr": float(np.floor(np.median(ranks))),
        "meanr": float(ranks.mean()),
    }


def bootstrap(
    statistic: Callable[[np.ndarray], dict[str, Any]], photos: int, seed: int = 0
) -> dict[str, Any]:
    """95% percentile intervals of a statistic, photos drawn with replacement.

    statistic: photo numbers (P,) of one resample -> (nested) dict of numbers; the same dict comes
    back with [low, high] in their place. Galleries stay whole: queries are resampled, so that
    the interval speaks of other queries of the same kind against this gallery.
    """
    draw = np.random.default_rng(seed)
    samples = [statistic(draw.integers(0, photos, photos)) for _ in range(RESAMPLES)]

    def interval(values: list[Any]) -> Any:
        if isinstance(values[0], dict):
            return {k: interval([v[k] for v in values]) for k in values[0]}
        return [round(float(v), 2) for v in np.percentile(values, [2.5, 97.5])]

    return interval(samples)


def with_intervals(found: Measured) -> dict[str, Any]:
    """The metrics, and their 95% intervals over photos as ci95."""
    return {**found.metrics(), "ci95": bootstrap(found.metrics, len(found))}


def difference(a: Measured, b: Measured) -> dict[str, Any]:
    """Metrics of a minus those of b on the same split, with a paired bootstrap over photos."""

    def minus(photos: np.ndarray | None = None) -> dict[str, Any]:
        return subtract(a.metrics(photos), b.metrics(photos))

    return {**minus(), "ci95": bootstrap(minus, len(a))}


def subtract(a: Any, b: Any) -> Any:
    """Figures minus others of the same names."""
    return {k: subtract(a[k], b[k]) for k in a} if isinstance(a, dict) else a - b
