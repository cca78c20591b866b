"""A setting that fills up: where layouts fit, how large they look there, and what they hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from vsdemo.data.storybook.drawing import HEIGHT, WIDTH, PlacedPart, read_drawing
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.lexicon_entries import Kind
from vsdemo.data.storybook.relations import hull
from vsdemo.data.storybook.scene import Box
from vsdemo.data.storybook.sprites import Sprite

MARGIN = 5.0  # free pixels at the edges
MIN_SIDE = 0.042 * WIDTH  # pixels, of a square with the area of the smallest thing
MAX_HEIGHT = 0.68 * HEIGHT
MAX_WIDTH = 0.62 * WIDTH  # of one thing alone
TRIES = 24
MAX_HIDDEN_MAIN, MAX_HIDDEN = 0.1, 0.18  # shares of a box that others may cover
SUN = (340.0, 0.0, 456.0, 118.0)  # sun and moon with their halos
ROADWAY, NEAR_PAVEMENT, FAR_PAVEMENT = (274, 318), (334, 350), (236, 252)  # of the street

Band = tuple[float, float]  # highest and lowest ground line, in pixels


@dataclass
class Canvas:
    """A setting and the parts placed on it.

    Args:
        setting: Name of a setting.
        rng: Chooses places.
        has_sun: Whether to keep the sky around the sun free.
        main: Indices of groups that others must not cover.
        parts: What is placed so far.
    """

    setting: str
    rng: Random
    has_sun: bool
    main: frozenset[int] = frozenset()
    parts: list[PlacedPart] = field(default_factory=list)

    def place(self, sprites: Sequence[Sprite], *, mirror: bool = True) -> bool:
        """Place a layout, facing left half of the time if `mirror`.

        Returns:
            Whether there is room for it.
        """
        flip = mirror and self.rng.random() < 0.5
        for trial in range(TRIES):
            parts = self._fit(sprites, flip=flip, min_shrink=1 - 0.02 * trial)
            if parts and not self._covers(parts):
                self.parts += parts
                return True
        return False

    def scale(self, y: float) -> float:
        """Return the pixels per metre on a ground line; outdoors less towards the horizon."""
        if "window" in self._anchors:
            return 80 + 0.2 * (y - 270)
        return max(92 * (y - 160) / 186, 43)

    @property
    def _anchors(self) -> dict[str, tuple[float, ...]]:
        return dict(read_drawing(f"settings/{self.setting}").anchors)

    def _fit(self, sprites: Sequence[Sprite], *, flip: bool, min_shrink: float) -> list[PlacedPart]:
        """Return a layout at a random place; empty if it is too large or too small there."""
        aloft = {sprite.medium for sprite in sprites if not sprite.carried} == {"air"}
        low, high = self._band(sprites, aloft=aloft)
        y = self.rng.uniform(low + max(0, -min(sprite.dy for sprite in sprites)), high)
        scale = self._air_scale(sprites[0]) if aloft else self.scale(y)
        parts = [self._part(sprite, y, scale, flip=flip, aloft=aloft) for sprite in sprites]
        left, top, right, _ = hull([part.bounds for part in parts])
        max_width = WIDTH - 2 * MARGIN if len(sprites) > 1 else MAX_WIDTH
        max_height = min(MAX_HEIGHT, y - MARGIN)
        shrink = min(1.0, max_width / (right - left), max_height / (y - top))
        if shrink < min_shrink:
            return []
        if shrink < 1:
            scale *= shrink
            parts = [self._part(sprite, y, scale, flip=flip, aloft=aloft) for sprite in sprites]
            left, _, right, _ = hull([part.bounds for part in parts])
        if any(_area(part.bounds) < MIN_SIDE**2 for part in parts):
            return []
        x = self.rng.uniform(MARGIN - left, WIDTH - MARGIN - right)
        return [replace(part, x=part.x + x) for part in parts]

    def _band(self, sprites: Sequence[Sprite], *, aloft: bool) -> Band:
        """Return the ground lines on which a layout may stand."""
        if aloft:
            return self._sky_band(sprites[0].actor.kind)
        anchors = self._anchors
        media = {sprite.medium for sprite in sprites if not sprite.carried}
        if media & {"water", "surface"}:
            low, high = anchors["water"]
            return low + 0.3 * (high - low), high - 4
        if "counter" in anchors and all(_fits_counter(sprite) for sprite in sprites):
            return anchors["counter"][0] + 2, anchors["counter"][0] + 6
        return self._ground_band([sprite.actor.kind for sprite in sprites])

    def _sky_band(self, kind: Kind) -> Band:
        top, bottom = self._anchors.get("sky", (40, 200))
        if kind.height < 0.42 and kind.parent == "insect":
            return 120, 250
        return top + 40, max(bottom + 25, 140)

    def _ground_band(self, kinds: Sequence[Kind]) -> Band:
        lexicon = load_lexicon()
        tall = any(lexicon.is_a(k.name, up) for k in kinds for up in ("tree", "building"))
        if self.setting == "street":
            if any(lexicon.is_a(kind.name, "vehicle") for kind in kinds):
                return ROADWAY
            far = tall or (bool(self.parts) and self.rng.random() < 0.5)
            return FAR_PAVEMENT if far else NEAR_PAVEMENT
        low, high = self._anchors["ground"]
        if tall:
            return low, low + 0.4 * (high - low)
        return low + (0.1 if self.parts else 0.35) * (high - low), high

    def _air_scale(self, sprite: Sprite) -> float:
        if load_lexicon().is_a(sprite.actor.kind.name, "aircraft"):
            return self.rng.uniform(25, 34)
        return self.rng.uniform(68, 88)

    def _part(
        self, sprite: Sprite, y: float, scale: float, *, flip: bool, aloft: bool
    ) -> PlacedPart:
        """Return a sprite of a layout whose middle is at x = 0."""
        x = (-sprite.x if flip else sprite.x) * scale
        if sprite.dy and not aloft:
            scale *= self.scale(y + sprite.dy) / self.scale(y)
        ground = y + sprite.dy
        high_above = sprite.medium == "air" and sprite.z * scale > 60
        depth = ground + 0.01 * sprite.order
        if aloft:  # behind everything if far away, otherwise in front of it
            depth = 0.0 if scale < 40 else HEIGHT
        return PlacedPart(
            group=sprite.actor.group,
            part=sprite.actor.part(sprite.pose),
            x=x,
            y=ground - sprite.z * scale,
            scale=sprite.actor.unit * sprite.zoom * scale,
            depth=depth,
            colour=sprite.actor.colour,
            flip=sprite.flip != flip,
            angle=-sprite.angle if flip else sprite.angle,
            light=self.rng.uniform(0.95, 1.04),
            ground=None if aloft or sprite.carried or high_above else ground,
            wet=sprite.medium in ("water", "surface"),
            visible=sprite.visible,
        )

    def _covers(self, new_parts: Sequence[PlacedPart]) -> bool:
        """Return whether new parts would cover placed ones or the sun, or be covered."""
        if self.has_sun and any(
            part.ground is None and _common_area(part.bounds, SUN) for part in new_parts
        ):
            return True
        new_groups = {part.group for part in new_parts}
        parts = [*self.parts, *new_parts]
        for part in parts:
            hidden = 0.0
            for other in parts:
                one_is_new = (part.group in new_groups) != (other.group in new_groups)
                if one_is_new and other.depth > part.depth:
                    hidden += _common_area(part.bounds, other.bounds) / _area(part.bounds)
            if hidden > (MAX_HIDDEN_MAIN if part.group in self.main else MAX_HIDDEN):
                return True
        return False


def _fits_counter(sprite: Sprite) -> bool:
    """Return whether a thing may stand on the counter of the kitchen."""
    lexicon, name = load_lexicon(), sprite.actor.kind.name
    living = lexicon.is_a(name, "person") or lexicon.is_a(name, "animal")
    return not living and sprite.height < 0.6 and sprite.dy > -8


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _common_area(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0) * max(height, 0)
