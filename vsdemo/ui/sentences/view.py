"""The HTML of two sentences compared: likeness by model, what follows from what, characters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import urlencode

from vsdemo.core.hits import Hit
from vsdemo.plots import profile_svg
from vsdemo.search.sentence_comparison import SentenceComparison
from vsdemo.ui.components.html import tidy

COSINE = (
    "Cosine of the angle between the points of both sentences; 1 is the same direction. Scales of "
    "models differ: compare rows of one model, not one model with another."
)
CLEAR = 0.01  # of violation: what the bars' numbers can show
FITS = "1 minus the order violation; 1 means that no dimension speaks against it."


@dataclass(frozen=True)
class Row:
    """A model and what it says, or in one sentence why it says nothing. shown: its name here."""

    name: str
    shown: str
    trained_on: str
    said: SentenceComparison | str


def rows(found: Sequence[Row], chosen: str, address: Mapping[str, str]) -> str:
    """A bar a model, those of one training set together."""
    groups: dict[str, list[str]] = {}
    for row in found:
        groups.setdefault(row.trained_on, []).append(_row(row, row.name == chosen))
    return (
        f'<section class="alike" data-address="{escape(urlencode(address))}">'
        + "".join(
            f"<h3>Trained on {escape(group)}</h3><ul>{''.join(lines)}</ul>"
            for group, lines in groups.items()
        )
        + "</section>"
    )


def _row(row: Row, chosen: bool) -> str:
    current, name = ' aria-current="true"' if chosen else "", f"<b>{escape(row.shown)}</b>"
    if isinstance(row.said, str):
        return f'<li{current}>{name}<span class="why">{escape(row.said)}</span></li>'
    listed = dict.fromkeys(word for words in row.said.unknown for word in words)
    unknown = ", ".join(f"“{word}”" for word in listed)
    over = f'<span class="why">passes over {escape(unknown)}</span>' if unknown else ""
    return f"<li{current}>{name}{_bar(row.said.cosine, 'cosine', COSINE)}{over}</li>"


def _bar(value: float, unit: str, meaning: str) -> str:
    return (
        f'<span class="fit" title="{escape(meaning)}"><span class="bar">'
        f'<span style="width:{min(max(value, 0), 1):.1%}"></span></span>'
        f'<span class="number">{value:.2f}</span> <span class="unit">{unit}</span></span>'
    )


def follows(said: SentenceComparison, by: str) -> str:
    """Whether one follows from the other, both ways, and in which dimensions not."""
    dim = len(said.excess)
    names = ("the first", "the second")
    lines = []
    for i, (violation, violated) in enumerate(zip(said.violations, said.violated, strict=True)):
        lines.append(
            f"<li><span>{names[1 - i].capitalize()} follows from {names[i]}</span>"
            f"{_bar(1 - violation, 'order fit', FITS)}"
            f'<span class="why">violated in {violated:,} of {dim:,} dimensions</span></li>'
        )
    from_first, from_second = said.violations
    if abs(from_first - from_second) < CLEAR:
        verdict = "Neither is clearly the more general one."
    else:
        general = names[from_first < from_second]
        verdict = f"{general.capitalize()} is the more general one: it lies nearer above the other."
    picture = profile_svg(said.excess, f"{verdict} Differences of both points by dimension.")
    return (
        f'<section class="follows"><h3>Does one follow from the other? By {escape(by)}</h3>'
        f"<p>{verdict}</p><ul>{''.join(lines)}</ul><figure>{picture}<figcaption>"
        "What each dimension says against it, largest first: "
        '<span class="over">above the line</span> against the second following from the first, '
        '<span class="below">below it</span> against the first following from the second.'
        "</figcaption></figure></section>"
    )


def strips(texts: Sequence[str], said: SentenceComparison, by: str) -> str:
    """Each sentence with its characters as dark as their weight."""
    lines = (_strip(t, w) for t, w in zip(texts, said.attention, strict=True))
    return (
        f'<section class="strips"><h3>Which characters count? By {escape(by)}</h3>'
        f"{''.join(lines)}</section>"
    )


def _strip(text: str, weights: Sequence[float]) -> str:
    most = max(weights)
    letters = "".join(
        f'<span style="--w:{w / most:.2f}" title="{w:.1%}">{escape(c)}</span>'
        for c, w in zip(text, weights, strict=True)
    )
    words = ((m[0], sum(weights[m.start() : m.end()])) for m in re.finditer(r"\S+", text))
    first = sorted(words, key=lambda word: -word[1])[:3]
    told = ", ".join(f"“{escape(word)}” {weight:.0%}" for word, weight in first)
    return f'<p class="strip-of">{letters}</p><p class="note">Most of the weight: {told}</p>'


def nearest(near: Sequence[Sequence[Hit]], unit: str) -> str:
    """The captions nearest to each sentence, to find photos for."""
    number, columns = 0, []
    for name, hits in zip(("the first", "the second"), near, strict=True):
        items = ""
        for hit in hits:
            items += (
                f'<li><button type="button" class="sentence" data-event="click" data-number='
                f'"{number}" title="Find photos for this sentence">{escape(tidy(hit.item))}'
                f"</button>{_bar(hit.unit_score, unit, f'How near it is to {name}.')}</li>"
            )
            number += 1
        columns.append(f"<div><h3>Nearest to {name}</h3><ul>{items}</ul></div>")
    return f'<section class="near">{"".join(columns)}</section>'
