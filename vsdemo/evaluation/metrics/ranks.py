"""Ranks of the right items among scores, and recalls and mean ranks from them."""

from __future__ import annotations

from math import comb

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.errors import UserError

RECALLS = (1, 5, 10)
BLOCK = 1 << 22  # scores that are compared at a time, so that copies of them are small
DEEPER_RECALLS = (20, 50)  # as in Dufour 2015, Table 3


def best_ranks(scores: Tensor, relevant: Tensor) -> Tensor:
    """Return the rank of the best relevant item for each query, (Q,).

    rank = 1 + number of other items that score higher + half the number of those that tie, so
    ranks start at 1 and may be half-integers.

    Args:
        scores: (Q, N), higher is better.
        relevant: (Q, N) booleans, at least one true in each row.

    Raises:
        UserError: A score is NaN, which no score would outrank.
    """
    result = scores.new_empty(len(scores))
    size = max(1, BLOCK // max(1, scores.shape[1]))
    for start in range(0, len(scores), size):
        rows = slice(start, start + size)
        result[rows] = _best_ranks(scores[rows], relevant[rows])
    return result


def _best_ranks(scores: Tensor, relevant: Tensor) -> Tensor:
    if scores.isnan().any():
        raise UserError("Some scores are NaN; the model's weights are damaged.")
    best = scores.masked_fill(~relevant, -torch.inf).amax(1, keepdim=True)  # (Q, 1)
    higher = ((scores > best) & ~relevant).sum(1)
    tied = ((scores == best) & ~relevant).sum(1)
    return 1 + higher + tied / 2


def summary(ranks: np.ndarray) -> dict[str, float]:
    """Return the metrics of ranks, (Q,).

    r1, r5, r10, r20, r50: R@K in percent; medr: floor of the median rank; meanr: mean rank.
    """
    recalls = {f"r{k}": 100 * float((ranks <= k).mean()) for k in RECALLS + DEEPER_RECALLS}
    return {
        **recalls,
        "medr": float(np.floor(np.median(ranks))),
        "meanr": float(ranks.mean()),
    }


def chance(items: int, relevant: int) -> dict[str, float]:
    """Return the expected `summary` of the best ranks in random orders.

        P(rank <= k) = 1 - C(items - k, relevant) / C(items, relevant)
        E(rank) = (items + 1) / (relevant + 1)

    Args:
        items: Number of items in each order.
        relevant: How many of them are right, at least 1.
    """
    total = comb(items, relevant)

    def within(k: int) -> float:
        return 1 - comb(items - k, relevant) / total

    return {
        **{f"r{k}": 100 * within(k) for k in RECALLS + DEEPER_RECALLS if k <= items},
        "medr": float(next(k for k in range(1, items + 1) if within(k) >= 1 / 2)),
        "meanr": (items + 1) / (relevant + 1),
    }
