"""Things before they are placed: groups as actors, each thing as a sprite, rows of sprites.

Lengths are in metres, and everything faces right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from vsdemo.data.storybook.drawing import Drawing, read_drawing
from vsdemo.data.storybook.lexicon import medium
from vsdemo.data.storybook.lexicon_entries import Kind


@dataclass(frozen=True)
class Actor:
    """One to four things of one kind.

    Args:
        group: Index of the group.
        kind: What they are.
        count: How many.
        colour: Name of a colour in the lexicon.
        factor: Factor of the usual size.
    """

    group: int
    kind: Kind
    count: int
    colour: str
    factor: float = 1.0

    @property
    def unit(self) -> float:
        """Metres per unit of its drawings."""
        return self.kind.height * self.factor / read_drawing(f"parts/{self.kind.name}").height

    def part(self, pose: str) -> str:
        """Return the file name of a pose."""
        return self.kind.name if pose == self.kind.poses[0] else f"{self.kind.name}-{pose}"

    def drawing(self, pose: str) -> Drawing:
        """Return the drawing of a pose."""
        return read_drawing(f"parts/{self.part(pose)}")

    def width(self, pose: str) -> float:
        """Return the width of a pose."""
        return self.drawing(pose).width * self.unit

    def height(self, pose: str) -> float:
        """Return the height of a pose."""
        return self.drawing(pose).height * self.unit

    def anchor(self, pose: str, *names: str) -> tuple[float, float]:
        """Return where the first of some anchors is, from the middle and from the ground.

        A drawing with none of them has the anchor in the middle of its upper edge.
        """
        drawing = self.drawing(pose)
        x, y = drawing.width / 2, 0.0
        for name in names:
            if name in drawing.anchors:
                x, y = drawing.anchors[name]
                break
        return (x - drawing.width / 2) * self.unit, (drawing.height - y) * self.unit


@dataclass(frozen=True)
class Sprite:
    """One thing of a layout.

    Args:
        actor: The group that it belongs to.
        pose: Its pose.
        x: Middle of its lower edge.
        z: Lower edge, above the ground.
        dy: Pixels of its ground line below that of the layout.
        order: Order of drawing among things on one ground line.
        flip: Whether it faces left.
        angle: Degrees clockwise.
        zoom: Factor of its size.
        carried: Whether it has no shadow of its own.
        visible: The share of its height, from the top, that nothing hides.
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
    visible: float = 1.0

    @property
    def medium(self) -> str:
        """Where it is: ground, air, water or surface."""
        return medium(self.pose)

    @property
    def width(self) -> float:
        """Its width."""
        return self.actor.width(self.pose) * self.zoom

    @property
    def height(self) -> float:
        """Its height."""
        return self.actor.height(self.pose) * self.zoom


def shifted(sprites: Sequence[Sprite], x: float = 0.0, z: float = 0.0) -> list[Sprite]:
    """Return the sprites further right and up."""
    return [replace(sprite, x=sprite.x + x, z=sprite.z + z) for sprite in sprites]


def span(sprites: Sequence[Sprite]) -> tuple[float, float]:
    """Return the left and the right end of sprites."""
    left = min(sprite.x - sprite.width / 2 for sprite in sprites)
    right = max(sprite.x + sprite.width / 2 for sprite in sprites)
    return left, right


def row(actor: Actor, pose: str, rng: Random, *, turn: bool = False) -> list[Sprite]:
    """Return the things of a group side by side around 0; with `turn` some may face left."""
    count, width, flies = actor.count, actor.width(pose), medium(pose) == "air"
    spacing = rng.uniform(1.02, 1.15) if count < 3 else rng.uniform(0.86, 0.98)
    step = width * spacing + 0.05
    sprites = []
    for i in range(count):  # arguments draw random numbers in this order
        sprite = Sprite(
            actor=actor,
            pose=pose,
            x=(i - (count - 1) / 2) * step,
            z=rng.uniform(0, 0.5 * actor.height(pose)) if flies else 0.0,
            dy=0.0 if count == 1 or flies else (-1) ** i * rng.uniform(3, 7),
            flip=turn and rng.random() < 0.4,
            angle=rng.uniform(-6, 6) if flies and actor.kind.parent != "aircraft" else 0.0,
            zoom=rng.uniform(0.95, 1.05),
        )
        sprites.append(sprite)
    return sprites


def side_by_side(left: Sequence[Sprite], right: Sequence[Sprite], gap: float) -> list[Sprite]:
    """Return two rows with a gap between them, around 0."""
    (left_1, right_1), (left_2, right_2) = span(left), span(right)
    half = ((right_1 - left_1) + gap + (right_2 - left_2)) / 2
    return shifted(left, -half - left_1) + shifted(right, half - right_2)
