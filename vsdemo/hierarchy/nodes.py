"""Look up nodes by their text, and items near an embedding."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from vsdemo.data.text.vocab import tokenize
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, Hierarchy, Node, Step


def find_item(hierarchy: Hierarchy, text: str) -> int | None:
    """Return the index of the concept or caption with this text, or None.

    Case and punctuation are ignored, since data sets write them differently from people.
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
    """Return the k nearest items of each kind that has any, except the root.

    Args:
        hierarchy: The items.
        embedding: `(1, K)`.
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
