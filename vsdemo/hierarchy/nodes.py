"""Nodes: the places in a hierarchy that an item, a sentence or a photo stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor

from vsdemo.data.text.vocab import tokenize
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, Hierarchy, Step


@dataclass(frozen=True)
class Node:
    """A place to walk from: an item of the hierarchy, or any sentence or photo.

    Args:
        text: What to show for it.
        kind: One of `order.KINDS`.
        embedding: `(1, D)`.
        number: Index of its item; None if it is no item.
    """

    text: str
    kind: str
    embedding: Tensor = field(compare=False)
    number: int | None = None


def node_of(hierarchy: Hierarchy, number: int) -> Node:
    """Return the node of an item."""
    item = hierarchy.items[number]
    return Node(text=item.text, kind=item.kind, embedding=hierarchy.x[[number]], number=number)


def find_item(hierarchy: Hierarchy, text: str) -> int | None:
    """Return the index of the concept or caption with this text, or None.

    Case and punctuation are ignored, since data sets write them in other ways than people do.
    """
    words = tokenize(text)
    if not words:
        return None
    for number, item in enumerate(hierarchy.items):
        if item.kind != PHOTO and tokenize(item.text) == words:
            return number
    return None


def nearest_by_kind(
    hierarchy: Hierarchy, embedding: Tensor, exclude: Sequence[Node], k: int
) -> dict[str, list[Step]]:
    """Return the k nearest items of each kind that has any, but for the root.

    Args:
        hierarchy: The items.
        embedding: `(1, D)`.
        exclude: Nodes to leave out, such as those that `embedding` is composed of.
        k: Items of each kind.
    """
    excluded = {node.number for node in exclude}
    result = {}
    for kind in (CONCEPT, CAPTION, PHOTO):
        steps = hierarchy.nearest(embedding, k + len(excluded), kind)
        kept = [step for step in steps if step.number not in excluded][:k]
        if kept:
            result[kind] = kept
    return result
