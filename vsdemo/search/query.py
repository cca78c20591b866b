"""What is searched for: sentences and photos with weights, and conditions on the photos."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from PIL import Image

from vsdemo.core.errors import UserError
from vsdemo.data.catalog.filters import PhotoFilter, PhotoOrder

MAX_TERMS = 16
MAX_WEIGHT = 10.0
WEIGHT = re.compile(r"\s*\^\s*(\d+(?:\.\d+)?)$")


@dataclass(frozen=True)
class Term:
    """A part of a query.

    Attributes:
        source: A sentence, the number of a photo in the gallery, or a photo.
        weight: How much it counts; negative for what the photos should not be like.
    """

    source: str | int | Image.Image
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < abs(self.weight) <= MAX_WEIGHT:
            raise UserError(
                f"A weight must be a number up to {MAX_WEIGHT:g} and not 0, not {self.weight:g}."
            )


@dataclass(frozen=True)
class Query:
    """What is searched for; without terms, all photos in the order of the gallery.

    Attributes:
        terms: Sentences and photos.
        filter: Conditions on the photos.
        order: Which photos come first.
        groups_copies: Whether of photos that are nearly the same only the first is a hit.
    """

    terms: tuple[Term, ...] = ()
    filter: PhotoFilter = field(default_factory=PhotoFilter)
    order: PhotoOrder = PhotoOrder.FIT
    groups_copies: bool = False

    def __post_init__(self) -> None:
        if len(self.terms) > MAX_TERMS:
            raise UserError(f"A query has at most {MAX_TERMS} parts, not {len(self.terms)}.")
        if self.terms and all(term.weight < 0 for term in self.terms):
            raise UserError("Say what the photos should show too, not only what they should not.")

    @property
    def sentences(self) -> list[str]:
        """The sentences that photos should match."""
        return [t.source for t in self.terms if isinstance(t.source, str) and t.weight > 0]


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
