"""Which items a map of a hierarchy shows, and which arrows join them."""

from __future__ import annotations

from collections.abc import Container, Sequence

import torch

from vsdemo.core.arrows import Arrow
from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders.concepts import SENSE
from vsdemo.hierarchy.order import PHOTO, Hierarchy

MAX_CONCEPTS = 300  # the most general concepts, in addition to first senses of everyday words
MAX_PARENTS = 2  # arrows to one item
CLEAR = 0.5  # largest violation of an arrow, as a share of that of its reverse


def map_items(hierarchy: Hierarchy, words: Container[str] = ()) -> list[int]:
    """Return the indices of the items that a map shows.

    These are all items or, for a large hierarchy of concepts, the `MAX_CONCEPTS` most general ones
    and the first sense of each of `words`.
    """
    if bool(hierarchy.of_kind[PHOTO].any()) or len(hierarchy) <= 2 * MAX_CONCEPTS:
        return list(range(len(hierarchy)))
    general = hierarchy.depths.argsort()[:MAX_CONCEPTS].tolist()
    first_senses: dict[str, int] = {}
    for name, number in sorted((item.text, i) for i, item in enumerate(hierarchy.items)):
        word = name.partition(SENSE)[0]
        if word in words:
            first_senses.setdefault(word, number)
    return sorted({*general, *first_senses.values()})


def map_arrows(hierarchy: Hierarchy, numbers: Sequence[int]) -> list[Arrow]:
    """Return the transitive reduction of the order among some items.

    An item is above a deeper one if its violation is within the hierarchy's limits and at most
    `CLEAR` times that of the other direction. Each item gets at most `MAX_PARENTS` arrows, those
    with the smallest violations.
    """
    import networkx  # takes long to import, and the app should start soon

    chosen = torch.tensor(sorted(set(numbers)))
    x, depths = Embeddings(hierarchy.x[chosen]), hierarchy.depths[chosen]
    violation = hierarchy.order.violation(x, x)  # (N, N), general and specific
    above = (violation <= CLEAR * violation.T) & (depths[:, None] < depths)
    above &= violation <= hierarchy.arrow_limit
    graph = networkx.DiGraph(above.nonzero().tolist())  # acyclic, as depths grow along edges
    reduced = networkx.transitive_reduction(graph)
    arrows = []
    for specific in sorted(reduced):
        parents = sorted(reduced.predecessors(specific))
        parents.sort(key=lambda general: float(violation[general, specific]))
        for general in parents[:MAX_PARENTS]:
            arrow = Arrow(
                general=int(chosen[general]),
                specific=int(chosen[specific]),
                violation=float(violation[general, specific]),
            )
            arrows.append(arrow)
    return arrows
