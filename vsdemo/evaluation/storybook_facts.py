"""Storybook's scenes and captions with all that they state, for tasks on known facts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data import storybook
from vsdemo.data.storybook.facts import facts_of
from vsdemo.data.storybook.false_twins import RESPECTS, false_twin
from vsdemo.data.storybook.realization import Caption
from vsdemo.data.storybook.scene import Scene
from vsdemo.data.storybook.truth import entailed, fact_table
from vsdemo.data.storybook.visible_facts import visible_facts

TWINS = 200  # sentences that are true of no picture


@lru_cache(maxsize=3)  # test, dev and compositional, for one model after the other
def stories(split: CaptionSet) -> tuple[Sequence[Scene], list[Caption]]:
    """Return the scenes and captions of a split, numbered as its photos and captions.

    Raises:
        UserError: The split is of another data set, whose facts are unknown.
    """
    if not has_facts(split):
        raise UserError(f"This task needs Storybook, whose facts are known, not {split.name}.")
    scenes = storybook.scenes(split.split)
    return scenes, [caption for scene in scenes for caption in storybook.captions_of(scene)]


def has_facts(split: CaptionSet) -> bool:
    """Return whether all that the pictures of a split show is known."""
    return split.name == "storybook"


@lru_cache(maxsize=3)
def twins_of_nothing(split: CaptionSet) -> tuple[str, ...]:
    """Return false twins of captions that are true of no picture of the split, at most TWINS.

    They use the words of captions, and differ in one respect from what some picture shows. Pictures
    and respects take turns, and the same split has the same sentences.
    """
    scenes, _ = stories(split)
    rng = Random(f"absent/{split.split}")
    twins = {}
    for number, scene in enumerate(rng.sample(scenes, len(scenes))):
        respect = RESPECTS[number % len(RESPECTS)]
        caption = storybook.captions_of(scene)[-1]  # the fullest one
        twin = false_twin(caption.message, respect, visible_facts(scene), rng)
        if twin:
            twins[twin.text] = twin.facts
    pictures = fact_table([facts_of(scene) for scene in scenes])
    true = entailed(pictures, fact_table([*twins.values()]))  # (T, P)
    return tuple(text for text, of in zip(twins, true, strict=True) if not of.any())[:TWINS]
