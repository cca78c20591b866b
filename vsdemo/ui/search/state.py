"""What the tab Search shows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

from vsdemo.core.hits import Hit
from vsdemo.core.images import open_photo
from vsdemo.search.query import Query, make_query
from vsdemo.search.ranking import Ranking
from vsdemo.ui.programs.call import OWN_PHOTO, ProgramCall
from vsdemo.ui.search.refinement import Refinement
from vsdemo.ui.tabs import OWN, SIMILAR, Selection

SHARE = 100  # the map highlights one in so many photos


@dataclass(eq=False)
class Ongoing:
    """A search that is repeated as more photos become available.

    Attributes:
        hits: The newest results that are on the page.
        ranking: All results.
        has_choice: Whether the visitor has clicked a photo of these results, which stays large.
    """

    hits: tuple[Hit, ...] = ()
    ranking: Ranking | None = None
    has_choice: bool = False


@dataclass(frozen=True)
class SearchState:
    """What the page shows; clicks refer to it, not to the drop-downs.

    Attributes:
        text: The sentence, or several; empty where only a photo is the query, or nothing is.
        model: Key of the model.
        gallery: Key of the gallery.
        k: Photos to show at a time.
        hits: The results; empty while the gallery is browsed without a search.
        similar_to: The photo that is the query: its number in the gallery, or the file of a
            visitor's photo. None where only a sentence is the query, or nothing is.
        refinement: What narrows the search down.
        browsed: How many photos of the gallery are on the page where there are no hits.
        photo: Number of the large photo; None for the first.
        selection: What the visitor has selected.
        ongoing: The search that these results belong to.
    """

    text: str
    model: str
    gallery: str
    k: int
    hits: tuple[Hit, ...] = ()
    similar_to: int | str | None = None
    refinement: Refinement = field(default_factory=Refinement)
    browsed: int = 0
    photo: int | None = None
    selection: Selection = field(default_factory=Selection)
    ongoing: Ongoing = field(default_factory=Ongoing, compare=False)

    @property
    def has_query(self) -> bool:
        """Whether there is anything to search for."""
        return bool(self.text) or self.similar_to is not None or self.refinement.narrows

    @property
    def is_result(self) -> bool:
        """Whether the page shows the result of a search, and does not browse the gallery."""
        return self.ongoing.ranking is not None

    @property
    def highlights(self) -> list[int]:
        """Numbers of the photos that the map highlights.

        These are all photos that meet the conditions or, where they are in an order, the best
        hundredth of them, but at least those on the page.
        """
        ranking = self.ongoing.ranking
        if ranking is None:
            return []
        in_order = bool(self.text) or self.similar_to is not None or bool(self.refinement.label)
        count = max(len(self.hits), len(ranking) // SHARE) if in_order else len(ranking)
        return cast(list[int], ranking.numbers[:count].tolist())

    @property
    def query(self) -> Query:
        """What is searched for.

        Raises:
            UserError: A weight in the text is not valid, the text has only what photos should not
                show, or the visitor's photo cannot be read.
        """
        photo = self.similar_to
        source = open_photo(photo) if isinstance(photo, str) else photo
        query = make_query(
            self.text,
            [] if source is None else [source],
            photo_weight=self.refinement.photo_weight if self.text else 1.0,
            conditions=self.refinement.conditions,
            order=self.refinement.order,
            groups_copies=self.refinement.groups_copies,
        )
        return replace(query, within=self.refinement.within)

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
        values |= {"model": self.model, "gallery": self.gallery, **self.refinement.address}
        first = self.hits[0].number if self.hits else 0
        if self.photo is not None and self.photo != first:
            values["photo"] = str(self.photo)
        return values

    @property
    def call(self) -> ProgramCall | None:
        """What a program would ask for."""
        if not self.has_query or self.refinement.is_private:
            return None
        photo = OWN_PHOTO if isinstance(self.similar_to, str) else self.similar_to
        is_similar = photo is not None and not self.text and not self.refinement.address
        return ProgramCall(
            "similar" if is_similar else "search",
            texts={} if is_similar else {"sentence": self.text},
            photo=photo,
            is_mixed=not is_similar,
            model=self.model,
            gallery=self.gallery,
            takes_gallery=True,
            k=len(self.hits) or self.k,
            refinement=self.refinement.parameters,
        )
