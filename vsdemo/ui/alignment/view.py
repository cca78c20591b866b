"""The HTML of an alignment: photo, words, tree and fragments, each with its number.

`html.js` highlights everything related to a selection. It reads the record in `data-alignment`, and
`data-word`, `data-fragment` and `data-region` of the elements that can be selected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import urlencode

from vsdemo.core.alignment import Alignment
from vsdemo.core.hits import RegionHit
from vsdemo.core.sentences import Tree
from vsdemo.plots import boxes_svg, tree_svg
from vsdemo.plots.alignment_overlay import reach, sum_of
from vsdemo.plots.region_marks import Mark, decimals, marks, marks_of_words, phrase
from vsdemo.plots.universal_dependencies import RELATIONS
from vsdemo.ui.components.html import PhotoAddress, grey_lines, tidy

HEAT = 28  # cells of the heat map in each direction
HINT = "Select a word, a relation or a region to highlight everything related to it."
FRAME_RATIO = 4 / 3  # of the frame around a region


def photo(
    address: str,
    size: tuple[int, int],
    alt: str,
    page_address: Mapping[str, str],
    alignment: Alignment | None = None,
) -> str:
    """Return the photo; with an alignment, its regions as buttons and a canvas for the heat map.

    Args:
        address: Address of the photo.
        size: Width and height in pixels.
        alt: Alternative text.
        page_address: What the address bar of the browser shows.
        alignment: The alignment, if there is one.
    """
    canvas = f'<canvas width="{HEAT}" height="{HEAT}" aria-hidden="true"></canvas>'
    overlay = canvas + boxes_svg(alignment, size) if alignment else ""
    return (
        f'<figure class="aligned-photo" style="--ratio:{size[0] / size[1]:.4f}" '
        f'data-address="{escape(urlencode(page_address))}">'
        f'<img src="{escape(address)}" alt="{escape(tidy(alt))}">{overlay}</figure>'
    )


def captions(texts: Sequence[str], used: str) -> str:
    """Return the captions of the photo as buttons; the one in use is marked."""
    chips = "".join(
        f'<button type="button" class="chip" data-event="click" data-number="{i}" '
        f'title="{escape(tidy(text))}"{_current(tidy(text), used)}>{escape(tidy(text))}</button>'
        for i, text in enumerate(texts)
    )
    return (
        '<div class="photo-captions" role="group" aria-label="Captions of this photo">'
        f"{chips}</div>"
    )


def _current(caption: str, used: str) -> str:
    return ' aria-current="true"' if caption == used else ""


def waiting() -> str:
    """Return grey lines that reserve the space of an alignment."""
    return grey_lines(8)


def only_tree(tree: Tree) -> str:
    """Return the tree alone, where the model cannot align."""
    return f'<section class="alignment">{_tree(tree_svg(tree))}</section>'


def parts(alignment: Alignment, tree: Tree | None) -> str:
    """Return words, tree, fragments and the total.

    The tree shows the regions' colours if it has the same words as the alignment.
    """
    of_words = marks_of_words(alignment)
    words = "".join(_word(alignment, i, mark) for i, mark in enumerate(of_words))
    same = tree is not None and len(tree.words) == len(alignment.words)
    drawn = _tree(tree_svg(tree, of_words if same else None)) if tree else ""
    whole_sentence = len(alignment.fragments) + len(alignment.words)
    return (
        f'<section class="alignment" data-alignment="{escape(json.dumps(record(alignment)))}">'
        '<div class="words" role="group" aria-label="Words of the sentence" data-arrow-keys>'
        f'{words}</div><p class="note status" role="status">{HINT}</p>'
        f"{drawn}{_fragments(alignment)}"
        '<div class="region-search"><button type="button" class="action-button" '
        f'data-event="apply" data-keep-scroll data-number="{whole_sentence}" '
        f'data-sentence="{whole_sentence}">Find regions</button>'
        '<span class="note">in the gallery for '
        '<q class="search-text">the whole sentence</q></span></div></section>'
    )


def record(alignment: Alignment) -> dict[str, object]:
    """Return the record that `html.js` reads from `data-alignment`."""
    digits = decimals([*alignment.parts, alignment.total])
    return {
        "words": alignment.words,
        "fragments": [
            {
                "words": fragment.words,
                "label": f"{phrase(alignment, m)} ({relation(fragment.relation)})",
                "phrase": phrase(alignment, m),
                "best": alignment.best_region(m),
                "part": f"{alignment.parts[m]:.{digits}f}",
            }
            for m, fragment in enumerate(alignment.fragments)
        ],
        "boxes": [[round(v, 4) for v in box] for box in alignment.boxes],
        "scores": [[round(v, 4) for v in row] for row in alignment.scores],
        "numbers": {region: mark.number for region, mark in marks(alignment).items()},
    }


def relation(label: str) -> str:
    """Return a relation in plain words, such as "subject of"; unknown ones as they are."""
    return RELATIONS.get(label) or RELATIONS.get(label.split(":")[0]) or label


def _style(mark: Mark | None) -> str:
    return f' style="--mark:{mark.colour};--on-mark:{mark.ink}"' if mark else ""


def _number(mark: Mark | None) -> str:
    return f'<span class="n">{mark.number}</span>' if mark else '<span class="n none"></span>'


def _word(alignment: Alignment, i: int, mark: Mark | None) -> str:
    region = f"region {mark.number}" if mark else "not grounded"
    kind = "word" if mark else "word none"
    number = f'<span class="n">{mark.number}</span>' if mark else ""
    word = escape(alignment.words[i])
    return (
        f'<button type="button" class="{kind}" data-word="{i}" aria-pressed="false"{_style(mark)} '
        f'aria-label="{word}, {region}">{number}{word}</button>'
    )


def _tree(svg: str) -> str:
    return (
        '<div class="wide" role="region" tabindex="0" '
        f'aria-label="Dependency tree of the sentence">{svg}</div>'
    )


def _fragments(alignment: Alignment) -> str:
    """Return a row for each fragment, whose parts end to end add up to the total."""
    digits = decimals([*alignment.parts, alignment.total])
    max_score = max((max(row) for row in alignment.scores), default=0)
    rows, before = [], 0.0
    for m, part in enumerate(alignment.parts):
        rows.append(f"<li>{_fragment(alignment, m, max_score=max_score, before=before)}</li>")
        before += part
    total = f"{alignment.total:.{digits}f}"
    return (
        f'<p class="total">Score <b>{total}</b> <span>= {sum_of(alignment)}</span></p>'
        '<p class="part legend" aria-hidden="true"><span class="n none"></span>'
        '<span class="phrase">fragment</span><span class="score">best region</span>'
        '<span class="sum">part of the total</span></p>'
        '<ol class="fragments" data-arrow-keys aria-label="Fragments of the sentence">'
        f"{''.join(rows)}</ol>"
    )


def _fragment(alignment: Alignment, m: int, *, max_score: float, before: float) -> str:
    """Return the row of fragment m; `before` is the sum of the parts above it."""
    digits = decimals([*alignment.parts, alignment.total])
    region, part = alignment.best_region(m), alignment.parts[m]
    mark = None if region is None else marks(alignment)[region]
    score = alignment.scores[m][region] if region is not None else 0
    low, span = reach(alignment)
    left, width = (min(before, before + part) - low) / span, abs(part) / span
    score_text = f"{score:.2f}" if mark else "not grounded"
    region_text = f"region {mark.number}, score {score_text}" if mark else score_text
    label, text = alignment.fragments[m].relation, phrase(alignment, m)
    aria_label = f"{text}, {relation(label)}: {region_text}; part {part:.{digits}f}"
    share = score / max_score if max_score > 0 else 0
    bar = f'<span class="bar"><span style="width:{share:.1%}"></span>'
    return (
        f'<button type="button" class="{"part" if mark else "part none"}" data-fragment="{m}" '
        f'aria-pressed="false" aria-label="{escape(aria_label)}"{_style(mark)}>{_number(mark)}'
        f'<span class="phrase">{escape(text)} <small title="{escape(relation(label))}">'
        f"{escape(label)}</small></span>"
        f'<span class="score">{bar if mark else "<span>"}</span>'
        f'<span class="number">{score_text}</span></span>'
        f'<span class="sum"><span class="cascade"><span style="left:{left:.1%};width:{width:.1%}">'
        f'</span></span><span class="number">{part:.{digits}f}</span></span></button>'
    )


def region_grid(
    hits: Sequence[RegionHit],
    sizes: Mapping[int, tuple[int, int]],
    address: PhotoAddress,
    *,
    label: str,
) -> str:
    """Return regions of a gallery as crops, best first; a click aligns the photo.

    Args:
        hits: The regions.
        sizes: Width and height of each photo in pixels, by its number.
        address: Addresses of photos.
        label: What they are, for screen readers.
    """
    cards = "".join(_crop(hit, sizes[hit.number], address) for hit in hits)
    return f'<ul class="grid regions" aria-label="{escape(label)}">{cards}</ul>'


def _crop(hit: RegionHit, size: tuple[int, int], address: PhotoAddress) -> str:
    x0, y0, x1, y1 = hit.box
    width, height = max(x1 - x0, 1e-4), max(y1 - y0, 1e-4)
    ratio = width * size[0] / (height * size[1])
    fill = "width:100%" if ratio > FRAME_RATIO else "height:100%"
    image_style = (
        f"left:{-x0 / width:.2%};top:{-y0 / height:.2%};"
        f"width:{1 / width:.2%};height:{1 / height:.2%}"
    )
    label = f"Region {hit.rank} of {hit.item}, score {hit.score:.2f}: align this photo"
    return (
        f'<li class="card"><button type="button" class="frame" data-event="select" '
        f'data-number="{hit.number}" aria-label="{escape(label)}" title="{escape(hit.item)}">'
        f'<span class="region-crop" style="aspect-ratio:{ratio:.4f};{fill}">'
        f'<img src="{address(hit.number, "large")}" alt="" '
        f'style="{image_style}" loading="lazy" decoding="async"></span></button>'
        f'<span class="score-bar"><span class="number">{hit.score:.2f}</span>'
        '<span class="unit">alignment</span></span></li>'
    )
