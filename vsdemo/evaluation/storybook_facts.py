"""Storybook's scenes and captions with all that they state, for tasks on known facts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data import storybook
from vsdemo.data.storybook.realization import Caption
from vsdemo.data.storybook.scene import Scene


@lru_cache(maxsize=3)  # test, dev and compositional, for one model after the other
def stories(split: CaptionSet) -> tuple[Sequence[Scene], list[Caption]]:
    """Return the scenes and captions of a split, numbered as its photos and captions.

    Raises:
        UserError: The split is of another data set, whose facts are unknown.
    """
    if split.name != "storybook":
        raise UserError(f"This task needs Storybook, whose facts are known, not {split.name}.")
    scenes = storybook.scenes(split.split)
    return scenes, [caption for scene in scenes for caption in storybook.captions_of(scene)]
