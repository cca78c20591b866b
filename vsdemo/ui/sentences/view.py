"""The HTML of two sentences compared: similarity by model, entailment, characters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import urlencode

from vsdemo.core.hits import Hit
from vsdemo.plots import profile_svg
from vsdemo.search.sentence_comparison import SentenceComparison
from vsdemo.ui.components.html import bar, sentence_button

COSINE = (
    "Cosine of the angle between both embeddings; 1 is the same direction. Scales differ between "
    "models: compare rows of one model, not one model with another."
)
ORDER_FIT = "1 minus the order violation; 1 means that no dimension is violated."
CLEAR = 0.01  # least difference of two violations that the bars can show
NAMES = ("the first", "the second")


@dataclass(frozen=True)
class Row:
    """A model and its comparison of the sentences, or the reason why it has none.

    Attributes:
        model: Key of the model.
        title: Name of the model within its group.
        trained_on: Title of its training set, by which rows are grouped.
        comparison: The comparison, or the reason.
    """

    model: str
    title: str
    trained_on: str
    comparison: SentenceComparison | str


def rows(all_rows: Sequence[Row], chosen: str, address: Mapping[str, str]) -> str:
    """Return a bar for each model, grouped by training set; the chosen model is marked."""
    groups: dict[str, list[str]] = {}
    for row in all_rows:
        line = _row(row, ' aria-current="true"' if row.model == chosen else "")
        groups.setdefault(row.trained_on, []).append(line)
    sections = "".join(
        f"<h3>Trained on {escape(group)}</h3><ul>{''.join(lines)}</ul>"
        for group, lines in groups.items()
    )
    return (
        f'<section class="similarity" data-address="{escape(urlencode(address))}">'
        f"{sections}</section>"
    )


def _row(row: Row, current: str) -> str:
    name = f"<b>{escape(row.title)}</b>"
    if isinstance(row.comparison, str):
        return f'<li{current}>{name}<span class="explanation">{escape(row.comparison)}</span></li>'
    unknown = dict.fromkeys(word for words in row.comparison.unknown for word in words)
    words = ", ".join(f"“{word}”" for word in unknown)
    ignored = f'<span class="explanation">ignores {escape(words)}</span>' if words else ""
    return f"<li{current}>{name}{_bar(row.comparison.cosine, 'cosine', COSINE)}{ignored}</li>"


def _bar(value: float, unit: str, meaning: str) -> str:
    return bar(value, f"{value:.2f}", unit, meaning)


def entailment(comparison: SentenceComparison, model: str) -> str:
    """Return whether one sentence follows from the other, both ways and by dimension."""
    dim = len(comparison.excess)
    lines = []
    directions = zip(comparison.violations, comparison.violated, strict=True)
    for i, (violation, violated) in enumerate(directions):
        lines.append(
            f"<li><span>{NAMES[1 - i].capitalize()} follows from {NAMES[i]}</span>"
            f"{_bar(1 - violation, 'order fit', ORDER_FIT)}"
            f'<span class="explanation">violated in {violated:,} of {dim:,} dimensions</span></li>'
        )
    from_first, from_second = comparison.violations
    if abs(from_first - from_second) < CLEAR:
        verdict = "Neither is clearly the more general one."
    else:
        general = NAMES[1] if from_first < from_second else NAMES[0]
        verdict = f"{general.capitalize()} is the more general one: its violation is smaller."
    figure = profile_svg(
        comparison.excess, f"{verdict} Differences of both embeddings by dimension."
    )
    return (
        f'<section class="entailment"><h3>Does one follow from the other? By {escape(model)}</h3>'
        f"<p>{verdict}</p><ul>{''.join(lines)}</ul><figure>{figure}<figcaption>"
        "Violation in each dimension, largest first: "
        '<span class="over">above the line</span> if the second does not follow from the first, '
        '<span class="below">below it</span> if the first does not follow from the second.'
        "</figcaption></figure></section>"
    )


def strips(texts: Sequence[str], comparison: SentenceComparison, model: str) -> str:
    """Return each sentence with its characters as dark as their weight."""
    lines = (
        _strip(text, weights) for text, weights in zip(texts, comparison.attention, strict=True)
    )
    return (
        f'<section class="strips"><h3>Which characters count? By {escape(model)}</h3>'
        f"{''.join(lines)}</section>"
    )


def _strip(text: str, weights: Sequence[float]) -> str:
    largest = max(weights)
    letters = "".join(
        f'<span style="--w:{weight / largest:.2f}" title="{weight:.1%}">{escape(letter)}</span>'
        for letter, weight in zip(text, weights, strict=True)
    )
    words = [
        (match[0], sum(weights[match.start() : match.end()])) for match in re.finditer(r"\S+", text)
    ]
    heaviest = sorted(words, key=lambda word: -word[1])[:3]
    summary = ", ".join(f"“{escape(word)}” {weight:.0%}" for word, weight in heaviest)
    return (
        f'<p class="character-strip">{letters}</p><p class="note">Most of the weight: {summary}</p>'
    )


def nearest(captions: Sequence[Sequence[Hit]], unit: str) -> str:
    """Return the captions nearest to each sentence, to find photos for."""
    number, columns = 0, []
    for name, hits in zip(NAMES, captions, strict=True):
        items = ""
        for hit in hits:
            score_bar = _bar(hit.unit_score, unit, f"Similarity to {name} sentence.")
            items += f"<li>{sentence_button(number, hit.item)}{score_bar}</li>"
            number += 1
        columns.append(f"<div><h3>Nearest to {name}</h3><ul>{items}</ul></div>")
    return f'<section class="nearest-captions">{"".join(columns)}</section>'
