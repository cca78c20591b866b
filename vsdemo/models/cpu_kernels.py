"""Scores on the CPU, compiled by numba: each number is used as soon as it is read.

In operations of torch the differences of all pairs and coordinates would be written to memory and
read again twice, and stored items in half precision would be converted in memory first.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor

from vsdemo.core import cores
from vsdemo.core.numba_cache import let_numba_cache

let_numba_cache()

import numba  # noqa: E402 (it reads where to cache when it is imported)
import numpy as np  # noqa: E402
from llvmlite import ir  # noqa: E402
from numba.extending import intrinsic  # noqa: E402

FEW = 1 << 18  # numbers to compare; with fewer, one core is as fast as all
ROWS = 12  # of the upper items, which stay in the nearest cache while the lower ones are read
# Fast mathematics without the assumption that no number is NaN: what is compared with one is NaN.
REORDERED = {"reassoc", "contract", "nsz", "arcp"}
TINY = np.float32(1e-12)  # the least length that a vector is divided by, as in `F.normalize`
_POOL = ThreadPoolExecutor(cores.available(), "scores")
_jit = numba.njit(nogil=True, fastmath=REORDERED, cache=True)


def violation(lower: Tensor, upper: Tensor) -> Tensor:
    """Return E[i, j] = |max(0, lower_i - upper_j)|^2 of items (I, D) and (J, D), (I, J).

    Args:
        lower: The lower items, on the CPU, in single or double precision.
        upper: The upper items, on the CPU, in the same precision.
    """
    result = lower.new_empty(len(lower), len(upper))
    below, above, out = (x.detach().contiguous().numpy() for x in (lower, upper, result))
    if len(lower) > len(upper):
        _in_parts(
            len(lower), upper.numel(), lambda part: _violations(below[part], above, out[part])
        )
    else:
        _in_parts(
            len(upper), lower.numel(), lambda part: _violations(below, above[part], out[:, part])
        )
    return result


def products(query: Tensor, stored: Tensor, start: int = 0) -> Tensor:
    """Return the inner products of a query (K,) with stored items (N, D), (N,).

    This and the functions below compare the K coordinates from `start` on. They return single
    precision, whatever the precision of the stored items; a row is added up in the same order
    however many rows there are.

    Args:
        query: On the CPU.
        stored: On the CPU, in single or half precision.
        start: First coordinate of the stored items to compare.
    """
    return _scan(_products, query, stored, start)


def cosines(query: Tensor, stored: Tensor, start: int = 0) -> Tensor:
    """Return the cosines of a query (K,) with stored items (N, D), (N,); see `products`."""
    length = query.float().norm().clamp(min=TINY)
    return _scan(_cosines, query.float() / length, stored, start)


def squared_distances(query: Tensor, stored: Tensor, start: int = 0) -> Tensor:
    """Return |query - row|^2 of stored items (N, D), (N,); see `products`."""
    return _scan(_squared_distances, query, stored, start)


def violations_below(query: Tensor, stored: Tensor, start: int = 0) -> Tensor:
    """Return |max(0, query - row)|^2 of stored items (N, D), (N,); see `products`."""
    return _scan(_violations_of_query, query, stored, start, np.float32(1))


def violations_above(query: Tensor, stored: Tensor, start: int = 0) -> Tensor:
    """Return |max(0, row - query)|^2 of stored items (N, D), (N,); see `products`."""
    return _scan(_violations_of_query, query, stored, start, np.float32(-1))


def alignments(
    parts: Tensor, signs: Tensor, stored: Tensor, regions: Tensor, *, best_region: bool = False
) -> Tensor:
    """Return what the parts of a sentence add to its scores with N stored photos, (N,).

    It is the sum over parts j of their sign times sum_i max(0, v_i . s_j) / regions, or times
    max_i max(0, v_i . s_j) with `best_region`; a region v_i that is missing is a vector of zeros.

    Args:
        parts: s, (M, D), on the CPU.
        signs: 1 or -1 for each part, (M,).
        stored: v, (N, K, D), on the CPU, in single or half precision.
        regions: How many regions each photo has, (N,).
        best_region: Whether only the best region counts for each part.
    """
    result = torch.empty(len(stored))
    s, out = parts.detach().float().contiguous().numpy(), result.numpy()
    factors = signs.float().numpy()
    counts = np.ones(len(stored), np.float32) if best_region else regions.float().numpy()
    sets = _readable(stored)
    width = len(parts) * stored[:1].numel()
    _in_parts(
        len(sets),
        width,
        lambda part: _alignments(s, factors, sets[part], counts[part], best_region, out[part]),
    )
    return result


def _readable(stored: Tensor) -> np.ndarray:
    """Return stored items as numba reads them: numbers in half precision as their bits."""
    rows: np.ndarray = stored.detach().contiguous().numpy()
    return rows.view(np.uint16) if stored.dtype == torch.half else rows


def _scan(
    kernel: Callable[..., None], query: Tensor, stored: Tensor, start: int, *more: Any
) -> Tensor:
    result = torch.empty(len(stored))
    numbers, out = query.detach().float().contiguous().numpy(), result.numpy()
    rows = _readable(stored)
    _in_parts(
        len(rows), len(numbers), lambda part: kernel(numbers, rows[part], start, out[part], *more)
    )
    return result


def _in_parts(count: int, width: int, run: Callable[[slice], None]) -> None:
    """Run a function on `count` items, of `width` numbers to compare each, on all cores."""
    if count * width < FEW:
        run(slice(count))
        return
    share = max(1, -(-count // cores.available()))
    list(_POOL.map(run, [slice(start, start + share) for start in range(0, count, share)]))


@_jit
def _violations(lower: Any, upper: Any, result: Any) -> None:
    zero, end = result.dtype.type(0), len(upper) - 1
    for first in range(0, len(upper), ROWS):
        for i in range(len(lower)):
            # Four at a time, as each number of the lower item is then read once for all four. The
            # last ones are computed again if there are fewer, so that all are added alike.
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


def _convert(context: Any, number: Any) -> Any:
    """Make code that converts the bits of a number in half precision and keeps single precision."""

    def convert(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        half, single = ir.HalfType(), ir.FloatType()  # type: ignore[no-untyped-call]
        return builder.fpext(builder.bitcast(args[0], half), single)

    def keep(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return args[0]

    return numba.float32(number), convert if number == numba.uint16 else keep


_single: Any = intrinsic(_convert)


@_jit
def _products(query: Any, rows: Any, start: int, result: Any) -> None:
    for i in range(len(rows)):
        row = rows[i, start : start + len(query)]
        total = np.float32(0)
        for d in range(len(query)):
            total += query[d] * _single(row[d])
        result[i] = total


@_jit
def _cosines(query: Any, rows: Any, start: int, result: Any) -> None:
    for i in range(len(rows)):
        row = rows[i, start : start + len(query)]
        total = square = np.float32(0)
        for d in range(len(query)):
            y = _single(row[d])
            total += query[d] * y
            square += y * y
        result[i] = total / max(np.sqrt(square), TINY)


@_jit
def _squared_distances(query: Any, rows: Any, start: int, result: Any) -> None:
    for i in range(len(rows)):
        row = rows[i, start : start + len(query)]
        total = np.float32(0)
        for d in range(len(query)):
            total += (query[d] - _single(row[d])) ** 2
        result[i] = total


@_jit
def _violations_of_query(query: Any, rows: Any, start: int, result: Any, sign: float) -> None:
    zero = np.float32(0)
    for i in range(len(rows)):
        row = rows[i, start : start + len(query)]
        total = zero
        for d in range(len(query)):
            total += max(sign * (query[d] - _single(row[d])), zero) ** 2
        result[i] = total


@_jit
def _alignments(
    parts: Any,
    signs: Any,
    sets: Any,
    counts: Any,
    best_region: bool,  # noqa: FBT001
    result: Any,
) -> None:
    zero = np.float32(0)
    region = np.empty(parts.shape[1], np.float32)
    best = np.empty(len(parts), np.float32)
    for i in range(len(sets)):
        best[:] = zero
        total = zero
        for k in range(sets.shape[1]):
            for d in range(len(region)):
                region[d] = _single(sets[i, k, d])
            for j in range(len(parts)):
                product = zero
                for d in range(len(region)):
                    product += region[d] * parts[j, d]
                product = max(product, zero)
                total += signs[j] * product
                best[j] = max(best[j], product)
        result[i] = (signs * best).sum() if best_region else total / counts[i]
