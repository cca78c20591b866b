"""Walks through a hierarchy: up to the root, and down to a photo."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from torch import Tensor

from vsdemo.hierarchy.nodes import Node
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT, Hierarchy, Step

MAX_LENGTH = 40  # steps of a walk

# Index of an item -> the items that may lie above it; None stands for the start of the walk.
Entailments = Mapping[int | None, Collection[int]]


def climb(
    hierarchy: Hierarchy,
    embedding: Tensor,
    kind: str,
    *,
    entailments: Entailments | None = None,
    max_steps: int = MAX_LENGTH,
) -> list[Step]:
    """Walk up from an embedding, always to the nearest item above, until the root.

    Args:
        hierarchy: The items to walk over.
        embedding: `(1, D)`, where the walk begins.
        kind: What `embedding` is of. From a photo the walk goes to a caption if it can, since a
            concept says less of a photo than people would.
        entailments: If given, only items that follow from an item are steps from it. A walk from a
            photo is free until its first caption.
        max_steps: The most steps to take.
    """
    start = embedding
    steps: list[Step] = []
    number = None
    depth = float("inf") if kind == PHOTO else float(hierarchy.depth(embedding))
    while kind != ROOT and len(steps) < max_steps:
        candidates = None
        if entailments is not None and kind != PHOTO:
            candidates = entailments.get(number, ())
        above = hierarchy.above(
            embedding,
            depth,
            start=start,
            concepts_only=kind == CONCEPT and candidates is None,
            candidates=candidates,
        )
        if kind == PHOTO:
            captions = [step for step in above if hierarchy.items[step.number].kind == CAPTION]
            above = captions or above
        if not above:
            break
        steps.append(above[0])
        number = above[0].number
        kind = hierarchy.items[number].kind
        embedding = hierarchy.x[[number]]
        depth = float(hierarchy.depths[number])
    return steps


def descend(hierarchy: Hierarchy, number: int) -> list[Step]:
    """Walk down from an item, always to the nearest item below, until a photo or until nothing is.

    A photo is the next step only where no word or caption is below.
    """
    start = hierarchy.x[[number]]
    steps: list[Step] = []
    while hierarchy.items[number].kind != PHOTO and len(steps) < MAX_LENGTH:
        embedding = hierarchy.x[[number]]
        depth = float(hierarchy.depths[number])
        below = hierarchy.below(embedding, depth, start=start)
        if not below:
            below = hierarchy.below(embedding, depth, kind=PHOTO, start=start)
        if not below:
            break
        steps.append(below[0])
        number = below[0].number
    return steps


def walk(
    hierarchy: Hierarchy, start: Node, entailments: Entailments | None = None
) -> tuple[list[Step], list[Step]]:
    """Walk from a node up to the root, and down again from the last item before the root.

    From a concept that is not a leaf, the walk down begins at the concept itself.

    Returns:
        The steps up and the steps down.
    """
    up = climb(hierarchy, start.embedding, start.kind, entailments=entailments)
    top = start.number
    if start.kind in (PHOTO, CAPTION) or top is None:
        inner = [step.number for step in up if hierarchy.items[step.number].kind != ROOT]
        top = inner[-1] if inner else top
    down = [] if top is None else descend(hierarchy, top)
    return up, down
