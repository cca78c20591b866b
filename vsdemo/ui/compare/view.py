"""What the tab Compare shows, as values of its templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from vsdemo.core import language
from vsdemo.core.hits import Hit
from vsdemo.core.language import message, translate
from vsdemo.core.sentences import BinaryTree
from vsdemo.search.model_comparison import PairComparison, RankedColumn, RankingComparison
from vsdemo.ui.compare.state import LETTERS, ROWS, CompareState
from vsdemo.ui.components.html import Bar, PhotoAddress, PhotoText, tidy
from vsdemo.ui.components.templates import render

NEITHER = len(LETTERS)  # number of the button of a vote for no model


@dataclass(frozen=True)
class Cell:
    """A photo or a sentence in a column.

    Attributes:
        number: Its number in the gallery.
        rank: Its rank in this column.
        text: The sentence, or what is in the photo.
        photo: Address of the photo; empty for a sentence.
        elsewhere: Its ranks in the other columns, for screen readers and as a tooltip.
        bar: Its score; None while the models are hidden.
        is_chosen: Whether it is shown large.
    """

    number: int
    rank: int
    text: str
    photo: str
    elsewhere: str
    bar: Bar | None
    is_chosen: bool


@dataclass(frozen=True)
class Name:
    """How a column is called.

    Attributes:
        full: A model, or a sentence.
        short: The same or, of a model, the last word of its name.
        about: The other words, and the model's paper; may be empty.
    """

    full: str
    short: str
    about: str = ""

    @classmethod
    def of(cls, state: CompareState, model: str, papers: Callable[[str], str]) -> Name:
        """Return the name of a model; only a letter if it is hidden."""
        if state.is_blind:
            letter = state.title(model)
            return cls(letter, letter)
        first, _, last = model.rpartition(" ")
        return cls(model, last, " · ".join(part for part in (first, papers(model)) if part))


@dataclass(frozen=True)
class Link:
    """A line between two neighbouring columns, from a photo or sentence to the same one.

    Attributes:
        number: Its number in the gallery.
        left: Height at which the line begins, in rows from the top.
        right: Height at which it ends.
    """

    number: int
    left: float
    right: float


@dataclass(frozen=True)
class ColumnView:
    """A column of results.

    Attributes:
        title: A model, or a sentence.
        name: The title, or the last word of a model's name, which fits a narrow column.
        about: The other words, and the model's paper; may be empty.
        cells: The results.
        problem: Why there are none, in a sentence.
        links: Lines to the next column.
    """

    title: str
    name: str
    about: str
    cells: Sequence[Cell]
    problem: str
    links: Sequence[Link]


@dataclass(frozen=True)
class Block:
    """Columns side by side.

    Attributes:
        title: A heading; empty without one.
        note: What the columns have in common.
        columns: The columns.
    """

    title: str
    note: str
    columns: Sequence[ColumnView]


@dataclass(frozen=True)
class ReadTree:
    """A tree of the sentence.

    Attributes:
        title: What it is, and which models read it.
        drawing: The tree.
    """

    title: str
    drawing: Markup


@dataclass(frozen=True)
class Place:
    """The place of a photo in the ranking of a model.

    Attributes:
        model: Name of the model.
        rank: Its rank; None if the model has none.
        total: How many photos are ranked.
        bar: Its score; None if it is not among the first results.
        picture: The alignment of the sentence with the photo; empty if the model has none.
        summary: What the alignment shows, or why there is none; empty for a model that has one
            vector for the whole photo.
    """

    model: str
    rank: int | None
    total: int
    bar: Bar | None
    picture: Markup
    summary: str


def results(
    state: CompareState,
    papers: Callable[[str], str],
    address: PhotoAddress,
    text: PhotoText,
) -> Markup:
    """Return the results of all models, side by side.

    Args:
        state: The query and what the models answer.
        papers: Returns authors and year of a model's paper.
        address: Addresses of photos.
        text: Alternative texts of photos.
    """

    def columns(comparison: RankingComparison, names: Sequence[Name]) -> list[ColumnView]:
        shown = comparison.columns
        after: list[RankedColumn | None] = [*shown[1:], None]
        return [
            ColumnView(
                title=name.full,
                name=name.short,
                about=name.about,
                cells=[_cell(state, hit, column, shown, address, text) for hit in column.hits],
                problem=column.problem,
                links=_links(column, other) if other else [],
            )
            for name, column, other in zip(names, shown, after, strict=True)
        ]

    if isinstance(state.result, RankingComparison):
        names = [Name.of(state, column.title, papers) for column in state.result.columns]
        agreement = _agreement(state.result, of_photos=not state.has_photo)
        blocks = [Block("", agreement, columns(state.result, names))]
    else:
        blocks = [
            Block(
                title=state.title(pair.model),
                note=_difference(pair),
                columns=columns(
                    pair.rankings, [Name(c.title, c.title) for c in pair.rankings.columns]
                ),
            )
            for pair in state.result or ()
        ]
    return render(
        "compare/results.html",
        blocks=blocks,
        rows=ROWS,
        has_photos=not state.has_photo,
        is_blind=state.is_blind,
        neither=NEITHER,
    )


def detail(photo: str, alt: str, places: Sequence[Place], trees: Sequence[ReadTree]) -> Markup:
    """Return a large photo with its place in each model's ranking.

    Args:
        photo: Address of the photo.
        alt: What is in the photo.
        places: Its place for each model.
        trees: The trees of the sentence that models read.
    """
    return render(
        "compare/detail.html",
        photo=photo,
        alt=alt,
        places=places,
        aligned=[place for place in places if place.summary],
        whole=[place.model for place in places if not place.summary],
        trees=trees,
    )


def phrases(tree: BinaryTree) -> Markup:
    """Return a sentence with a line below each of its phrases."""
    parts: list[str] = list(tree.words)
    brackets = list(tree.words)
    for left, right in tree.merges:
        parts.append(render("compare/phrase.html", left=parts[left], right=parts[right]))
        brackets.append(f"[{brackets[left]} {brackets[right]}]")
    return render("compare/phrases.html", phrases=parts[-1], brackets=brackets[-1])


def query_photo(photo: str, alt: str) -> Markup:
    """Return the photo that is the query, large.

    Args:
        photo: Its address.
        alt: What is in it.
    """
    return render("compare/query_photo.html", photo=photo, alt=alt)


def _cell(
    state: CompareState,
    hit: Hit,
    column: RankedColumn,
    columns: Sequence[RankedColumn],
    address: PhotoAddress,
    text: PhotoText,
) -> Cell:
    others = [other for other in columns if other is not column and hit.number in other.ranks]
    elsewhere = [
        translate(
            "{rank} of {total} for {model}",
            rank=language.number(other.ranks[hit.number]),
            total=language.number(other.total),
            model=state.title(other.title),
        )
        for other in others
    ]
    is_photo = not state.has_photo
    return Cell(
        number=hit.number,
        rank=hit.rank,
        text=text(hit.number) if is_photo else tidy(hit.item),
        photo=address(hit.number, "small") if is_photo else "",
        elsewhere="; ".join(elsewhere),
        bar=None if state.is_blind or not column.ranking else Bar.of_hit(hit, column.ranking),
        is_chosen=is_photo and not state.is_blind and hit.number == state.large,
    )


def _links(left: RankedColumn, right: RankedColumn) -> list[Link]:
    """Return lines from the results of one column to the same ones in the next."""
    places = {number: place for place, number in enumerate(right.numbers)}
    return [
        Link(number, place + 0.5, places[number] + 0.5)
        for place, number in enumerate(left.numbers)
        if number in places
    ]


def _agreement(comparison: RankingComparison, *, of_photos: bool) -> str:
    """Return how much the models agree on photos or sentences, as a sentence."""
    share, answered = comparison.agreement, comparison.answered
    if share is None:
        return ""
    shown = max(len(column.hits) for column in answered)
    if len(answered) == 2:
        common = language.number(round(share * shown))
        text = (
            message("The models have {common} of their first {shown} photos in common.")
            if of_photos
            else message("The models have {common} of their first {shown} sentences in common.")
        )
    else:
        common = language.number(share * shown, 1)
        text = (
            message(
                "Two models have on average {common} of their first {shown} photos in common. "
                "Lines join those that neighbours share."
            )
            if of_photos
            else message(
                "Two models have on average {common} of their first {shown} sentences in common. "
                "Lines join those that neighbours share."
            )
        )
    return translate(text, common=common, shown=language.number(shown))


def _difference(pair: PairComparison) -> str:
    """Return how much the second sentence changes for a model, as a sentence."""
    share = pair.rankings.agreement
    if share is None or pair.similarity is None:
        return ""
    shown = max(len(column.hits) for column in pair.rankings.columns)
    common = round(share * shown)
    similarity = language.number(pair.similarity, 2)
    if common == shown and pair.rankings.columns[0].numbers == pair.rankings.columns[1].numbers:
        return translate(
            "The same photos in the same order; similarity of the sentences {similarity}.",
            similarity=similarity,
        )
    return translate(
        "{common} of the first {shown} photos in common; similarity of the sentences {similarity}.",
        common=language.number(common),
        shown=language.number(shown),
        similarity=similarity,
    )
