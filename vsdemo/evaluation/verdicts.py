"""The verdict on a claim of a paper, by one rule for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

HOLDS, FAILS, OPEN = "holds", "does not hold", "not shown"
RULE = (
    "A claim holds where the 95% interval of what should be above 0 lies above 0; it does not hold "
    "where the interval lies at or below 0; otherwise it is not shown. A claim about several "
    "figures holds if it holds in all of them, and does not hold if it fails in one."
)


def verdict(interval: Sequence[float]) -> str:
    """Return the verdict on an interval [low, high] of what should be above 0."""
    low, high = interval
    if low > 0:
        return HOLDS
    return FAILS if high <= 0 else OPEN


def joint_verdict(intervals: Iterable[Sequence[float]]) -> str:
    """Return the verdict on several intervals [low, high], each of what should be above 0."""
    lows, highs = zip(*intervals, strict=True)
    return verdict([min(lows), min(highs)])
