"""Walks through a hierarchy: up to the root, and down to a photo."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from vsdemo.data.text.vocab import tokenize
from vsdemo.hierarchy.order import CAPTION, PHOTO, ROOT, Hierarchy, Node, Step

MAX_LENGTH = 40  # steps of a walk

# Index of an item -> the items that may lie above it; None stands for the start of the walk.
Entailments = Mapping[int | None, Collection[int]]


def climb(
    hierarchy: Hierarchy,
    start: Node,
    *,
    entailments: Entailments | None = None,
    max_steps: int = MAX_LENGTH,
) -> list[Step]:
    """Walk up from a node, each time to the nearest item above, to the root if possible.

    Args:
        hierarchy: The items to walk over.
        start: Where the walk begins. Without limits it goes from a photo to a caption if it can,
            since a concept says less about a photo than people would.
        entailments: If given, only items that follow from an item are steps from it. A walk from a
            photo is free until its first caption.
        max_steps: The most steps to take.
    """
    node, steps = start, list[Step]()
    while node.kind != ROOT and len(steps) < max_steps:
        candidates = None
        if entailments is not None and node.kind != PHOTO:
            candidates = entailments.get(node.number if steps else None, ())
        above = hierarchy.above(node, start=start, candidates=candidates)
        if node.kind == PHOTO and not hierarchy.has_limits:
            captions = [step for step in above if hierarchy.items[step.number].kind == CAPTION]
            above = captions or above
        if not above:
            break
        steps.append(above[0])
        node = hierarchy.node(above[0].number)
    return steps


def descend(hierarchy: Hierarchy, number: int) -> list[Step]:
    """Walk down from an item, each time to the nearest item below, to a photo if possible.

    A photo is the next step only where no word or caption is below.
    """
    node = start = hierarchy.node(number)
    steps: list[Step] = []
    while node.kind != PHOTO and len(steps) < MAX_LENGTH:
        below = hierarchy.below(node, start=start)
        below = below or hierarchy.below(node, kind=PHOTO, start=start)
        if not below:
            break
        steps.append(below[0])
        node = hierarchy.node(below[0].number)
    return steps


@dataclass(frozen=True)
class Walk:
    """A walk up and down again.

    Attributes:
        start: Where it begins.
        up: The steps up.
        top: Where the walk down begins: the last item before the root, or a concept `start`.
        down: The steps down.
    """

    start: Node
    up: tuple[Step, ...]
    top: Node
    down: tuple[Step, ...]


def walk(hierarchy: Hierarchy, start: Node, entailments: Entailments | None = None) -> Walk:
    """Walk from a node up to the root, and down again."""
    up = climb(hierarchy, start, entailments=entailments)
    top = start
    if start.kind in (PHOTO, CAPTION):
        inner = [step.number for step in up if hierarchy.items[step.number].kind != ROOT]
        top = hierarchy.node(inner[-1]) if inner else start
    down = [] if top.number is None else descend(hierarchy, top.number)
    return Walk(start, tuple(up), top, tuple(down))


def truths(hierarchy: Hierarchy, nodes: Sequence[Node], *, up: bool) -> list[bool | None]:
    """Return whether each step of a walk is true; None where that is not known.

    Args:
        hierarchy: The hierarchy of the walk.
        nodes: Its N nodes.
        up: Whether each node is above the one before it, rather than below it.

    Returns:
        N - 1 answers.
    """
    pairs = [(b, a) if up else (a, b) for a, b in pairwise(nodes)]
    return [_truth(hierarchy, general, specific) for general, specific in pairs]


def _truth(hierarchy: Hierarchy, general: Node, specific: Node) -> bool | None:
    truth = hierarchy.truth
    if specific.kind == PHOTO:
        if truth is None or specific.number is None:  # a visitor's photo
            return None
        if general.kind == ROOT:
            return True
        return truth.describes(general.text, hierarchy.items[specific.number].number)
    if truth is not None:
        if general.kind == ROOT:
            return True
        known = truth.follows(general.text, specific.text)
        if known is not None:
            return known
    follows = hierarchy.grammar.get(_key(specific.text), ())
    return True if _key(general.text) in follows else None


def _key(text: str) -> str:
    return " ".join(tokenize(text))
