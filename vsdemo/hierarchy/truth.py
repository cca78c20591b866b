"""Which steps of a walk are true, where all facts are known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from vsdemo.data.relations import TRUE, Relations
from vsdemo.data.text.vocab import tokenize
from vsdemo.hierarchy.order import PHOTO, ROOT, Hierarchy, Node


class Truth:
    """What follows from what among the texts and photos of a hierarchy.

    Args:
        relations: Those of the gallery, with a label for every pair.
    """

    def __init__(self, relations: Relations) -> None:
        self._relations = relations
        texts = enumerate(relations.texts)
        self._row_of = {" ".join(tokenize(text)): row for row, text in texts}

    def holds(self, hierarchy: Hierarchy, general: Node, specific: Node) -> bool | None:
        """Return whether the specific item entails the general one; None if that is not known."""
        if general.kind == ROOT:
            return True
        row = self._row(general)
        if row is None:
            return None
        if specific.kind == PHOTO:
            if specific.number is None:  # a visitor's photo
                return None
            photo = hierarchy.items[specific.number].number
            labels = self._relations.above_photos(row, np.array([photo]))
        else:
            below = self._row(specific)
            if below is None:
                return None
            labels = self._relations.among_texts(row, below)
        return bool(labels[0, 0] == TRUE)

    def _row(self, node: Node) -> np.ndarray | None:
        row = self._row_of.get(" ".join(tokenize(node.text)))
        return None if row is None else np.array([row])


def of_walk(hierarchy: Hierarchy, nodes: Sequence[Node], *, up: bool) -> list[bool | None]:
    """Return whether each step of a walk is true; None where that is not known.

    Args:
        hierarchy: Where the walk leads through.
        nodes: Its N nodes.
        up: Whether each node is above the one before it, and not below it.

    Returns:
        N - 1 answers.
    """
    truth = hierarchy.truth
    if truth is None:
        return [None] * (len(nodes) - 1)
    pairs = [(b, a) if up else (a, b) for a, b in pairwise(nodes)]
    return [truth.holds(hierarchy, general, specific) for general, specific in pairs]
