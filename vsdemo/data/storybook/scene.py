"""The scene graph of a picture. Field names are also keys of the cached JSON files."""

from __future__ import annotations

from dataclasses import dataclass

Box = tuple[float, float, float, float]  # left, top, right, bottom as shares of the picture


@dataclass(frozen=True)
class Group:
    """One to four things of one kind that look alike and do the same, such as two small brown dogs.

    Args:
        kind: Name of a kind in the lexicon.
        count: Number of things.
        colour: Name of a colour in the lexicon.
        size: Name of a size in the lexicon; None for the usual size.
        pose: Pose of the drawing.
        boxes: The visible part of each thing.
    """

    kind: str
    count: int
    colour: str
    size: str | None
    pose: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class Link:
    """An action of a group, or a relation between two.

    Args:
        action: Name of an action in the lexicon.
        subject: Index of a group.
        object: Index of a group; None for an action such as sleeping.
    """

    action: str
    subject: int
    object: int | None = None


@dataclass(frozen=True)
class Scene:
    """All that is true of a picture.

    Args:
        number: Number of the picture.
        setting: Name of a setting in the lexicon.
        time: Name of a time in the lexicon.
        weather: Name of a weather in the lexicon.
        groups: The things in the picture.
        links: What the groups do; the first is the topic of the picture.
        surprising: Whether a kind is where it does not live, such as a penguin in the desert.
    """

    number: int
    setting: str
    time: str
    weather: str
    groups: tuple[Group, ...]
    links: tuple[Link, ...]
    surprising: bool = False
