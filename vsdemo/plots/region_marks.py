"""Numbers and colours of an alignment's regions, the same in every picture of it.

A region and the words that speak of it share a colour of Okabe and Ito, whose names are told by
the number beside it. Numbers count up as the sentence is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vsdemo.core.alignment import Alignment

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
INKS = ("#ffffff", "#111111")

Size = tuple[float, float]


@dataclass(frozen=True)
class Mark:
    """What a region is known by; `ink` can be read on `colour`."""

    number: int
    colour: str
    ink: str


def mark(number: int) -> Mark:
    """The mark of the region that is spoken of as number 1, 2, ..."""
    colour = COLOURS[(number - 1) % len(COLOURS)]
    return Mark(number, colour, max(INKS, key=lambda ink: contrast(ink, colour)))


def contrast(a: str, b: str) -> float:
    """Of two colours as #rrggbb: from 1 to 21."""
    low, high = sorted(map(_luminance, (a, b)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def regions_of_words(alignment: Alignment) -> list[int | None]:
    """For each word the region of its surest fragment; None where none of them is grounded."""
    found: list[tuple[float, int] | None] = [None] * len(alignment.words)
    for m, fragment in enumerate(alignment.fragments):
        region = alignment.best_region(m)
        if region is None:
            continue
        score = alignment.scores[m][region]
        for word in set(fragment.words):
            before = found[word]
            if before is None or score > before[0]:
                found[word] = score, region
    return [None if f is None else f[1] for f in found]


def marks(alignment: Alignment) -> dict[int, Mark]:
    """Region -> its mark, of those that some fragment speaks of, in the order of the words."""
    words = regions_of_words(alignment)
    rest = (alignment.best_region(m) for m in range(len(alignment.fragments)))
    spoken = dict.fromkeys(r for r in (*words, *rest) if r is not None)
    return {region: mark(number) for number, region in enumerate(spoken, start=1)}


def marks_of_words(alignment: Alignment) -> list[Mark | None]:
    """For each word the mark of its region."""
    known = marks(alignment)
    return [None if r is None else known[r] for r in regions_of_words(alignment)]


def phrase(alignment: Alignment, fragment: int) -> str:
    """The words of a fragment in the order of the sentence."""
    numbers = sorted(set(alignment.fragments[fragment].words))
    return " ".join(alignment.words[n] for n in numbers)


def decimals(values: Sequence[float]) -> int:
    """How many are worth writing: the largest value has at least two figures, from 2 to 6."""
    most = max(map(abs, values), default=0)
    return next((n for n in range(2, 6) if most >= 10 ** (1 - n)), 6) if most else 2


def badges(
    boxes: Sequence[tuple[float, float, float, float]], size: Size, radius: float
) -> list[tuple[float, float]]:
    """Where the number of each box stands, in the units of `size`: in its upper left corner, or
    beside the numbers that stand there already."""
    placed: list[tuple[float, float]] = []
    step = 2 * radius + 1
    for x0, y0, x1, _ in boxes:
        left, top = x0 * size[0] + radius, y0 * size[1] + radius
        right = max(left, min(x1 * size[0], size[0]) - radius)
        x, y = left, min(top, size[1] - radius)
        while any(abs(x - a) < step - 0.5 and abs(y - b) < step - 0.5 for a, b in placed):
            x, y = (x + step, y) if x + step <= right else (left, y + step)
        placed.append((x, y))
    return placed
