"""The confidence interval of a share of a few items."""

from __future__ import annotations

import math

NORMAL_95 = 1.959964


def wilson(positive: int, total: int) -> tuple[float, float]:
    """Return the 95% interval of the share of `positive` items among `total` (Wilson 1927)."""
    p, z2 = positive / total, NORMAL_95**2
    middle = (p + z2 / (2 * total)) / (1 + z2 / total)
    half = NORMAL_95 / (1 + z2 / total) * math.sqrt(p * (1 - p) / total + z2 / (4 * total * total))
    return max(middle - half, 0.0), min(middle + half, 1.0)
