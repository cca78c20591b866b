"""Relations that a picture shows, read off its boxes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from random import Random

from vsdemo.data.storybook.lexicon import medium
from vsdemo.data.storybook.scene import Box, Group, Link

MOST = 2  # relations that a scene names beside what it is about
GAP = 0.03  # share of the width between what is left and what is right


def holds(relation: str, subject: Sequence[Box], object: Sequence[Box]) -> bool:
    """Whether all boxes of one group stand so to all of another: left_of, right_of, next_to,
    behind, in_front_of. Behind is what stands further up and is partly hidden."""
    if relation in ("right_of", "in_front_of"):
        return holds({"right_of": "left_of", "in_front_of": "behind"}[relation], object, subject)
    one, other = _hull(subject), _hull(object)
    if relation == "left_of":
        return one[2] + GAP < other[0]
    apart = max(one[0], other[0]) - min(one[2], other[2])
    if relation == "next_to":
        return 0 <= apart < 0.09 and abs(one[3] - other[3]) < 0.06
    higher = max(b[3] for b in subject) + 0.03 < min(b[3] for b in object)
    return higher and apart < 0 and one[3] > other[1]


def seen_relations(
    groups: Sequence[Group], poses: Sequence[str], main: int, rng: Random
) -> tuple[Link, ...]:
    """Up to two relations between groups on the ground that are not both of the main ones."""
    grounded = [n for n, pose in enumerate(poses) if medium(pose) == "ground"]
    found = [
        Link(relation, one, other)
        for one, other in permutations(grounded, 2)
        if max(one, other) >= main
        for relation in ("left_of", "next_to", "behind", "right_of", "in_front_of")
        if holds(relation, groups[one].boxes, groups[other].boxes)
    ]
    rng.shuffle(found)
    chosen: dict[frozenset[int], Link] = {}
    for link in found:
        chosen.setdefault(frozenset((link.subject, link.object or 0)), link)
    return tuple(list(chosen.values())[:MOST])


def _hull(boxes: Sequence[Box]) -> Box:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)
