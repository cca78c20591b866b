"""The verdict on a claim of a paper, by one rule for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

HOLDS, FAILS, OPEN = "holds", "does not hold", "not shown"
RULE = (
    "A claim predicts that a difference is above 0: it holds if the 95% interval lies above 0, "
    "does not hold if the interval lies at or below 0, and is not shown otherwise. A claim about "
    "several figures holds if it holds in all of them, and does not hold if it fails in one."
)


def verdict(interval: Sequence[float]) -> str:
    """Return the verdict on the interval [low, high] of a difference."""
    low, high = interval
    if low > 0:
        return HOLDS
    return FAILS if high <= 0 else OPEN


def joint_verdict(intervals: Iterable[Sequence[float]]) -> str:
    """Return the verdict on the intervals [low, high] of several differences."""
    lows, highs = zip(*intervals, strict=True)
    return verdict([min(lows), min(highs)])
