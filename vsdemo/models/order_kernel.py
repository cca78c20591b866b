"""The order violation on the CPU, compiled by numba: each pair is added up as it is read.

In operations of torch the differences of all pairs and coordinates would be written to memory, and
read again twice.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from torch import Tensor

from vsdemo.core import cores
from vsdemo.core.numba_cache import let_numba_cache

let_numba_cache()

import numba  # noqa: E402 (it reads where to cache when it is imported)

FEW = 1 << 18  # numbers to compare, below which one core is as fast as all
ROWS = 16  # of the upper items, which stay in the processor's cache while the lower ones are read
# Fast mathematics without the assumption that no number is NaN: what is compared with one is NaN.
REORDERED = {"reassoc", "contract", "nsz", "arcp"}
_POOL = ThreadPoolExecutor(cores.available(), "order-violation")


def violation(lower: Tensor, upper: Tensor) -> Tensor:
    """Return E[i, j] = |max(0, lower_i - upper_j)|^2 of items (I, D) and (J, D), (I, J).

    Args:
        lower: On the CPU, in single or double precision, and so is `upper`.
        upper: The other items.
    """
    result = lower.new_empty(len(lower), len(upper))
    below, above, out = (x.detach().contiguous().numpy() for x in (lower, upper, result))
    if len(lower) * upper.numel() < FEW:
        _fill(below, above, out)
    elif len(lower) > len(upper):
        parts = _shares(len(lower))
        list(_POOL.map(lambda part: _fill(below[part], above, out[part]), parts))
    else:
        parts = _shares(len(upper))
        list(_POOL.map(lambda part: _fill(below, above[part], out[:, part]), parts))
    return result


def _shares(count: int) -> list[slice]:
    """Return a share of the numbers below `count` for each core."""
    share = max(1, -(-count // cores.available()))
    return [slice(start, start + share) for start in range(0, count, share)]


@numba.njit(
    ["(f4[:, ::1], f4[:, ::1], f4[:, :])", "(f8[:, ::1], f8[:, ::1], f8[:, :])"],
    nogil=True,
    fastmath=REORDERED,
    cache=True,
)
def _fill(lower: Any, upper: Any, result: Any) -> None:
    zero, end = result.dtype.type(0), len(upper) - 1
    for first in range(0, len(upper), ROWS):
        for i in range(len(lower)):
            # Four at a time, as each number of the lower item is then read once for all four. The
            # last ones are computed again if there are fewer, so that all are added up alike.
            for j in range(first, min(first + ROWS, len(upper)), 4):
                j1, j2, j3 = min(j + 1, end), min(j + 2, end), min(j + 3, end)
                total = total1 = total2 = total3 = zero
                for d in range(lower.shape[1]):
                    x = lower[i, d]
                    total += max(x - upper[j, d], zero) ** 2
                    total1 += max(x - upper[j1, d], zero) ** 2
                    total2 += max(x - upper[j2, d], zero) ** 2
                    total3 += max(x - upper[j3, d], zero) ** 2
                result[i, j], result[i, j1] = total, total1
                result[i, j2], result[i, j3] = total2, total3
