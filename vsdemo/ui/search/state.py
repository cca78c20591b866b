"""What the tab Search shows."""

from __future__ import annotations

from dataclasses import dataclass, field

from vsdemo.core.hits import Hit
from vsdemo.ui.tabs import Selection


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
        text: The sentence.
        model: Key of the model.
        gallery: Key of the gallery.
        k: Photos to show at a time.
        hits: The results; empty while the gallery is browsed without a search.
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
    browsed: int = 0
    photo: int | None = None
    selection: Selection = field(default_factory=Selection)
    ongoing: Ongoing = field(default_factory=Ongoing, compare=False)

    @property
    def address(self) -> dict[str, str]:
        """What the address bar of the browser shows."""
        values = {"q": self.text} if self.text else {}
        values |= {"model": self.model, "gallery": self.gallery}
        first = self.hits[0].number if self.hits else 0
        if self.photo is not None and self.photo != first:
            values["photo"] = str(self.photo)
        return values
