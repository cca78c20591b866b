"""Groups of photos that are nearly the same, such as copies in another size or quality.

Two photos are grouped if their looks differ in at most 10 of 64 bits and the cosine of their
embeddings is at least halfway from that of unrelated photos to 1. Measured on Flickr8k with
an earlier `flickr8k/gru-pocket`:

- Found: all copies in JPEG quality 50, in half the size, 30% brighter or darker, or with a line of
  text; 98% of those trimmed by 3% on one side, 94% of those trimmed by 3% on every side; no
  mirrored ones.
- Wrong: none. Of the 33 million pairs of its 8,091 photos, looks alone accept 9, looks and
  embeddings 1, which is the same photo twice. Other photos of a scene are not grouped: the nearest
  ones differ in 11 bits or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from vsdemo.data.catalog.look import BITS, FLAT

Numbers = npt.NDArray[np.int64]

MAX_DISTANCE = 10  # bits in which the looks of copies may differ
MOST_UNLIKE = 0.6  # highest cosine of unrelated photos, in case all are copies of a few
SAMPLE = 2000  # pairs of photos from which the cosine of unrelated ones is estimated
QUARTERS = 4  # of a look; in one of them copies differ in at most MAX_DISTANCE / 4 bits
MASKS = [
    sum(1 << bit for bit in bits)
    for count in range(MAX_DISTANCE // QUARTERS + 1)
    for bits in combinations(range(BITS // QUARTERS), count)
]
PAIRS = 100_000  # whose embeddings are compared at a time
CANDIDATES = 4_000_000  # pairs whose looks are compared at a time


def group_duplicates(
    looks: npt.NDArray[np.uint64], x: Tensor, contents: Sequence[str] = ()
) -> Numbers:
    """Return for each of N photos the number of the first photo of its group, (N,).

    Args:
        looks: The looks of the photos, (N,); `FLAT` for those without one, which are
            grouped only by their content.
        x: Their embeddings, (N, D), by any model of photos.
        contents: Their content hashes, empty where unknown; equal ones are one group.
    """
    groups = _first_of_each(contents) if contents else np.arange(len(looks))
    least = min_cosine(x)
    compared = np.flatnonzero((looks != FLAT) & (groups == np.arange(len(looks))))
    for first, second in _blocks(_near_pairs(looks[compared])):
        i, j = compared[first], compared[second]
        apart = groups[i] != groups[j]
        i, j = i[apart], j[apart]
        alike = F.cosine_similarity(x[i], x[j]).cpu().numpy() >= least
        groups = _joined(groups, groups[i[alike]], groups[j[alike]])
    return groups


def min_cosine(x: Tensor) -> float:
    """Return the lowest cosine at which two of N photos (N, D) may be copies.

    It is halfway from that of unrelated photos, which depends on the model, to 1.
    """
    count = len(x)
    if count < 2:
        return 1.0
    generator = torch.Generator().manual_seed(0)
    i = torch.randint(count, (SAMPLE,), generator=generator).to(x.device)
    steps = torch.randint(1, count, (SAMPLE,), generator=generator).to(x.device)
    unrelated = float(F.cosine_similarity(x[i], x[(i + steps) % count]).median())
    return (min(max(unrelated, 0.0), MOST_UNLIKE) + 1) / 2


def _first_of_each(contents: Sequence[str]) -> Numbers:
    """Return the number of the first photo with the same content; its own if that is unknown."""
    first: dict[str, int] = {}
    return np.array(
        [
            first.setdefault(content, number) if content else number
            for number, content in enumerate(contents)
        ],
        dtype=np.int64,
    )


def _joined(groups: Numbers, first: Numbers, second: Numbers) -> Numbers:
    """Return groups after some of them, (P,) and (P,), were joined in pairs."""
    from scipy.sparse import coo_array  # takes long to import, and the app should start soon
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(first)), (first, second)), shape=(len(groups), len(groups)))
    _, labels = connected_components(edges, directed=False)
    _, smallest = np.unique(labels, return_index=True)
    joined: Numbers = smallest[labels[groups]]
    return joined


def _near_pairs(looks: npt.NDArray[np.uint64]) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield pairs whose looks differ in at most MAX_DISTANCE bits, some of them repeatedly.

    If looks differ, only the first photo with each look is paired. Thousands of photos may have the
    same look, so each of them is paired only with the first and the previous one.
    """
    order = np.argsort(looks, kind="stable")
    values, begins, counts = np.unique(looks[order], return_index=True, return_counts=True)
    firsts = order[begins]  # (U,)
    repeated = np.setdiff1d(np.arange(len(looks)), begins)  # positions in `order`
    yield order[repeated], np.repeat(firsts, counts - 1)
    yield order[repeated], order[repeated - 1]
    for i, j in _near_values(values):
        yield firsts[i], firsts[j]


def _near_values(looks: npt.NDArray[np.uint64]) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield all pairs of different looks (U,) that differ in at most MAX_DISTANCE bits.

    In one quarter of the bits such looks differ in at most a quarter of MAX_DISTANCE. So, for each
    quarter, looks are sorted by its value, and each is compared only with those whose value differs
    in so few bits.
    """
    for quarter in looks.view(np.uint16).reshape(-1, QUARTERS).T:
        order = np.argsort(quarter, kind="stable")
        values, ordered = quarter[order].astype(np.int64), looks[order]
        starts = np.searchsorted(values, np.arange(2 ** (BITS // QUARTERS) + 1))
        after = np.arange(1, len(values) + 1)  # so that each pair is compared once
        for mask in MASKS:
            begins = np.maximum(starts[values ^ mask], after)
            counts = np.maximum(starts[(values ^ mask) + 1] - begins, 0)
            for i, j in _expand(begins, counts):
                near = np.bitwise_count(ordered[i] ^ ordered[j]) <= MAX_DISTANCE
                yield order[i[near]], order[j[near]]


def _expand(begins: Numbers, counts: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield each number i with begins[i] to begins[i] + counts[i] - 1, CANDIDATES at a time."""
    rows = np.flatnonzero(counts)
    ends = np.cumsum(counts[rows])
    while len(rows):
        size = max(1, int(np.searchsorted(ends, ends[0] - counts[rows[0]] + CANDIDATES)))
        part, number = rows[:size], counts[rows[:size]]
        firsts = np.repeat(begins[part] - (np.cumsum(number) - number), number)
        yield np.repeat(part, number), firsts + np.arange(len(firsts))
        rows, ends = rows[size:], ends[size:]


def _blocks(pairs: Iterator[tuple[Numbers, Numbers]]) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield the same pairs, PAIRS at a time."""
    i = j = np.empty(0, dtype=np.int64)
    for first, second in pairs:
        i, j = np.concatenate([i, first]), np.concatenate([j, second])
        while len(i) >= PAIRS:
            yield i[:PAIRS], j[:PAIRS]
            i, j = i[PAIRS:], j[PAIRS:]
    yield i, j
