"""What a picture may show beyond the facts of its scene.

A scene states at most two of the spatial relations that its boxes show, and the drawings of the
settings have trees, houses and other things that are in no group. Whatever does not follow from
these facts either is certainly false of the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

from vsdemo.data.storybook.facts import Facts, Thing, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon, medium
from vsdemo.data.storybook.relations import hull, relation_holds
from vsdemo.data.storybook.scene import Box, Group, Link, Scene

MANY = 4
BACKDROPS = {  # things in the drawing of a setting
    "street": (Thing("house", MANY), Thing("bush", MANY), Thing("tree", MANY)),
    "park": (Thing("tree", MANY), Thing("bush", MANY), Thing("flower", MANY)),
    "snow": (Thing("fir", MANY),),
    "river": (Thing("bush", MANY), Thing("tree", MANY)),
    "forest": (Thing("tree", MANY), Thing("bush", MANY)),
    "mountains": (Thing("fir", MANY), Thing("flower", MANY)),
    "farm": (Thing("building", MANY), Thing("tree", MANY), Thing("vegetable", MANY)),
    "field": (Thing("flower", MANY), Thing("bush", MANY)),
    "lake": (Thing("fir", MANY), Thing("tree", MANY)),
    "market": (Thing("house", MANY), Thing("fruit", MANY), Thing("flag", MANY)),
    "kitchen": (Thing("furniture"),),
    "bedroom": (Thing("flag", MANY),),
}
SPATIAL = ("left_of", "next_to", "behind")  # their inverses follow from them


def visible_facts(scene: Scene) -> Facts:
    """Return the facts of a scene, the relations that its boxes show, and the things behind them.

    Raises:
        UserError: As `facts_of` does.
    """
    facts = facts_of(scene)
    links = dict.fromkeys(facts.links)
    for one, other in permutations(range(len(scene.groups)), 2):
        links |= dict.fromkeys(_seen(scene, one, other))
    return replace(
        facts, things=(*facts.things, *BACKDROPS.get(scene.setting, ())), links=tuple(links)
    )


def _seen(scene: Scene, one: int, other: int) -> list[Link]:
    """Return the relations of a group to another one that their boxes may show."""
    subject, object = scene.groups[one], scene.groups[other]
    links = [
        Link(relation, one, other)
        for relation in SPATIAL
        if relation_holds(relation, subject.boxes, object.boxes)
    ]
    if _side_by_side(subject.boxes, object.boxes):
        return links
    if medium(subject.pose) == "air" != medium(object.pose):
        links.append(Link("flies_over", one, other))
    elif _may_be_under(subject, object):
        links.append(Link("under", one, other))
    return links


def _side_by_side(subject: Sequence[Box], object: Sequence[Box]) -> bool:
    """Return whether no part of one group is above or below a part of the other."""
    one, other = hull(subject), hull(object)
    return one[2] < other[0] or other[2] < one[0]


def _may_be_under(subject: Group, object: Group) -> bool:
    kinds = load_lexicon().kinds
    return "lain_under" in kinds[object.kind].affordances and medium(subject.pose) == "ground"
