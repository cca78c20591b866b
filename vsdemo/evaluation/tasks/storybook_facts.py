"""Storybook's scenes and captions as the tasks need them: with all that they say."""

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
    """(scenes, captions) of a split, numbered as its photos and captions.

    Raises UserError for another data set, whose facts nobody knows.
    """
    if split.name != "storybook":
        raise UserError(f"This task needs Storybook, whose facts are known, not {split.name}.")
    scenes = storybook.scenes(split.split)
    return scenes, [caption for scene in scenes for caption in storybook.captions_of(scene)]
