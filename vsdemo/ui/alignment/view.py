"""The HTML of an alignment: photo, words, tree and fragments, each carrying its number.

`page.js` lights what belongs together; it reads the record in `data-alignment`, and `data-word`,
`data-fragment` and `data-region` of what can be chosen.
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
from vsdemo.ui.components.html import Source, tidy

HEAT = 28  # places of the heat map in each direction
ASK = "Select a word, a relation or a region to see what belongs together."
SHAPE = 4 / 3  # of the frame of a region that was found


def photo(
    address: str,
    size: tuple[int, int],
    alt: str,
    state: Mapping[str, str],
    alignment: Alignment | None = None,
) -> str:
    """The photo; with an alignment, its regions as buttons and a place for heat."""
    over = f'<canvas width="{HEAT}" height="{HEAT}" aria-hidden="true"></canvas>'
    over = over + boxes_svg(alignment, size) if alignment else ""
    return (
        f'<figure class="seen" style="--ratio:{size[0] / size[1]:.4f}" '
        f'data-address="{escape(urlencode(state))}">'
        f'<img src="{escape(address)}" alt="{escape(tidy(alt))}">{over}</figure>'
    )


def captions(texts: Sequence[str], used: str) -> str:
    """What was written for the photo, to use."""
    chips = "".join(
        f'<button type="button" class="chip" data-event="click" data-number="{i}" '
        f'title="{escape(tidy(text))}"{_current(tidy(text) == used)}>{escape(tidy(text))}</button>'
        for i, text in enumerate(texts)
    )
    return f'<div class="own" role="group" aria-label="Written for this photo">{chips}</div>'


def _current(is_it: bool) -> str:
    return ' aria-current="true"' if is_it else ""


def waiting() -> str:
    """Grey lines that keep the place of an alignment."""
    return f'<ol class="sentences waiting" aria-hidden="true">{"<li></li>" * 8}</ol>'


def only_tree(tree: Tree) -> str:
    """Where nothing can be aligned."""
    return f'<section class="alignment">{_tree(tree_svg(tree))}</section>'


def parts(alignment: Alignment, tree: Tree | None) -> str:
    """Words, tree, fragments and the total; `tree` is shown where it has the same words."""
    of_words = marks_of_words(alignment)
    words = "".join(_word(alignment, i, mark) for i, mark in enumerate(of_words))
    same = tree is not None and len(tree.words) == len(alignment.words)
    drawn = _tree(tree_svg(tree, of_words if same else None)) if tree else ""
    everything = len(alignment.fragments) + len(alignment.words)
    return (
        f'<section class="alignment" data-alignment="{escape(json.dumps(record(alignment)))}">'
        '<div class="words" role="group" aria-label="Words of the sentence" data-keys>'
        f'{words}</div><p class="note said" role="status">{ASK}</p>{drawn}{_fragments(alignment)}'
        f'<div class="finder"><button type="button" class="do" data-event="apply" data-stay '
        f'data-number="{everything}" data-all="{everything}">Find regions</button>'
        '<span class="note">of the gallery that fit <q class="what">the whole sentence</q></span>'
        "</div></section>"
    )


def record(alignment: Alignment) -> dict[str, object]:
    """What the page's script has to know."""
    digits = decimals([*alignment.parts, alignment.total])
    return {
        "words": alignment.words,
        "fragments": [
            {
                "words": fragment.words,
                "says": f"{phrase(alignment, m)} ({relation(fragment.relation)})",
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
    """A relation in plain words, such as "subject of"; others as they are."""
    return RELATIONS.get(label) or RELATIONS.get(label.split(":")[0]) or label


def _style(mark: Mark | None) -> str:
    return f' style="--mark:{mark.colour};--on-mark:{mark.ink}"' if mark else ""


def _number(mark: Mark | None) -> str:
    return f'<span class="n">{mark.number}</span>' if mark else '<span class="n none"></span>'


def _word(alignment: Alignment, i: int, mark: Mark | None) -> str:
    said = f"region {mark.number}" if mark else "not grounded"
    kind = "word" if mark else "word none"
    number = f'<span class="n">{mark.number}</span>' if mark else ""
    word = escape(alignment.words[i])
    return (
        f'<button type="button" class="{kind}" data-word="{i}" aria-pressed="false"{_style(mark)} '
        f'aria-label="{word}, {said}">{number}{word}</button>'
    )


def _tree(svg: str) -> str:
    return (
        '<div class="wide" role="region" tabindex="0" '
        f'aria-label="Dependency tree of the sentence">{svg}</div>'
    )


def _fragments(alignment: Alignment) -> str:
    """The heat bar: a row a fragment, whose parts end to end add up to the total."""
    digits = decimals([*alignment.parts, alignment.total])
    most = max((max(row) for row in alignment.scores), default=0)
    rows, before = [], 0.0
    for m, part in enumerate(alignment.parts):
        rows.append(f"<li>{_fragment(alignment, m, most, before, digits)}</li>")
        before += part
    total = f"{alignment.total:.{digits}f}"
    return (
        f'<p class="total">Score <b>{total}</b> <span>= {sum_of(alignment)}</span></p>'
        '<p class="part legend" aria-hidden="true"><span class="n none"></span>'
        '<span class="phrase">fragment</span><span class="score">best region</span>'
        '<span class="sum">part of the total</span></p>'
        '<ol class="fragments" data-keys aria-label="Fragments of the sentence">'
        f"{''.join(rows)}</ol>"
    )


def _fragment(alignment: Alignment, m: int, most: float, before: float, digits: int) -> str:
    region, part = alignment.best_region(m), alignment.parts[m]
    mark = None if region is None else marks(alignment)[region]
    score = alignment.scores[m][region] if region is not None else 0
    low, span = reach(alignment)
    left, wide = (min(before, before + part) - low) / span, abs(part) / span
    told = f"{score:.2f}" if mark else "not grounded"
    where = f"region {mark.number}, score {told}" if mark else told
    label, text = alignment.fragments[m].relation, phrase(alignment, m)
    said = f"{text}, {relation(label)}: {where}; part {part:.{digits}f}"
    bar = f'<span class="bar"><span style="width:{score / most if most > 0 else 0:.1%}"></span>'
    return (
        f'<button type="button" class="{"part" if mark else "part none"}" data-fragment="{m}" '
        f'aria-pressed="false" aria-label="{escape(said)}"{_style(mark)}>{_number(mark)}'
        f'<span class="phrase">{escape(text)} <small title="{escape(relation(label))}">'
        f"{escape(label)}</small></span>"
        f'<span class="score">{bar if mark else "<span>"}</span>'
        f'<span class="number">{told}</span></span>'
        f'<span class="sum"><span class="cascade"><span style="left:{left:.1%};width:{wide:.1%}">'
        f'</span></span><span class="number">{part:.{digits}f}</span></span></button>'
    )


def found(
    hits: Sequence[RegionHit], sizes: Mapping[int, tuple[int, int]], source: Source, words: str
) -> str:
    """Regions of a gallery as crops, best first; a click aligns the photo. sizes: of photos."""
    cards = "".join(_crop(hit, sizes[hit.number], source) for hit in hits)
    about = f"Regions that fit {words}"
    return f'<ul class="grid regions" aria-label="{escape(about)}">{cards}</ul>'


def _crop(hit: RegionHit, size: tuple[int, int], source: Source) -> str:
    x0, y0, x1, y1 = hit.box
    wide, high = max(x1 - x0, 1e-4), max(y1 - y0, 1e-4)
    shape = wide * size[0] / (high * size[1])
    cut = f"aspect-ratio:{shape:.4f};" + ("width:100%" if shape > SHAPE else "height:100%")
    place = f"left:{-x0 / wide:.2%};top:{-y0 / high:.2%};width:{1 / wide:.2%};height:{1 / high:.2%}"
    said = f"Region {hit.rank} of {hit.item}, score {hit.score:.2f}: align this photo"
    return (
        f'<li class="card"><button type="button" class="frame" data-event="select" '
        f'data-number="{hit.number}" aria-label="{escape(said)}" title="{escape(hit.item)}">'
        f'<span class="cut" style="{cut}"><img src="{source(hit.number, "large")}" alt="" '
        f'style="{place}" loading="lazy" decoding="async"></span></button>'
        f'<span class="fit"><span class="number">{hit.score:.2f}</span>'
        '<span class="unit">alignment</span></span></li>'
    )
