"""Things before they have a place: groups as actors, each thing as a sprite, rows of sprites.

Lengths are in metres, everybody faces right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from vsdemo.data.storybook.drawing import Drawing, read
from vsdemo.data.storybook.lexicon import medium
from vsdemo.data.storybook.lexicon_entries import Kind


@dataclass(frozen=True)
class Actor:
    """One to four things of one kind before they are placed. factor: of the usual size."""

    group: int
    kind: Kind
    count: int
    colour: str
    factor: float = 1.0

    @property
    def unit(self) -> float:
        """Metres a unit of its drawings."""
        return self.kind.height * self.factor / read(f"parts/{self.kind.name}").height

    def part(self, pose: str) -> str:
        """The file of a pose."""
        return self.kind.name if pose == self.kind.poses[0] else f"{self.kind.name}-{pose}"

    def drawing(self, pose: str) -> Drawing:
        """The drawing of a pose."""
        return read(f"parts/{self.part(pose)}")

    def width(self, pose: str) -> float:
        """Metres."""
        return self.drawing(pose).width * self.unit

    def height(self, pose: str) -> float:
        """Metres."""
        return self.drawing(pose).height * self.unit

    def point(self, pose: str, *marks: str) -> tuple[float, float]:
        """Metres right of the middle and above the ground of the first mark that the drawing has;
        of the middle of its upper edge where it has none."""
        drawing = self.drawing(pose)
        found = next((drawing.marks[m] for m in marks if m in drawing.marks), None)
        x, y = found or (drawing.width / 2, 0.0)
        return (x - drawing.width / 2) * self.unit, (drawing.height - y) * self.unit


@dataclass(frozen=True)
class Sprite:
    """One thing of a layout. x, z: metres of the middle of its lower edge, z above the ground.

    dy: pixels of its ground line below that of the layout. order: among things on one ground line.
    carried: casts no shadow of its own.
    """

    actor: Actor
    pose: str
    x: float = 0.0
    z: float = 0.0
    dy: float = 0.0
    order: float = 0.0
    flip: bool = False
    angle: float = 0.0
    zoom: float = 1.0
    carried: bool = False
    seen: float = 1.0

    @property
    def medium(self) -> str:
        """Where it is: ground, air, water or surface."""
        return medium(self.pose)

    @property
    def width(self) -> float:
        """Metres."""
        return self.actor.width(self.pose) * self.zoom

    @property
    def height(self) -> float:
        """Metres."""
        return self.actor.height(self.pose) * self.zoom


def moved(sprites: Sequence[Sprite], x: float = 0.0, z: float = 0.0) -> list[Sprite]:
    """The sprites further right and up, in metres."""
    return [replace(s, x=s.x + x, z=s.z + z) for s in sprites]


def span(sprites: Sequence[Sprite]) -> tuple[float, float]:
    """Left and right end in metres."""
    return min(s.x - s.width / 2 for s in sprites), max(s.x + s.width / 2 for s in sprites)


def row(actor: Actor, pose: str, rng: Random, turned: bool = False) -> list[Sprite]:
    """All things of a group side by side, the middle at 0; `turned`: each may face left."""
    n, width, flies = actor.count, actor.width(pose), medium(pose) == "air"
    step = width * (rng.uniform(1.02, 1.15) if n < 3 else rng.uniform(0.86, 0.98)) + 0.05
    return [
        Sprite(
            actor,
            pose,
            x=(i - (n - 1) / 2) * step,
            z=rng.uniform(0, 0.5 * actor.height(pose)) if flies else 0.0,
            dy=0.0 if n == 1 or flies else (-1) ** i * rng.uniform(3, 7),
            flip=turned and rng.random() < 0.4,
            angle=rng.uniform(-6, 6) if flies and actor.kind.up != "aircraft" else 0.0,
            zoom=rng.uniform(0.95, 1.05),
        )
        for i in range(n)
    ]


def beside(left: Sequence[Sprite], right: Sequence[Sprite], gap: float) -> list[Sprite]:
    """Two rows with a gap of so many metres between them, the middle of all at 0."""
    (l1, r1), (l2, r2) = span(left), span(right)
    half = ((r1 - l1) + gap + (r2 - l2)) / 2
    return moved(left, -half - l1) + moved(right, half - r2)
