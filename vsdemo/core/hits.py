"""Search results."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hit:
    """One photo or caption of a search result.

    Args:
        rank: Counted from 1.
        number: Index of the photo or caption in its gallery.
        item: File name of the photo, or the caption.
        score: The model's score; higher is better.
        unit_score: The score mapped to 0..1, for bars.
    """

    rank: int
    number: int
    item: str
    score: float
    unit_score: float


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
