"""The state of the tab Hierarchy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from torch import Tensor

from vsdemo.hierarchy.order import PHOTO, Item, Node
from vsdemo.ui.programs.call import OWN_PHOTO, ProgramCall
from vsdemo.ui.tabs import Selection

HierarchyKey = tuple[str, str]  # model and gallery; both empty for concepts


@dataclass(frozen=True)
class Additions:
    """The sentences that follow from a visitor's sentence, which no other visitor sees.

    Attributes:
        items: The M sentences.
        x: Their embeddings, (M, D); None without a sentence to start from.
        grammar: Texts -> what follows from them by their grammar, as `Hierarchy.grammar`.
    """

    items: tuple[Item, ...] = ()
    x: Tensor | None = None
    grammar: Mapping[str, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class HierarchyState:
    """The node on the page and the path to it.

    Attributes:
        model: Key of the model.
        gallery: Key of the gallery.
        concepts: Whether the hierarchy is WordNet's concepts, without photos.
        target: The node to show: a text or the number of a photo.
        node: The node on the page; None until it is there.
        upload: File of a visitor's photo.
        trail: Item numbers from the root to the node, without it.
        additions: What the visitor's hierarchy has at its end, after the items of all visitors.
        selection: What the visitor has selected.
    """

    model: str
    gallery: str
    concepts: bool = False
    target: str | int = ""
    node: Node | None = None
    upload: str = ""
    trail: tuple[int, ...] = ()
    additions: Additions = field(default_factory=Additions, compare=False)
    selection: Selection = field(default_factory=Selection)

    @property
    def key(self) -> HierarchyKey:
        """The key of the hierarchy."""
        return ("", "") if self.concepts else (self.model, self.gallery)

    @property
    def is_pending(self) -> bool:
        """Whether the node is not there yet."""
        return self.node is None

    @property
    def in_gallery(self) -> HierarchyState:
        """This state or, if it is one of concepts, the start of that of the gallery."""
        return HierarchyState(self.model, self.gallery) if self.concepts else self

    @property
    def address(self) -> dict[str, str]:
        """Query parameters for the browser's address bar; never a visitor's photo."""
        values = {"tab": "hierarchy", "model": self.model, "gallery": self.gallery}
        values |= {"of": "concepts"} if self.concepts else {}
        if self.node is None or self.upload:
            return values
        if self.node.kind == PHOTO:
            return {**values, "photo": str(self.target)}
        return {**values, "q": self.node.text}

    @property
    def call(self) -> ProgramCall | None:
        """What a program would ask for; None before there is a node, and for concepts alone."""
        if self.node is None or self.concepts:
            return None
        photo: int | None = None
        if self.upload:
            photo = OWN_PHOTO
        elif self.node.kind == PHOTO:
            photo = int(self.target)
        return ProgramCall(
            "walk",
            texts={"sentence": self.node.text} if photo is None else {},
            photo=photo,
            model=self.model,
            gallery=self.gallery,
            takes_gallery=True,
        )
