"""What Easel learns about each thing in a picture, and about the picture as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.pictures import Picture

MISSING = -1  # class of a row that has no thing
COLOUR = "colour"
FACING = "facing"  # the one label that changes in a mirror
Classes = Mapping[str, tuple[object, ...]]  # label -> its values, in the order of their numbers


@dataclass(frozen=True)
class Labels:
    """The things in N pictures, at most K in each, and the pictures as wholes.

    Attributes:
        boxes: As fractions, (N, K, 4), float32; zeros for a missing thing.
        things: Numbers of classes, (N, K, labels of `thing_classes`), int64; MISSING for a missing
            thing.
        wholes: Numbers of classes, (N, labels of `whole_classes`), int64.
    """

    boxes: np.ndarray
    things: np.ndarray
    wholes: np.ndarray


@cache
def thing_classes() -> Classes:
    """Return the labels of a thing; its size and its count are those of its group."""
    lexicon = load_lexicon()
    return {
        "kind": tuple(lexicon.kinds),
        COLOUR: tuple(lexicon.colours),
        "size": (None, *lexicon.sizes),
        "pose": tuple(sorted({pose for kind in lexicon.kinds.values() for pose in kind.poses})),
        FACING: ("right", "left"),
        "count": tuple(range(1, len(lexicon.counts) + 1)),
    }


@cache
def whole_classes() -> Classes:
    """Return the labels of a whole picture."""
    lexicon = load_lexicon()
    return {
        "setting": tuple(lexicon.settings),
        "time": tuple(lexicon.times),
        "weather": tuple(lexicon.weathers),
    }


def of_pictures(pictures: Sequence[Picture]) -> Labels:
    """Return the labels of pictures; the things of each are in the order of its parts."""
    most = max(len(picture.parts) for picture in pictures)
    boxes = np.zeros((len(pictures), most, 4), np.float32)
    things = np.full((len(pictures), most, len(thing_classes())), MISSING, np.int64)
    for row, picture in enumerate(pictures):
        count = len(picture.parts)
        boxes[row, :count] = [part.box for part in picture.parts]
        things[row, :count] = _things(picture)
    return Labels(boxes, things, np.array([_whole(picture) for picture in pictures]))


def _things(picture: Picture) -> list[list[int]]:
    rows = []
    for part in picture.parts:
        group = picture.scene.groups[part.group]
        facing = "left" if part.flip else "right"
        values = (group.kind, group.colour, group.size, group.pose, facing, group.count)
        rows.append(_numbers(thing_classes(), values))
    return rows


def _whole(picture: Picture) -> list[int]:
    scene = picture.scene
    return _numbers(whole_classes(), (scene.setting, scene.time, scene.weather))


def _numbers(classes: Classes, values: Sequence[object]) -> list[int]:
    pairs = zip(classes.values(), values, strict=True)
    return [options.index(value) for options, value in pairs]
