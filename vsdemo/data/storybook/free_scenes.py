"""Scenes beyond the splits, for trainings that take more than those of train.

Any number beyond the splits has a scene, too. One in 2,500 of these shows the same as a scene of
dev or test, so scenes are compared by what they show and not by their numbers.
"""

from __future__ import annotations

from functools import cache

from vsdemo.data import storybook
from vsdemo.data.storybook import store
from vsdemo.data.storybook.facts import facts_of
from vsdemo.data.storybook.pictures import is_held_out
from vsdemo.data.storybook.scene import Scene

FIRST_FREE = store.SPLITS["all"].stop  # this scene and all later ones are in no split


def content(scene: Scene) -> tuple[object, ...]:
    """Return what a scene shows, whatever its number and wherever things stand."""
    facts = facts_of(scene)
    kinds = [group.kind for group in scene.groups]  # no two groups are of one kind
    links = frozenset(
        (link.action, kinds[link.subject], None if link.object is None else kinds[link.object])
        for link in facts.links
    )
    return facts.place, facts.time, facts.weather, frozenset(facts.things), links


@cache
def evaluated_content() -> frozenset[tuple[object, ...]]:
    """Return what the scenes of dev and test show."""
    return frozenset(
        content(scene) for split in ("dev", "test") for scene in storybook.scenes(split)
    )


def may_train(scene: Scene) -> bool:
    """Return whether no scene of dev, test or `compositional` shows the same as a scene.

    All scenes of the last have combinations that are held out of all others.
    """
    return not is_held_out(scene) and content(scene) not in evaluated_content()
