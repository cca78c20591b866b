"""Where the words and arcs of a dependency tree stand: pure geometry, in pixels.

Each arc has a level of its own among the arcs it overlaps, higher than all that it encloses, and
is at least as wide as its label. So no two labels can meet.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from vsdemo.core.sentences import Tree

WORD, SMALL = 20, 13  # sizes of text
ROOT = "root"
GAP = 14  # between two words
PORT = 9  # between two arcs that meet the same word
BEND = 12  # of an arc to either side of its label
MARGIN = 16
MOST_WIDTH = 240  # of a word; the rest gives way to an ellipsis
MOST_CHARACTERS = 48  # also of those that take no width
LIGATURES = range(0xFDFA, 0xFDFE)  # whole Arabic phrases in one character
CUNEIFORM = range(0x12000, 0x12550)
INDIC = range(0x900, 0xE00)
PICTURES = 0x1F000
BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def clean(text: str) -> str:
    """Text without what XML forbids or what reverses its surroundings; `_` where none is left."""
    kept = (
        c
        for c in text
        if unicodedata.category(c) not in ("Cc", "Cs", "Zl", "Zp")
        and ord(c) not in BIDI
        and ord(c) & 0xFFFE != 0xFFFE
    )
    return "".join(kept).strip() or "_"


@cache
def _em(character: str) -> float:
    """At least the width of a character in any usual font, as a part of the font's size."""
    c = unicodedata.normalize("NFD", character)[0]
    code = ord(c)
    if unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0
    if code < 0x250:
        if c in "ijlftI.,:;'!|()[]{}/\\-` ":
            return 0.44
        if c in "mwMW@%&" or code > 0x7F:
            return 1.06
        return 0.9 if c.isupper() else 0.68
    if code in LIGATURES or code in CUNEIFORM:
        return 12
    if code in (0x2E3A, 0x2E3B):  # dashes of two and three
        return 3.1
    if code in INDIC:
        return 1.6
    return 1.45 if code >= PICTURES else 1.1


def width(text: str, size: int) -> float:
    """At least the width of a text."""
    return size * sum(map(_em, text))


def shortened(text: str, size: int) -> str:
    """The text, or its beginning with an ellipsis."""
    if len(text) <= MOST_CHARACTERS and width(text, size) <= MOST_WIDTH:
        return text
    room, kept = MOST_WIDTH - width("…", size), 0
    while kept < min(len(text), MOST_CHARACTERS) and (room := room - width(text[kept], size)) >= 0:
        kept += 1
    return text[:kept].rstrip("\u200d") + "…"  # a joiner would wait for the next character


@dataclass(frozen=True)
class Arc:
    """From the head to a word; `level` counts from 1, the lowest. label: the middle of its text."""

    word: int
    start: float
    end: float
    level: int
    label: float


@dataclass(frozen=True)
class Layout:
    """centres and widths: of the words' places. root: its arrow, from nowhere."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    centres: tuple[float, ...]
    widths: tuple[float, ...]
    arcs: tuple[Arc, ...]
    root: Arc
    width: float


def _spans(tree: Tree) -> dict[int, tuple[int, int]]:
    """Dependent -> the leftmost and the rightmost word of its arc."""
    return {
        word: (min(word, head - 1), max(word, head - 1))
        for word, head in enumerate(tree.heads)
        if head
    }


def _levels(spans: dict[int, tuple[int, int]]) -> dict[int, int]:
    """The lowest level for each arc that is above all it encloses, and free where arcs cross."""
    levels: dict[int, int] = {}
    for word, (left, right) in sorted(spans.items(), key=lambda item: item[1][1] - item[1][0]):
        lowest, taken = 1, set()
        for other, level in levels.items():
            a, b = spans[other]
            if left <= a and b <= right:
                lowest = max(lowest, level + 1)
            elif a < right and left < b:
                taken.add(level)
        while lowest in taken:
            lowest += 1
        levels[word] = lowest
    return levels


def _ports(tree: Tree, spans: dict[int, tuple[int, int]]) -> list[dict[int, float]]:
    """For each word the arcs that meet it, by their dependents, and where beside its centre.

    Short arcs stand outside of long ones, so that arcs without need do not cross.
    """
    ends: list[list[tuple[bool, int, int]]] = [[] for _ in tree.words]
    for word, (left, right) in spans.items():
        ends[left].append((True, -right, word))
        ends[right].append((False, -left, word))
    ends[tree.root].append((True, -len(tree.words), tree.root))  # before all to the right
    return [
        {word: PORT * (i - (len(row) - 1) / 2) for i, (*_, word) in enumerate(sorted(row))}
        for row in ends
    ]


def _widths(
    words: Sequence[str], tags: Sequence[str], ports: Sequence[dict[int, float]], root: int
) -> list[float]:
    """The width of each word's place: of its texts, its arcs and, at the root, of that label."""
    widths = [
        max(width(word, WORD), width(tag, SMALL), PORT * len(row))
        for word, tag, row in zip(words, tags, ports, strict=True)
    ]
    widths[root] = max(widths[root], width(ROOT, SMALL) + 2 * abs(ports[root][root]))
    return widths


def _centres(
    widths: Sequence[float],
    spans: dict[int, tuple[int, int]],
    ports: Sequence[dict[int, float]],
    labels: Sequence[str],
) -> list[float]:
    """The centre of each place, far enough to the right for every label of an arc that ends."""
    ending: list[list[int]] = [[] for _ in widths]
    for word, (_, right) in spans.items():
        ending[right].append(word)
    centres: list[float] = []
    for i, wide in enumerate(widths):
        centre = (centres[-1] + widths[i - 1] / 2 + GAP if i else MARGIN) + wide / 2
        for word in ending[i]:
            left, room = spans[word][0], width(labels[word], SMALL) + 2 * BEND
            centre = max(centre, centres[left] + ports[left][word] + room - ports[i][word])
        centres.append(centre)
    return centres


def _free(
    left: float, right: float, wide: float, level: int, legs: Sequence[tuple[float, int]]
) -> float:
    """Where a label stands: nearest to the middle of its arc, beside the legs of higher arcs."""
    middle, reach = (left + right) / 2, wide / 2 + 4
    first, last = left + BEND + wide / 2, right - BEND - wide / 2
    crossing = sorted(x for x, height in legs if height > level and left < x < right)
    stops = [left, *crossing, right]
    # The middle when it is free, else the nearer end of each gap that is wide enough.
    places = (
        min(max(middle, a + reach, first), b - reach, last)
        for a, b in pairwise(stops)
        if min(b - reach, last) >= max(a + reach, first)
    )
    return min(places, key=lambda at: abs(at - middle), default=middle)


def place(tree: Tree) -> Layout:
    """The layout of a tree, as narrow as its texts allow."""
    words = tuple(shortened(clean(w), WORD) for w in tree.words)
    labels = tuple(shortened(clean(label), SMALL) for label in tree.labels)
    tags = tuple(shortened(clean(t), SMALL) for t in tree.tags) or ("",) * len(words)
    spans, root = _spans(tree), tree.root
    levels, ports = _levels(spans), _ports(tree, spans)
    widths = _widths(words, tags, ports, root)
    centres = _centres(widths, spans, ports, labels)

    def end(word: int, arc: int) -> float:
        return centres[word] + ports[word][arc]

    ends = {w: (end(h - 1, w), end(w, w)) for w, h in enumerate(tree.heads) if h}
    legs = [(x, levels[w]) for w, pair in ends.items() for x in pair]
    above = (levels[w] for w, (left, right) in spans.items() if left <= root <= right)
    top = end(root, root)
    legs.append((top, len(words)))
    return Layout(
        words,
        tags,
        labels,
        tuple(centres),
        tuple(widths),
        tuple(
            Arc(w, *pair, levels[w], _free(*sorted(pair), width(labels[w], SMALL), levels[w], legs))
            for w, pair in ends.items()
        ),
        Arc(root, top, top, max(above, default=0) + 1, top),
        centres[-1] + widths[-1] / 2 + MARGIN,
    )
