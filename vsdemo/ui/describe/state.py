"""What the tab Describe shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vsdemo.core.errors import UserError
from vsdemo.core.hits import Hit
from vsdemo.core.language import number, translate
from vsdemo.ui.programs.call import OWN_PHOTO, ProgramCall
from vsdemo.ui.tabs import Selection

MAX_TYPED = 50  # sentences of a visitor


@dataclass(frozen=True)
class DescribeState:
    """The photo on the page and its sentences.

    Attributes:
        model: Key of the model.
        gallery: Key of the gallery.
        photo: Number of the photo in the gallery; None for an upload.
        upload: File of a visitor's photo.
        sentences: The sentences on the page.
        typed: Sentences of the visitor, to be ranked instead of others.
        selection: What the visitor has selected.
    """

    model: str
    gallery: str
    photo: int | None = None
    upload: str | None = None
    sentences: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    selection: Selection = field(default_factory=Selection)

    @property
    def address(self) -> dict[str, str]:
        """What the address bar of the browser shows; never a visitor's photo."""
        values = {"tab": "describe", "model": self.model, "gallery": self.gallery}
        return values if self.photo is None else {**values, "photo": str(self.photo)}

    @property
    def call(self) -> ProgramCall | None:
        """What a program would ask for; None if the visitor has typed sentences to rank."""
        if self.typed:
            return None
        return ProgramCall(
            "describe",
            photo=OWN_PHOTO if self.photo is None else self.photo,
            model=self.model,
            gallery=self.gallery,
            takes_gallery=self.photo is not None,
            k=max(len(self.sentences), 1),
        )


@dataclass(frozen=True)
class Ranking:
    """Sentences ranked for a photo.

    Attributes:
        hits: The best of them, best first.
        total: How many were ranked.
        model: Key of the model that ranked them, which may not be the chosen one.
        likely: What the photo probably shows; empty if the model is not sure, None if unknown.
        own: Captions of the photo itself.
        is_typed: Whether the visitor has typed the sentences.
    """

    hits: Sequence[Hit]
    total: int
    model: str
    likely: Sequence[str] | None = None
    own: Sequence[str] = ()
    is_typed: bool = False


def typed_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences in a text, one a line, each once.

    Raises:
        UserError: There are too many.
    """
    lines = tuple(dict.fromkeys(filter(None, map(str.strip, text.splitlines()))))
    if len(lines) > MAX_TYPED:
        raise UserError(
            translate(
                "There are {count} sentences; the limit is {limit}.",
                count=number(len(lines)),
                limit=number(MAX_TYPED),
            )
        )
    return lines
