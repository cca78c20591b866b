"""What the tab Search shows."""

from __future__ import annotations

from dataclasses import dataclass, field

from vsdemo.core.hits import Hit
from vsdemo.ui.programs.call import OWN_PHOTO, ProgramCall
from vsdemo.ui.tabs import OWN, SIMILAR, Selection


@dataclass(eq=False)
class Ongoing:
    """A search that is repeated as more photos are there.

    Attributes:
        hits: The newest results.
        has_choice: Whether the visitor has clicked a photo of these results, which stays large.
    """

    hits: tuple[Hit, ...] = ()
    has_choice: bool = False


@dataclass(frozen=True)
class SearchState:
    """What the page shows; clicks refer to it, not to the drop-downs.

    Attributes:
        text: The sentence; empty where a photo is the query, or nothing is.
        model: Key of the model.
        gallery: Key of the gallery.
        k: Photos to show at a time.
        hits: The results; empty while the gallery is browsed without a search.
        similar_to: The photo that is the query: its number in the gallery, or the file of a
            visitor's photo. None where a sentence is the query, or nothing is.
        browsed: How many photos of the gallery are on the page where there are no hits.
        photo: Number of the large photo; None for the first.
        selection: What the visitor has selected.
        ongoing: The search that these results are of.
    """

    text: str
    model: str
    gallery: str
    k: int
    hits: tuple[Hit, ...] = ()
    similar_to: int | str | None = None
    browsed: int = 0
    photo: int | None = None
    selection: Selection = field(default_factory=Selection)
    ongoing: Ongoing = field(default_factory=Ongoing, compare=False)

    @property
    def has_query(self) -> bool:
        """Whether there is anything to search for."""
        return bool(self.text) or self.similar_to is not None

    @property
    def upload(self) -> str | None:
        """File of a visitor's photo: the query or, without one, the selected photo."""
        return self.similar_to if isinstance(self.similar_to, str) else self.selection.upload

    @property
    def address(self) -> dict[str, str]:
        """What the address bar of the browser shows."""
        values = {"q": self.text} if self.text else {}
        if self.similar_to is not None:
            is_own = isinstance(self.similar_to, str)
            values[SIMILAR] = OWN if is_own else str(self.similar_to)
        values |= {"model": self.model, "gallery": self.gallery}
        first = self.hits[0].number if self.hits else 0
        if self.photo is not None and self.photo != first:
            values["photo"] = str(self.photo)
        return values

    @property
    def call(self) -> ProgramCall | None:
        """What a program would ask for."""
        if not self.has_query:
            return None
        photo = OWN_PHOTO if isinstance(self.similar_to, str) else self.similar_to
        return ProgramCall(
            "search" if photo is None else "similar",
            texts={"sentence": self.text} if photo is None else {},
            photo=photo,
            model=self.model,
            gallery=self.gallery,
            takes_gallery=True,
            k=len(self.hits) or self.k,
        )
