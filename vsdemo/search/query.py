"""What is searched for: sentences and photos with weights, and conditions on the photos."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from PIL import Image
from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.core.language import translate
from vsdemo.data.catalog.filters import PhotoFilter, PhotoOrder

MAX_TERMS = 16
MAX_WEIGHT = 10.0
WEIGHT = re.compile(r"\s*\^\s*(\d+(?:\.\d+)?)$")


@dataclass(frozen=True)
class PhotoScores:
    """Scores of all photos of a gallery that come from no sentence or photo, such as a label's.

    Attributes:
        scores: (N,), from 0 to 1.
        unit: Unit of the scores.
        meaning: What they mean, in a sentence.
    """

    scores: Tensor
    unit: str
    meaning: str


Source = str | int | Image.Image | PhotoScores


@dataclass(frozen=True)
class Term:
    """A part of a query.

    Attributes:
        source: A sentence, the number of a photo in the gallery, a photo, or scores.
        weight: How much it counts; negative for what the photos should not be like.
    """

    source: Source
    weight: float = 1.0

    def __str__(self) -> str:
        minus = "-" if self.weight < 0 else ""
        weight = "" if abs(self.weight) == 1 else f"^{abs(self.weight):g}"
        return f"{minus}{self.source}{weight}"

    def __post_init__(self) -> None:
        if not 0 < abs(self.weight) <= MAX_WEIGHT:
            raise UserError(
                translate(
                    "A weight must be a number up to {most} and not 0, not {weight}.",
                    most=f"{MAX_WEIGHT:g}",
                    weight=f"{self.weight:g}",
                )
            )


@dataclass(frozen=True)
class Query:
    """What is searched for; without terms, all photos in the order of the gallery.

    Attributes:
        terms: Sentences and photos.
        filter: Conditions on the photos.
        order: Which photos come first.
        groups_copies: Whether only the first of several nearly identical photos is a hit.
        within: Numbers of the photos that are searched; None for all.
    """

    terms: tuple[Term, ...] = ()
    filter: PhotoFilter = field(default_factory=PhotoFilter)
    order: PhotoOrder = PhotoOrder.FIT
    groups_copies: bool = False
    within: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.terms) > MAX_TERMS:
            raise UserError(
                translate(
                    "A query has at most {most} parts, not {count}.",
                    most=MAX_TERMS,
                    count=len(self.terms),
                )
            )
        if self.terms and all(term.weight < 0 for term in self.terms):
            raise UserError(
                translate("The query only excludes things; also say what the photos should show.")
            )

    @property
    def is_empty(self) -> bool:
        """Whether it asks for nothing at all."""
        is_ordered = self.order is not PhotoOrder.FIT
        return not (self.terms or is_ordered or self.within) and self.filter.is_empty

    @property
    def text(self) -> str:
        """The sentences as `parse_terms` reads them."""
        return "; ".join(str(term) for term in self.terms if isinstance(term.source, str))

    @property
    def texts(self) -> list[str]:
        """All sentences."""
        return [term.source for term in self.terms if isinstance(term.source, str)]


def parse_terms(text: str) -> tuple[Term, ...]:
    """Return the terms of what was typed.

    Sentences are separated by semicolons. One that begins with a minus is what the photos should
    not show, and one that ends with ^ and a number has this weight: "a dog; at night^0.5; -people".

    Raises:
        UserError: As `Term` and `Query`.
    """
    terms = []
    for part in filter(None, map(str.strip, text.split(";"))):
        weight = WEIGHT.search(part)
        sentence = part[: weight.start()] if weight else part
        factor = float(weight[1]) if weight else 1.0
        if sentence.startswith(("-", "\N{MINUS SIGN}")):
            sentence, factor = sentence[1:].strip(), -factor
        terms.append(Term(sentence, factor))
    return tuple(terms)


def make_query(
    text: str = "",
    photos: Sequence[int | Image.Image] = (),
    *,
    photo_weight: float = 1.0,
    conditions: PhotoFilter | None = None,
    order: PhotoOrder = PhotoOrder.FIT,
    groups_copies: bool = False,
) -> Query:
    """Return a query.

    Args:
        text: Sentences as for `parse_terms`; may be empty.
        photos: Photos that the results should be like, or their numbers in the gallery.
        photo_weight: Total weight of these photos; sentences have 1 unless they say otherwise.
        conditions: Conditions on the photos.
        order: Which photos come first.
        groups_copies: As in `Query`.

    Raises:
        UserError: A weight is not valid, there are too many terms, or all are negative.
    """
    terms = [*parse_terms(text)]
    terms += [Term(photo, photo_weight / len(photos)) for photo in photos]
    return Query(tuple(terms), conditions or PhotoFilter(), PhotoOrder(order), groups_copies)
