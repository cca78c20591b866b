"""Places of the words and arcs of a dependency tree, in pixels.

Among the arcs that it overlaps, each arc has its own level; it is higher than all that it
encloses, and is at least as wide as its label. So no two labels overlap.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from vsdemo.core.sentences import Tree

WORD, SMALL = 20, 13  # sizes of text
ROOT = "root"
GAP = 14  # between two words
PORT = 9  # between two arcs that meet at one word
BEND = 12  # of an arc on either side of its label
MARGIN = 16
MAX_WIDTH = 240  # of a word; the rest is replaced by an ellipsis
MAX_CHARACTERS = 48  # includes characters without width
LIGATURES = range(0xFDFA, 0xFDFE)  # whole Arabic phrases in one character
CUNEIFORM = range(0x12000, 0x12550)
INDIC = range(0x900, 0xE00)
EMOJI = 0x1F000
LONG_DASHES = (0x2E3A, 0x2E3B)  # two and three em long
BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}

Span = tuple[int, int]  # leftmost and rightmost word of an arc
Ports = Mapping[int, float]  # for the arcs at one word: dependent -> distance from the centre


def clean(text: str) -> str:
    """Return a text without characters that XML forbids or that change the text direction.

    A text without any other characters becomes `_`.
    """
    kept = (
        character
        for character in text
        if unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        and ord(character) not in BIDI
        and ord(character) & 0xFFFE != 0xFFFE
    )
    return "".join(kept).strip() or "_"


@cache
def _em(character: str) -> float:
    """Return an upper bound of a character's width in common fonts, in em."""
    base = unicodedata.normalize("NFD", character)[0]
    code = ord(base)
    if unicodedata.category(base) in ("Mn", "Me", "Cf"):
        return 0
    if code < 0x250:
        return _em_latin(base)
    if code in LIGATURES or code in CUNEIFORM:
        return 12
    if code in LONG_DASHES:
        return 3.1
    if code in INDIC:
        return 1.6
    return 1.45 if code >= EMOJI else 1.1


def _em_latin(character: str) -> float:
    if character in "ijlftI.,:;'!|()[]{}/\\-` ":
        return 0.44
    if character in "mwMW@%&" or ord(character) > 0x7F:
        return 1.06
    return 0.9 if character.isupper() else 0.68


def width(text: str, size: int) -> float:
    """Return an upper bound of the width of a text."""
    return size * sum(map(_em, text))


def shorten(text: str, size: int) -> str:
    """Return a text, or its beginning with an ellipsis."""
    if len(text) <= MAX_CHARACTERS and width(text, size) <= MAX_WIDTH:
        return text
    room = MAX_WIDTH - width("…", size)
    kept = 0
    for character in text[:MAX_CHARACTERS]:
        room -= width(character, size)
        if room < 0:
            break
        kept += 1
    return text[:kept].rstrip("\u200d") + "…"  # a joiner would apply to the ellipsis


@dataclass(frozen=True)
class Arc:
    """An arc from a head to a dependent.

    Args:
        word: Index of the dependent.
        start: x at the head.
        end: x at the dependent.
        level: Its level; 1 is the lowest.
        label: x of the middle of its label.
    """

    word: int
    start: float
    end: float
    level: int
    label: float


@dataclass(frozen=True)
class Layout:
    """The places of all words and arcs of a tree.

    Args:
        words: The words as shown.
        tags: The tags as shown; empty texts for a tree without tags.
        labels: The labels as shown.
        centres: x of the middle of each word.
        widths: Widths of the words with their tags and arcs.
        arcs: One for each word except the root.
        root: The arrow to the root, which comes from above.
        width: Width of the figure.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    centres: tuple[float, ...]
    widths: tuple[float, ...]
    arcs: tuple[Arc, ...]
    root: Arc
    width: float


def place(tree: Tree) -> Layout:
    """Return the layout of a tree, as narrow as its texts allow."""
    words = tuple(shorten(clean(word), WORD) for word in tree.words)
    labels = tuple(shorten(clean(label), SMALL) for label in tree.labels)
    tags = tuple(shorten(clean(tag), SMALL) for tag in tree.tags) or ("",) * len(words)
    spans = _spans(tree)
    levels = _levels(spans)
    ports = _ports(tree, spans)
    widths = _widths(words, tags, ports, tree.root)
    centres = _centres(widths, spans, ports, labels)
    ends = {
        word: (centres[head - 1] + ports[head - 1][word], centres[word] + ports[word][word])
        for word, head in enumerate(tree.heads)
        if head
    }
    root_x = centres[tree.root] + ports[tree.root][tree.root]
    legs = [(x, levels[word]) for word, pair in ends.items() for x in pair]
    legs.append((root_x, len(words)))
    arcs = []
    for word, (start, end) in ends.items():
        label = _label_place(
            left=min(start, end),
            right=max(start, end),
            label_width=width(labels[word], SMALL),
            level=levels[word],
            legs=legs,
        )
        arcs.append(Arc(word=word, start=start, end=end, level=levels[word], label=label))
    over_root = [levels[w] for w, (left, right) in spans.items() if left <= tree.root <= right]
    root_level = max(over_root, default=0) + 1
    return Layout(
        words=words,
        tags=tags,
        labels=labels,
        centres=tuple(centres),
        widths=tuple(widths),
        arcs=tuple(arcs),
        root=Arc(word=tree.root, start=root_x, end=root_x, level=root_level, label=root_x),
        width=centres[-1] + widths[-1] / 2 + MARGIN,
    )


def _spans(tree: Tree) -> dict[int, Span]:
    """Return the span of each arc, by its dependent."""
    return {
        word: (min(word, head - 1), max(word, head - 1))
        for word, head in enumerate(tree.heads)
        if head
    }


def _levels(spans: Mapping[int, Span]) -> dict[int, int]:
    """Return each arc's lowest level above all that it encloses and unlike all that it crosses."""
    levels: dict[int, int] = {}
    for word, (left, right) in sorted(spans.items(), key=lambda item: item[1][1] - item[1][0]):
        lowest, taken = 1, set()
        for other, level in levels.items():
            other_left, other_right = spans[other]
            if left <= other_left and other_right <= right:
                lowest = max(lowest, level + 1)
            elif other_left < right and left < other_right:
                taken.add(level)
        while lowest in taken:
            lowest += 1
        levels[word] = lowest
    return levels


def _ports(tree: Tree, spans: Mapping[int, Span]) -> list[dict[int, float]]:
    """Return for each word where its arcs meet it.

    Short arcs are outside long ones, so that arcs cross only where they must.
    """
    ends: list[list[tuple[bool, int, int]]] = [[] for _ in tree.words]
    for word, (left, right) in spans.items():
        ends[left].append((True, -right, word))
        ends[right].append((False, -left, word))
    ends[tree.root].append((True, -len(tree.words), tree.root))  # left of all arcs to the right
    ports = []
    for row in ends:
        middle = (len(row) - 1) / 2
        ports.append({word: PORT * (i - middle) for i, (_, _, word) in enumerate(sorted(row))})
    return ports


def _widths(
    words: Sequence[str], tags: Sequence[str], ports: Sequence[Ports], root: int
) -> list[float]:
    """Return the width that each word needs for its texts and arcs, and the root for its label."""
    widths = [
        max(width(word, WORD), width(tag, SMALL), PORT * len(row))
        for word, tag, row in zip(words, tags, ports, strict=True)
    ]
    widths[root] = max(widths[root], width(ROOT, SMALL) + 2 * abs(ports[root][root]))
    return widths


def _centres(
    widths: Sequence[float],
    spans: Mapping[int, Span],
    ports: Sequence[Ports],
    labels: Sequence[str],
) -> list[float]:
    """Return the centre of each word, far enough right for the labels of arcs that end there."""
    arcs_ending_at: list[list[int]] = [[] for _ in widths]
    for word, (_, right) in spans.items():
        arcs_ending_at[right].append(word)
    centres: list[float] = []
    for i, own_width in enumerate(widths):
        left_edge = centres[-1] + widths[i - 1] / 2 + GAP if i else MARGIN
        centre = left_edge + own_width / 2
        for word in arcs_ending_at[i]:
            left, room = spans[word][0], width(labels[word], SMALL) + 2 * BEND
            centre = max(centre, centres[left] + ports[left][word] + room - ports[i][word])
        centres.append(centre)
    return centres


def _label_place(
    *, left: float, right: float, label_width: float, level: int, legs: Sequence[tuple[float, int]]
) -> float:
    """Return where a label stands: near the middle of its arc, clear of the legs of higher arcs.

    Args:
        left: Left end of the arc.
        right: Right end of the arc.
        label_width: Width of the label.
        level: Level of the arc.
        legs: (x, level) of the ends of all arcs.
    """
    middle, reach = (left + right) / 2, label_width / 2 + 4
    first, last = left + BEND + label_width / 2, right - BEND - label_width / 2
    crossing = sorted(x for x, height in legs if height > level and left < x < right)
    # The middle if it is free, otherwise the nearest end of a gap that is wide enough.
    places = []
    for start, end in pairwise([left, *crossing, right]):
        lowest, highest = max(start + reach, first), min(end - reach, last)
        if highest >= lowest:
            places.append(min(max(middle, lowest), highest))
    return min(places, key=lambda x: abs(x - middle), default=middle)
