"""Puts the photos of a gallery in order for a query.

Each term of a query of several has a score with every photo of the gallery. As sentences and photos
score on different scales, the scores of a term t are standardised over the photos v,

    z(t, v) = (s(t, v) - mean_u s(t, u)) / std_u s(t, u),

and the score of a photo is the mean of its standardised scores, weighted by the terms' weights w. A
term with a negative weight only counts against photos that are like it: those least like it are no
better than the average photo.

    total(v) = sum_t w_t z(t, v) / sum_t |w_t|,    z(t, v) >= 0 where w_t < 0

A query of one term keeps the scores of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.hits import BarScale, Hit, make_hits
from vsdemo.data.catalog.filters import PhotoOrder
from vsdemo.data.catalog.table import PhotoTable
from vsdemo.search.index import Index
from vsdemo.search.query import PhotoScores, Query

DATED = 200  # best photos of a query that are put in the order of their dates
DEVIATIONS = 6.0  # mean standardised score at which a bar is full
UNIT = "fit"
MEANING = (
    "How well the photo fits all parts of the query: how many standard deviations it is above the "
    f"average photo of the gallery, divided by {DEVIATIONS:g}."
)


@dataclass(frozen=True)
class Ranking:
    """All photos of a gallery that answer a query, in order; or all sentences for a photo.

    Attributes:
        names: Names of all N photos of the gallery, or the sentences.
        numbers: (M,) numbers of the photos, in order.
        scores: (M,) their scores; zeros for a query without terms.
        unit_scores: (M,) their scores mapped to 0..1.
        scale: Scale of the bars of unit scores.
        unit: Unit of the scores.
        meaning: What the scores mean.
        candidates: How many photos meet the query's conditions; those of the query count too.
        best: Each sentence of the query that photos should match, and its highest unit score,
            without `Score.offset`, with a photo that meets the conditions.
        copies: (M,) how many photos are nearly the same as each, and are left out; None if such
            photos are not grouped.
    """

    names: Sequence[str]
    numbers: Tensor
    scores: Tensor
    unit_scores: Tensor
    scale: BarScale | None
    unit: str
    meaning: str
    candidates: int
    best: tuple[tuple[str, float], ...] = ()
    copies: Tensor | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def hits(self, start: int = 0, count: int = 10) -> list[Hit]:
        """Return `count` photos, starting with the one at `start`; fewer at the end."""
        part = slice(start, start + count)
        rows = zip(
            self.numbers[part].tolist(),
            self.scores[part].tolist(),
            self.unit_scores[part].tolist(),
            strict=True,
        )
        return make_hits(self.names, rows, self.scale, start)

    def places_of(self, numbers: Iterable[int]) -> dict[int, int]:
        """Return the places, counted from 0, of the given photos that are in the ranking."""
        wanted = {*numbers}
        places = enumerate(self.numbers.tolist())
        return {number: place for place, number in places if number in wanted}


def rank(
    query: Query,
    of_terms: Sequence[Tensor],
    photos: Index,
    table: PhotoTable | None = None,
    groups: Tensor | None = None,
    offsets: Sequence[float] = (),
) -> Ranking:
    """Return the photos of a gallery that meet the conditions of a query, the best first.

    Ties keep the order of the gallery. By date, photos without a date come last; with terms, only
    the DATED best photos are put in this order.

    Args:
        query: The query.
        of_terms: The scores of each of its terms with the N photos, each (N,).
        photos: Index of the photos.
        table: What is known about the photos; needed for conditions and dates.
        groups: (N,) the same number for photos that are nearly the same, if they are grouped.
        offsets: `Score.offset` of each term; 0 by default.

    Raises:
        UserError: There are no photos in the folder of the query.
    """
    meets = _candidates(query, len(photos), table)
    candidates = int(meets.sum())
    for term in query.terms:
        if isinstance(term.source, int):
            meets[term.source] = False  # a photo of the query is not a result
    scores, unit_scores, scale, unit, meaning = _total(query, of_terms, photos)
    numbers = meets.nonzero()[:, 0]  # (C,)
    all_offsets = offsets or [0.0] * len(of_terms)
    best = tuple(
        (term.source, float(photos.score.to_unit(of_term[numbers].max() - offset)))
        for term, of_term, offset in zip(query.terms, of_terms, all_offsets, strict=True)
        if isinstance(term.source, str) and term.weight > 0 and len(numbers)
    )
    if query.terms:
        numbers = numbers[scores[numbers].sort(descending=True, stable=True).indices]
    copies = None
    if groups is not None:
        numbers, copies = _first_of_groups(numbers, groups)
    if query.order is not PhotoOrder.FIT and table is not None:
        numbers = numbers[: DATED if query.terms else None]
        by_date = _by_date(table.taken[numbers.numpy()], query.order)
        numbers = numbers[by_date]
        copies = None if copies is None else copies[by_date]
    return Ranking(
        names=photos.items,
        numbers=numbers,
        scores=scores[numbers],
        unit_scores=unit_scores[numbers],
        scale=scale,
        unit=unit,
        meaning=meaning,
        candidates=candidates,
        best=best,
        copies=copies,
    )


def rank_scores(scores: Tensor, index: Index) -> Ranking:
    """Return all N items of an index by their scores with one query of the other kind, (N,)."""
    scores, numbers = scores.float().cpu().sort(descending=True, stable=True)
    return Ranking(
        names=index.items,
        numbers=numbers,
        scores=scores,
        unit_scores=index.score.to_unit(scores),
        scale=index.scale,
        unit=index.score.unit,
        meaning=index.score.meaning,
        candidates=len(index),
    )


def _candidates(query: Query, count: int, table: PhotoTable | None) -> Tensor:
    """Return which photos meet the conditions, (N,) bool."""
    result = torch.ones(count, dtype=torch.bool)
    if table is not None and not query.filter.is_empty:
        result = torch.from_numpy(table.mask(query.filter))
    if query.within is not None:
        searched = torch.zeros_like(result)
        searched[list(query.within)] = True
        result &= searched
    return result


def _total(
    query: Query, of_terms: Sequence[Tensor], photos: Index
) -> tuple[Tensor, Tensor, BarScale | None, str, str]:
    """Return scores (N,), unit scores (N,) and their scale, unit and meaning."""
    if not of_terms:
        zeros = torch.zeros(len(photos))
        return zeros, zeros, None, "", ""
    if len(of_terms) == 1:
        (term,), (scores,), score = query.terms, of_terms, photos.score
        if isinstance(term.source, PhotoScores):
            return scores, scores, None, term.source.unit, term.source.meaning
        scale = photos.scale if isinstance(term.source, str) else photos.similarity_scale
        return scores, score.to_unit(scores), scale, score.unit, score.meaning
    scores = combine(of_terms, [term.weight for term in query.terms])
    return scores, (scores / DEVIATIONS).clamp(0, 1), None, UNIT, MEANING


def combine(scores: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    """Return the weighted mean of the standardised scores of T terms, each (N,), as (N,)."""
    total = torch.zeros_like(scores[0])
    for of_term, weight in zip(scores, weights, strict=True):
        deviation = of_term.std(correction=0).clamp_min(torch.finfo(of_term.dtype).tiny)
        z = (of_term - of_term.mean()) / deviation
        total += weight * (z if weight > 0 else z.clamp_min(0))
    return total / sum(map(abs, weights))


def _first_of_groups(numbers: Tensor, groups: Tensor) -> tuple[Tensor, Tensor]:
    """Keep the first photo of each group, and count the others of each.

    Args:
        numbers: (M,) numbers of photos, in order.
        groups: (N,) groups of all photos; those with the same number are of one group.

    Returns:
        (F,) numbers and (F,) counts.
    """
    of_number = groups[numbers].numpy()
    _, first, sizes = np.unique(of_number, return_index=True, return_counts=True)
    order = first.argsort()
    return numbers[torch.from_numpy(first[order])], torch.from_numpy(sizes[order] - 1)


def _by_date(taken: np.ndarray, order: PhotoOrder) -> Tensor:
    """Return the places of M photos in the order of their dates, (M,)."""
    seconds = taken.astype(np.int64)
    key = -seconds if order is PhotoOrder.NEWEST else seconds
    return torch.from_numpy(np.lexsort((key, np.isnat(taken))))
