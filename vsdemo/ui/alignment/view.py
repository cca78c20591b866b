"""What the tab Align shows, as values of its templates.

All is grey except what is related to the selection, at first the phrase with the highest score.
`align.js` reads the record in `data-alignment`, and `data-word`, `data-fragment` and `data-region`
of the elements that can be selected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from vsdemo.core.alignment import Alignment
from vsdemo.core.hits import RegionHit
from vsdemo.core.language import message, number, translate
from vsdemo.core.sentences import Tree
from vsdemo.plots import boxes_svg, tree_svg
from vsdemo.plots.alignment_overlay import reach, sum_of
from vsdemo.plots.region_marks import (
    KINDS,
    Mark,
    absence,
    decimals,
    link_text,
    marks,
    marks_of_words,
    part_number,
    phrase,
    relation_text,
    rest_phrase,
)
from vsdemo.plots.universal_dependencies import RELATIONS
from vsdemo.ui.components.html import PhotoAddress, PhotoText, grey_lines, tidy
from vsdemo.ui.components.templates import render

HEAT_CELLS = 28  # of the heat map in each direction
FRAME_RATIO = 4 / 3  # of the frame around a region
NAMES = {**RELATIONS, **KINDS, "root": message("root")}


@dataclass(frozen=True)
class Word:
    """A word of the sentence, and the mark of its region if it has one.

    Function words cannot be selected.
    """

    text: str
    mark: Mark | None
    is_function: bool


@dataclass(frozen=True)
class Part:
    """A part of the total.

    Attributes:
        number: The part, as text.
        left: Where it begins on the scale of all parts end to end, 0 to 1.
        width: Its length on that scale, 0 to 1.
    """

    number: str
    left: float
    width: float


@dataclass(frozen=True)
class FragmentRow:
    """A fragment, its best region, and its part of the total.

    Attributes:
        number: Its number in the alignment.
        phrase: Its words in the order of the sentence.
        relation: The label of its dependency, or what a pronoun stands for.
        meaning: The relation in plain words.
        mark: Mark of its best region; None if it has none.
        score: Its score with that region, or why it has none.
        share: The score as a share of the highest one, 0 to 1.
        part: Its part of the total.
    """

    number: int
    phrase: str
    relation: str
    meaning: str
    mark: Mark | None
    score: str
    share: float
    part: Part


@dataclass(frozen=True)
class RestRow:
    """All `rest_fragments` in one row: what they are, and their part together."""

    phrase: str
    part: Part


@dataclass(frozen=True)
class RegionCard:
    """A region of a photo of the gallery, cut out of the large photo.

    Attributes:
        hit: The region.
        address: Address of the large photo.
        text: What is in the photo.
        ratio: Width of the region by its height.
        full_side: The side that is as long as the frame's, "width" or "height".
        left: Left edge of the photo, in widths of the region.
        top: Top edge of the photo, in heights of the region.
        width: Width of the photo, in widths of the region.
        height: Height of the photo, in heights of the region.
    """

    hit: RegionHit
    address: str
    text: str
    ratio: float
    full_side: str
    left: float
    top: float
    width: float
    height: float


def photo(
    address: str,
    size: tuple[int, int],
    alt: str,
    alignment: Alignment | None = None,
) -> Markup:
    """Return the photo; with an alignment, its regions as buttons and a canvas for the heat map.

    Args:
        address: Address of the photo.
        size: Width and height in pixels.
        alt: Alternative text.
        alignment: The alignment, if there is one.
    """
    return render(
        "alignment/photo.html",
        address=address,
        ratio=size[0] / size[1],
        alt=alt,
        heat_cells=HEAT_CELLS,
        boxes=Markup(boxes_svg(alignment, size)) if alignment else None,  # escaped by the plot
    )


def captions(texts: Sequence[str], used: str) -> Markup:
    """Return the captions of the photo as buttons; the one in use is marked."""
    return render("alignment/captions.html", captions=[tidy(text) for text in texts], used=used)


def waiting() -> Markup:
    """Return grey lines that reserve the space of an alignment."""
    return grey_lines(8)


def only_tree(tree: Tree, model: str) -> Markup:
    """Return the tree alone, where the model cannot align."""
    return render("alignment/only_tree.html", tree=Markup(tree_svg(tree)), model=model)


def parts(alignment: Alignment, tree: Tree | None) -> Markup:
    """Return words, tree, fragments and the total.

    The tree shows the regions' numbers if it has the same words as the alignment.
    """
    of_words, function_words = marks_of_words(alignment), alignment.function_words
    same = tree is not None and len(tree.words) == len(alignment.words)
    of_tree = (of_words, function_words) if same else ()
    words = [
        Word(text, mark, i in function_words)
        for i, (text, mark) in enumerate(zip(alignment.words, of_words, strict=True))
    ]
    return render(
        "alignment/parts.html",
        record=json.dumps(record(alignment)),
        words=words,
        tree=Markup(tree_svg(tree, *of_tree)) if tree else None,  # escaped by the plot
        total=_number(alignment, alignment.total),
        sum=sum_of(alignment),
        best=alignment.best_fragment,
        fragments=fragment_rows(alignment),
        rest_row=rest_row(alignment),
        whole_sentence=len(alignment.fragments) + len(alignment.words),
    )


def record(alignment: Alignment) -> dict[str, object]:
    """Return the record that `align.js` reads from `data-alignment`."""
    by_region = marks(alignment)
    return {
        "words": alignment.words,
        "unknown": alignment.unknown,
        "wordFragments": [alignment.fragment_of_word(i) for i in range(len(alignment.words))],
        "fragments": [
            {
                "words": fragment.words,
                "label": f"{phrase(alignment, m)} ({relation(fragment.relation)})",
                "phrase": phrase(alignment, m),
                "best": alignment.best_region(m),
                "score": alignment.best_score(m),
                "absence": absence(alignment, m),
                "isRest": m in alignment.rest_fragments,
            }
            for m, fragment in enumerate(alignment.fragments)
        ],
        "links": [
            {
                "words": link.words,
                "regions": regions,
                "text": " ".join(
                    (
                        _noun(alignment, link.subject),
                        link_text(alignment, link),
                        _noun(alignment, link.object),
                    )
                ),
            }
            for link, *regions in alignment.visible_links
        ],
        "boxes": [[round(v, 4) for v in box] for box in alignment.boxes],
        "scores": [[round(v, 4) for v in row] for row in alignment.scores],
        "numbers": {region: mark.number for region, mark in by_region.items()},
        "colours": {region: (mark.colour, mark.ink) for region, mark in by_region.items()},
    }


def _noun(alignment: Alignment, word: int) -> str:
    """Return the phrase of a word that has a region."""
    fragment = alignment.fragment_of_word(word)
    return alignment.words[word] if fragment is None else phrase(alignment, fragment)


def relation(label: str) -> str:
    """Return a relation in plain words, such as "subject of"; unknown ones as they are."""
    known = NAMES.get(label) or NAMES.get(label.split(":")[0])
    return translate(known) if known else label


def fragment_rows(alignment: Alignment) -> list[FragmentRow]:
    """Return a row for each of the `content_fragments`."""
    by_region = marks(alignment)
    best = alignment.best_fragment
    max_score = 0.0 if best is None else max(alignment.scores[best])
    rows, before = [], 0.0
    for m in alignment.content_fragments:
        own, region = alignment.fragments[m].relation, alignment.best_region(m)
        label, meaning = relation_text(own), relation(own)
        score = alignment.best_score(m) or 0.0
        referent = alignment.referent(m)
        if referent is not None:
            label = meaning = translate("stands for “{phrase}”", phrase=phrase(alignment, referent))
        row = FragmentRow(
            number=m,
            phrase=phrase(alignment, m),
            relation=label,
            meaning=meaning,
            mark=None if region is None else by_region[region],
            score=absence(alignment, m) if region is None else number(score, 2),
            share=score / max_score if max_score > 0 else 0,
            part=_part(alignment, before, alignment.parts[m]),
        )
        rows.append(row)
        before += alignment.parts[m]
    return rows


def rest_row(alignment: Alignment) -> RestRow | None:
    """Return the last row, whose part makes up the total with those of the other rows."""
    if not alignment.rest_fragments:
        return None
    before = sum(alignment.parts[m] for m in alignment.content_fragments)
    part = _part(alignment, before, alignment.rest_part)
    return RestRow(rest_phrase(alignment), part)


def _part(alignment: Alignment, before: float, part: float) -> Part:
    """Return a part that begins where those before it end."""
    low, span = reach(alignment)
    return Part(
        number=_number(alignment, part),
        left=(min(before, before + part) - low) / span,
        width=abs(part) / span,
    )


def region_grid(
    hits: Sequence[RegionHit],
    sizes: Mapping[int, tuple[int, int]],
    address: PhotoAddress,
    text: PhotoText,
    *,
    label: str,
) -> Markup:
    """Return regions of a gallery as crops, best first; a click aligns the photo.

    Args:
        hits: The regions.
        sizes: Width and height of each photo in pixels, by its number.
        address: Addresses of photos.
        text: Alternative texts of photos.
        label: What they are, for screen readers.
    """
    cards = [_region_card(hit, sizes[hit.number], address, text) for hit in hits]
    return render("alignment/regions.html", cards=cards, label=label)


def _region_card(
    hit: RegionHit, size: tuple[int, int], address: PhotoAddress, text: PhotoText
) -> RegionCard:
    x0, y0, x1, y1 = hit.box
    width, height = max(x1 - x0, 1e-4), max(y1 - y0, 1e-4)
    ratio = width * size[0] / (height * size[1])
    return RegionCard(
        hit=hit,
        address=address(hit.number, "large"),
        text=text(hit.number),
        ratio=ratio,
        full_side="width" if ratio > FRAME_RATIO else "height",
        left=-x0 / width,
        top=-y0 / height,
        width=1 / width,
        height=1 / height,
    )


def _number(alignment: Alignment, value: float) -> str:
    """Return a part or the total, each with the same decimals."""
    return part_number(value, decimals([*alignment.parts, alignment.total]))
