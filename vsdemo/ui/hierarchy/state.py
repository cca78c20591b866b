"""Where somebody stands in a hierarchy."""

from __future__ import annotations

from dataclasses import dataclass

from vsdemo.hierarchy.nodes import Node
from vsdemo.hierarchy.order import PHOTO


@dataclass(frozen=True)
class Standing:
    """What the tab Hierarchy shows. concepts: whether those of a table are walked, without photos;
    wanted: what to go to when the tab opens, a text or the number of a photo; place: where one
    stands, None before; upload: the file of a visitor's own photo; trail: numbers of the items from
    the root to the place, without it."""

    model: str
    gallery: str
    concepts: bool = False
    wanted: str | int = ""
    place: Node | None = None
    upload: str = ""
    trail: tuple[int, ...] = ()

    @property
    def ground(self) -> tuple[str, str]:
        """What is walked, by model and gallery; of concepts without either."""
        return ("", "") if self.concepts else (self.model, self.gallery)

    @property
    def address(self) -> dict[str, str]:
        """What the address bar says; a visitor's own photo is not part of it."""
        values = {"tab": "hierarchy", "model": self.model, "gallery": self.gallery}
        values |= {"of": "concepts"} if self.concepts else {}
        if self.place is None or self.upload:
            return values
        if self.place.kind == PHOTO:
            return {**values, "photo": str(self.wanted)}
        return {**values, "q": self.place.text}
