"""Search results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

UNRELATED = 0.9  # quantile of the scores of unrelated pairs at which a bar is empty


@dataclass(frozen=True)
class BarScale:
    """Where bars of unit scores are empty and where they are full.

    The scores of a model may fill only a small part of 0..1, so that bars of unit scores would all
    look alike.

    Args:
        empty: The unit score that 9 of 10 unrelated pairs do not reach.
        full: The unit score of the best pairs, greater than `empty`.
    """

    empty: float
    full: float

    def share(self, unit_score: float) -> float:
        """Return the length of a bar, 0 to 1."""
        return min(max((unit_score - self.empty) / (self.full - self.empty), 0.0), 1.0)

    @property
    def decimals(self) -> int:
        """The number of decimals, at least 2, needed to distinguish scores on the scale."""
        return max(2, 1 + math.ceil(-math.log10(self.full - self.empty)))


@dataclass(frozen=True)
class Hit:
    """One photo or caption of a search result.

    Args:
        rank: Counted from 1.
        number: Index of the photo or caption in its gallery.
        item: File name of the photo, or the caption.
        score: The model's score; higher is better.
        unit_score: The score mapped to 0..1.
        scale: Scale of the bars of unit scores; None if it is unknown, then it is 0..1.
    """

    rank: int
    number: int
    item: str
    score: float
    unit_score: float
    scale: BarScale | None = None


def make_hits(
    items: Sequence[str] | Mapping[int, str],
    rows: Iterable[tuple[int, float, float]],
    scale: BarScale | None,
    start: int = 0,
) -> list[Hit]:
    """Return hits.

    Args:
        items: Names of the photos, or the captions, of a gallery, by their numbers.
        rows: Number, score and unit score of each hit, in order.
        scale: Scale of the bars.
        start: Number of hits that precede the first row.
    """
    return [
        Hit(
            rank=rank,
            number=number,
            item=items[number],
            score=score,
            unit_score=unit_score,
            scale=scale,
        )
        for rank, (number, score, unit_score) in enumerate(rows, start=start + 1)
    ]


@dataclass(frozen=True)
class RegionHit:
    """One region of a search result.

    Args:
        rank: Counted from 1.
        number: Index of the photo in its gallery.
        item: File name of the photo.
        box: `(x0, y0, x1, y1)` as fractions of the photo's width and height.
        score: The model's score; higher is better.
    """

    rank: int
    number: int
    item: str
    box: tuple[float, float, float, float]
    score: float
