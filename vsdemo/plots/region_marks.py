"""Numbers and colours of the regions of an alignment, the same in every figure of it.

A region and the words aligned with it share a colour of Okabe and Ito, and a number for people who
cannot tell colours apart. Regions are numbered in the order of the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vsdemo.core.alignment import WHOLE, Alignment, Link
from vsdemo.core.language import message, translate
from vsdemo.core.language import number as number_text

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
INKS = ("#ffffff", "#111111")
KINDS = {  # of fragments that are no dependencies
    "word": message("word"),
    "bigram": message("bigram"),
    "phrase": message("phrase"),
}

Size = tuple[float, float]


@dataclass(frozen=True)
class Mark:
    """The number and colour of a region.

    Args:
        number: The number, from 1.
        colour: The colour, as #rrggbb.
        ink: A colour that is readable on `colour`.
    """

    number: int
    colour: str
    ink: str


def mark(number: int) -> Mark:
    """Return the mark of a region by its number, from 1."""
    colour = COLOURS[(number - 1) % len(COLOURS)]
    return Mark(number=number, colour=colour, ink=max(INKS, key=lambda ink: contrast(ink, colour)))


def contrast(a: str, b: str) -> float:
    """Return the WCAG contrast ratio of two colours as #rrggbb, from 1 to 21."""
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def regions_of_words(alignment: Alignment) -> list[int | None]:
    """Return for each word the best region of its highest-scoring fragment.

    The region is None if no fragment of the word has one, and for function words.
    """
    fragments = map(alignment.fragment_of_word, range(len(alignment.words)))
    return [None if m is None else alignment.best_region(m) for m in fragments]


def marks(alignment: Alignment) -> dict[int, Mark]:
    """Return the marks of the regions of fragments, numbered in the order of the words."""
    by_word = regions_of_words(alignment)
    by_fragment = [alignment.best_region(m) for m in range(len(alignment.fragments))]
    regions = dict.fromkeys(r for r in (*by_word, *by_fragment) if r is not None)
    return {region: mark(number) for number, region in enumerate(regions, start=1)}


def marks_of_words(alignment: Alignment) -> list[Mark | None]:
    """Return for each word the mark of its region."""
    by_region = marks(alignment)
    return [None if r is None else by_region[r] for r in regions_of_words(alignment)]


def rest_phrase(alignment: Alignment) -> str:
    """Return the name of all `rest_fragments`.

    Examples: "whole sentence", "function words: a, of", "whole sentence, function words: it".
    """
    rest = [alignment.fragments[m] for m in alignment.rest_fragments]
    parts = [part for part in rest if part.relation != WHOLE]
    whole = [translate("whole sentence")] * (len(parts) < len(rest))
    if whole and not parts:
        return whole[0]
    numbers = {n for part in parts for n in part.words}
    words = (alignment.words[n].lower() for n in sorted(numbers & alignment.function_words))
    named = ", ".join(dict.fromkeys(word for word in words if word[:1].isalnum()))
    if not named:
        return ", ".join([*whole, translate("function words")])
    return ", ".join([*whole, translate("function words: {words}", words=named)])


def phrase(alignment: Alignment, fragment: int) -> str:
    """Return the words of a fragment in the order of the sentence."""
    numbers = sorted(set(alignment.fragments[fragment].words))
    return " ".join(alignment.words[n] for n in numbers)


def relation_text(relation: str) -> str:
    """Return the relation of a fragment as it is shown: a dependency by its label."""
    return translate(KINDS[relation]) if relation in KINDS else relation


def absence(alignment: Alignment, fragment: int) -> str:
    """Return why a fragment has no region."""
    words = {*alignment.fragments[fragment].words} - alignment.function_words
    is_unknown = words <= {*alignment.unknown}
    return translate("unknown word") if is_unknown else translate("not in the picture")


def link_text(alignment: Alignment, link: Link) -> str:
    """Return what relates two things, such as "jumps over"."""
    return " ".join(alignment.words[n] for n in link.words)


def decimals(values: Sequence[float]) -> int:
    """Return how many decimals, from 2 to 6, give the largest value two significant digits."""
    largest = max(map(abs, values), default=0)
    if not largest:
        return 2
    return next((n for n in range(2, 6) if largest >= 10 ** (1 - n)), 6)


def part_number(value: float, digits: int) -> str:
    """Return a part or the total as text; what is rounded to 0 has no sign."""
    return number_text(round(value, digits) + 0.0, digits)


def badge_places(
    boxes: Sequence[tuple[float, float, float, float]], size: Size, radius: float
) -> list[tuple[float, float]]:
    """Return where the numbers of boxes stand, without overlap.

    A number stands in the upper left corner of its box, or beside the numbers already there.

    Args:
        boxes: Left, top, right, bottom as shares of the photo.
        size: Width and height of the photo; places have the same unit.
        radius: Radius of a number's disc.
    """
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
