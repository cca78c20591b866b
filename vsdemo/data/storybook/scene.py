"""The scene graph: all that is true of a Storybook picture."""

from __future__ import annotations

from dataclasses import dataclass

Box = tuple[float, float, float, float]  # left, top, right, bottom in shares of width and height


@dataclass(frozen=True)
class Group:
    """One to four things of one kind that look alike and do the same, such as two small brown dogs.

    kind: its name in the lexicon. colour, size: their names in the lexicon, size None where it is
    the usual one. pose: of the drawing. boxes: one for each thing, of what is seen of it.
    """

    kind: str
    count: int
    colour: str
    size: str | None
    pose: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class Link:
    """An action or relation of the lexicon between groups, by their numbers; without an object
    what a group does by itself, such as sleeping."""

    action: str
    subject: int
    object: int | None = None


@dataclass(frozen=True)
class Scene:
    """A picture. links: the first is what it is about. surprising: something that is rarely
    seen, such as a penguin in the desert."""

    number: int
    setting: str
    time: str
    weather: str
    groups: tuple[Group, ...]
    links: tuple[Link, ...]
    surprising: bool = False
