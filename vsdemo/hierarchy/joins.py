"""What several items say together, and what they have in common (Vendrov et al. 2016, Figure 4).

What combines items lies below each of them, and what they have in common lies above each. Where an
order of coordinates has no limits, the nearest items to the element-wise maximum or minimum stand
for these.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from vsdemo.hierarchy.nodes import nearest_by_kind
from vsdemo.hierarchy.order import (
    CAPTION,
    CONCEPT,
    PHOTO,
    ROOT,
    Hierarchy,
    Node,
    Step,
    abstract,
    compose,
)

Items = dict[str, list[Step]]  # by kind


def is_by_distance(hierarchy: Hierarchy) -> bool:
    """Return whether items are found by their distance from the maximum or minimum."""
    return hierarchy.order.by_coordinates and not hierarchy.has_limits


def together(hierarchy: Hierarchy, nodes: Sequence[Node], k: int) -> Items:
    """Return k items of each kind that say what all nodes say, those that fit best first."""
    if is_by_distance(hierarchy):
        joined = compose(torch.cat([node.embedding for node in nodes]))
        return nearest_by_kind(hierarchy, joined, nodes, k)
    kinds = {kind: hierarchy.of_kind[kind].nonzero()[:, 0] for kind in (CONCEPT, CAPTION, PHOTO)}
    return _within(hierarchy, nodes, kinds, k, up=False)


def in_common(hierarchy: Hierarchy, nodes: Sequence[Node], k: int) -> Items:
    """Return k items of each kind that all nodes have in common, the most specific first.

    Without limits those that fit best come first.
    """
    if is_by_distance(hierarchy):
        joined = abstract(torch.cat([node.embedding for node in nodes]))
        return nearest_by_kind(hierarchy, joined, nodes, k)
    kinds = {kind: hierarchy.of_kind[kind].nonzero()[:, 0] for kind in (CAPTION, CONCEPT, ROOT)}
    return _within(hierarchy, nodes, kinds, k, up=True)


def _within(
    hierarchy: Hierarchy,
    nodes: Sequence[Node],
    kinds: dict[str, torch.Tensor],
    k: int,
    *,
    up: bool,
) -> Items:
    """Return the items above or below all nodes, without the nodes, by kind."""
    taken = {node.number for node in nodes}
    result = {}
    for kind, numbers in kinds.items():
        fits, worst = torch.ones(len(numbers), dtype=torch.bool), torch.zeros(len(numbers))
        for node in nodes:
            above, below = hierarchy.violations(node.embedding, numbers)
            violation, reverse = (above, below) if up else (below, above)
            limit = hierarchy.limit_below(node.kind if up else kind)
            fits &= (violation <= limit) & (violation <= reverse)
            worst = torch.maximum(worst, violation)
        cost = -hierarchy.depths[numbers] if up and hierarchy.has_limits else worst
        order = cost.masked_fill(~fits, torch.inf).argsort(stable=True)[: int(fits.sum())]
        steps = [Step(int(numbers[row]), float(worst[row])) for row in order]
        kept = [step for step in steps if step.number not in taken][:k]
        if kept:
            result[kind] = kept
    return result
