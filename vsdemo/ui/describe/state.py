"""What the tab Describe shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vsdemo.core.hits import Hit
from vsdemo.ui.programs.call import OWN_PHOTO, ProgramCall
from vsdemo.ui.tabs import Selection


@dataclass(frozen=True)
class DescribeState:
    """The photo on the page and its sentences.

    Attributes:
        model: Key of the model.
        gallery: Key of the gallery.
        photo: Number of the photo in the gallery; None for an upload.
        upload: File of a visitor's photo.
        sentences: The sentences on the page.
        selection: What the visitor has selected.
    """

    model: str
    gallery: str
    photo: int | None = None
    upload: str | None = None
    sentences: tuple[str, ...] = ()
    selection: Selection = field(default_factory=Selection)

    @property
    def address(self) -> dict[str, str]:
        """What the address bar of the browser shows; never a visitor's photo."""
        values = {"tab": "describe", "model": self.model, "gallery": self.gallery}
        return values if self.photo is None else {**values, "photo": str(self.photo)}

    @property
    def call(self) -> ProgramCall | None:
        """What a program would ask for."""
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
        own: Captions of the photo itself.
    """

    hits: Sequence[Hit]
    total: int
    model: str
    own: Sequence[str] = ()
