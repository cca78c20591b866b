"""What the tab Sentences shows, as values of its templates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from vsdemo.core.hits import Hit
from vsdemo.core.language import message, number, percentage, translate
from vsdemo.plots import profile_svg
from vsdemo.search.sentence_comparison import SentenceComparison
from vsdemo.ui.components.html import Bar, SentenceRow, tidy
from vsdemo.ui.components.templates import render
from vsdemo.ui.sentences.state import OTHER_DATA, UNKNOWN_DATA, Row

COSINE = message(
    "Cosine of the angle between both embeddings, or its mean over their parts; 1 is the same "
    "direction. Scales differ between models, so do not compare the values of different models."
)
ORDER_FIT = message("1 minus the order violation; 1 means that no dimension is violated.")
CLEAR = 0.01  # least difference of two violations that the bars can show
CLAIMS = (
    message("The second follows from the first"),
    message("The first follows from the second"),
)
VERDICTS = (
    message("The first is the more general one: its violation is smaller."),
    message("The second is the more general one: its violation is smaller."),
)
NEITHER = message("Neither is clearly the more general one.")
NEAREST = (  # title of a column, and what its bars mean
    (message("Nearest to the first"), message("Similarity to the first sentence.")),
    (message("Nearest to the second"), message("Similarity to the second sentence.")),
)
HEAVIEST = 3  # words


@dataclass(frozen=True)
class ModelRow:
    """The row of a model.

    Attributes:
        title: Name of the model.
        is_chosen: Whether it is the chosen model.
        bar: How similar the sentences are by it; None if it could not compare them.
        explanation: Why it could not, or which words it ignores; may be empty.
    """

    title: str
    is_chosen: bool
    bar: Bar | None
    explanation: str


@dataclass(frozen=True)
class Direction:
    """Whether one sentence follows from the other.

    Attributes:
        claim: That it does.
        bar: How well the model's order fits the claim.
        explanation: In how many dimensions the order is violated.
    """

    claim: str
    bar: Bar
    explanation: str


@dataclass(frozen=True)
class Letter:
    """A character, its weight, and the weight as a share of the largest one."""

    text: str
    weight: float
    darkness: float


@dataclass(frozen=True)
class Strip:
    """The characters of a sentence, and the words with the most weight."""

    letters: Sequence[Letter]
    heaviest_words: str


@dataclass(frozen=True)
class Column:
    """The captions nearest to a sentence; buttons are numbered from `first_number`."""

    title: str
    first_number: int
    rows: Sequence[SentenceRow]


def rows(all_rows: Sequence[Row], chosen: str) -> Markup:
    """Return a bar for each model, grouped by training set; the chosen model is marked."""
    groups: dict[str, list[ModelRow]] = {}
    for row in all_rows:
        line = _model_row(row, is_chosen=row.model == chosen)
        is_named = row.trained_on not in (OTHER_DATA, UNKNOWN_DATA)
        title = row.trained_on if is_named else translate(row.trained_on)
        groups.setdefault(title, []).append(line)
    return render("sentences/rows.html", groups=groups)


def _model_row(row: Row, *, is_chosen: bool) -> ModelRow:
    if isinstance(row.comparison, str):
        return ModelRow(row.title, is_chosen=is_chosen, bar=None, explanation=row.comparison)
    unknown = dict.fromkeys(word for words in row.comparison.unknown for word in words)
    words = ", ".join(map(_quoted, unknown))
    return ModelRow(
        row.title,
        is_chosen=is_chosen,
        bar=Bar.of(row.comparison.cosine, message("cosine"), COSINE),
        explanation=translate("ignores {words}", words=words) if words else "",
    )


def entailment(comparison: SentenceComparison, model: str) -> Markup:
    """Return whether one sentence follows from the other, both ways and by dimension."""
    verdict = _verdict(*comparison.violations)
    differences = translate("Differences of both embeddings by dimension.")
    figure = profile_svg(comparison.excess, f"{verdict} {differences}")
    return render(
        "sentences/entailment.html",
        model=model,
        verdict=verdict,
        directions=_directions(comparison),
        figure=Markup(figure),  # escaped by the plot
    )


def _directions(comparison: SentenceComparison) -> list[Direction]:
    """Return whether the second follows from the first, and the first from the second."""
    dim = len(comparison.excess)
    directions = []
    numbers = zip(CLAIMS, comparison.violations, comparison.violated, strict=True)
    for claim, violation, violated in numbers:
        direction = Direction(
            claim=translate(claim),
            bar=Bar.of(1 - violation, message("order fit"), ORDER_FIT),
            explanation=translate(
                "violated in {count} of {total} dimensions",
                count=number(violated),
                total=number(dim),
            ),
        )
        directions.append(direction)
    return directions


def _verdict(from_first: float, from_second: float) -> str:
    """Return which sentence is the more general one, by the violations of both directions."""
    if abs(from_first - from_second) < CLEAR:
        return translate(NEITHER)
    return translate(VERDICTS[1] if from_first < from_second else VERDICTS[0])


def strips(texts: Sequence[str], comparison: SentenceComparison, model: str) -> Markup:
    """Return each sentence with its characters as dark as their weight."""
    both = zip(texts, comparison.attention, strict=True)
    lines = [_strip(text, weights) for text, weights in both]
    return render("sentences/strips.html", strips=lines, model=model)


def _strip(text: str, weights: Sequence[float]) -> Strip:
    largest = max(weights)
    words = [
        (match[0], sum(weights[match.start() : match.end()])) for match in re.finditer(r"\S+", text)
    ]
    heaviest = sorted(words, key=lambda word: -word[1])[:HEAVIEST]
    return Strip(
        letters=[
            Letter(letter, weight, darkness=weight / largest)
            for letter, weight in zip(text, weights, strict=True)
        ],
        heaviest_words=", ".join(
            f"{_quoted(word)} {percentage(weight)}" for word, weight in heaviest
        ),
    )


def _quoted(word: str) -> str:
    return translate("“{word}”", word=word)


def nearest(captions: Sequence[Sequence[Hit]], unit: str) -> Markup:
    """Return the captions nearest to each sentence, to find photos for."""
    columns, first = [], 0
    for (title, meaning), hits in zip(NEAREST, captions, strict=True):
        cells = [
            SentenceRow(tidy(hit.item), bar=Bar.of(hit.unit_score, unit, meaning, hit.scale))
            for hit in hits
        ]
        columns.append(Column(translate(title), first, cells))
        first += len(cells)
    return render("sentences/nearest.html", columns=columns)
