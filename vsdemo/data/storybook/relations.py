"""Spatial relations that a picture shows, derived from its boxes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from random import Random

from vsdemo.data.storybook.lexicon import medium
from vsdemo.data.storybook.scene import Box, Group, Link

MAX_RELATIONS = 2  # that a scene states in addition to its topic
MIN_GAP = 0.03  # share of the width between a thing and what it is left of


def relation_holds(relation: str, subject: Sequence[Box], object: Sequence[Box]) -> bool:
    """Return whether a relation holds between all boxes of two groups.

    Relations are left_of, right_of, next_to, behind and in_front_of. A group is behind another if
    it stands further up and is partly hidden.
    """
    if relation == "right_of":
        return relation_holds("left_of", object, subject)
    if relation == "in_front_of":
        return relation_holds("behind", object, subject)
    one, other = hull(subject), hull(object)
    if relation == "left_of":
        return one[2] + MIN_GAP < other[0]
    distance = max(one[0], other[0]) - min(one[2], other[2])
    if relation == "next_to":
        return 0 <= distance < 0.09 and abs(one[3] - other[3]) < 0.06
    higher = max(box[3] for box in subject) + 0.03 < min(box[3] for box in object)
    return higher and distance < 0 and one[3] > other[1]


def visible_relations(
    groups: Sequence[Group], poses: Sequence[str], main: int, rng: Random
) -> tuple[Link, ...]:
    """Return up to two relations between groups on the ground.

    Args:
        groups: The groups of a scene.
        poses: Their poses.
        main: How many groups the topic has. Relations between two of these are left out.
        rng: Chooses among the relations.
    """
    grounded = [n for n, pose in enumerate(poses) if medium(pose) == "ground"]
    links = [
        Link(relation, one, other)
        for one, other in permutations(grounded, 2)
        if max(one, other) >= main
        for relation in ("left_of", "next_to", "behind", "right_of", "in_front_of")
        if relation_holds(relation, groups[one].boxes, groups[other].boxes)
    ]
    rng.shuffle(links)
    chosen: dict[frozenset[int], Link] = {}  # one link for each pair of groups
    for link in links:
        chosen.setdefault(frozenset((link.subject, link.object or 0)), link)
    return tuple(list(chosen.values())[:MAX_RELATIONS])


def hull(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around boxes."""
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)
