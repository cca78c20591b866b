"""A setting as a stage: where things can be, how large they look there, what they would hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from vsdemo.data.storybook import lexicon
from vsdemo.data.storybook.drawing import HEIGHT, WIDTH, Figure, read
from vsdemo.data.storybook.lexicon_entries import Kind
from vsdemo.data.storybook.scene import Box
from vsdemo.data.storybook.sprites import Sprite

MARGIN = 5.0  # pixels that stay free at the edges
SMALLEST = 0.042 * WIDTH  # pixels across on the mean, so that everything can be recognised
TALLEST = 0.68 * HEIGHT
WIDEST = 0.62 * WIDTH  # one thing alone
TRIES = 24
HIDDEN_MAIN, HIDDEN = 0.1, 0.18  # shares of a box that others may cover
SUN = (340.0, 0.0, 456.0, 118.0)  # sun and moon with their halos
VEHICLES_ONLY, NEAR_PAVEMENT, FAR_PAVEMENT = (274, 318), (334, 350), (236, 252)  # of the street


@dataclass
class Stage:
    """A setting that fills up. figures: what has been placed. main: groups that stay in view."""

    setting: str
    rng: Random
    sun: bool
    figures: list[Figure] = field(default_factory=list)
    main: set[int] = field(default_factory=set)

    def place(self, sprites: Sequence[Sprite], mirror: bool = True) -> bool:
        """Finds room for a layout; `mirror` where it may face left. False where there is none."""
        flip = mirror and self.rng.random() < 0.5
        for tries in range(TRIES):
            figures = self._fitted(sprites, flip, tightest=1 - 0.02 * tries)
            if figures and not self._hides(figures):
                self.figures += figures
                return True
        return False

    def scale(self, y: float) -> float:
        """Pixels a metre on the ground line y: outdoors things shrink towards the horizon."""
        if "window" in self._marks:
            return 80 + 0.2 * (y - 270)
        return max(92 * (y - 160) / 186, 43)

    @property
    def _marks(self) -> dict[str, tuple[float, ...]]:
        return dict(read(f"settings/{self.setting}").marks)

    def _fitted(self, sprites: Sequence[Sprite], flip: bool, tightest: float) -> list[Figure]:
        """A layout somewhere on the stage; empty where it is too large or too small there."""
        (low, high), aloft = self._band(sprites)
        y = self.rng.uniform(low + max(0, -min(s.dy for s in sprites)), high)
        scale = self._air_scale(sprites[0]) if aloft else self.scale(y)
        figures = [self._figure(s, y, scale, flip, aloft) for s in sprites]
        left, top, right, _ = _hull([f.bounds for f in figures])
        room = WIDTH - 2 * MARGIN if len(sprites) > 1 else WIDEST
        shrink = min(1.0, room / (right - left), min(TALLEST, y - MARGIN) / (y - top))
        if shrink < tightest:
            return []
        if shrink < 1:
            figures = [self._figure(s, y, scale * shrink, flip, aloft) for s in sprites]
            left, _, right, _ = _hull([f.bounds for f in figures])
        if any(_area(f.bounds) < SMALLEST**2 for f in figures):
            return []
        x = self.rng.uniform(MARGIN - left, WIDTH - MARGIN - right)
        return [replace(f, x=f.x + x) for f in figures]

    def _band(self, sprites: Sequence[Sprite]) -> tuple[tuple[float, float], bool]:
        """From which ground line to which a layout may stand, and whether it is in the air."""
        media = {s.medium for s in sprites if not s.carried}
        if media == {"air"}:
            return self._sky(sprites[0].actor.kind), True
        marks = self._marks
        if media & {"water", "surface"}:
            low, high = marks["water"]
            return (low + 0.3 * (high - low), high - 4), False
        if "counter" in marks and all(_fits_counter(s) for s in sprites):
            return (marks["counter"][0] + 2, marks["counter"][0] + 6), False
        return self._ground([s.actor.kind for s in sprites]), False

    def _sky(self, kind: Kind) -> tuple[float, float]:
        top, bottom = self._marks.get("sky", (40, 200))
        if kind.height < 0.42 and kind.up == "insect":
            return 120, 250
        return top + 40, max(bottom + 25, 140)

    def _ground(self, kinds: Sequence[Kind]) -> tuple[float, float]:
        words = lexicon.load_lexicon()
        tall = any(words.is_a(k.name, up) for k in kinds for up in ("tree", "building"))
        if self.setting == "street":
            if any(words.is_a(k.name, "vehicle") for k in kinds):
                return VEHICLES_ONLY
            return FAR_PAVEMENT if tall or (self.figures and self._even()) else NEAR_PAVEMENT
        low, high = self._marks["ground"]
        if tall:
            return low, low + 0.4 * (high - low)
        return low + (0.1 if self.figures else 0.35) * (high - low), high

    def _even(self) -> bool:
        return self.rng.random() < 0.5

    def _air_scale(self, sprite: Sprite) -> float:
        if lexicon.load_lexicon().is_a(sprite.actor.kind.name, "aircraft"):
            return self.rng.uniform(25, 34)
        return self.rng.uniform(68, 88)

    def _figure(self, s: Sprite, y: float, scale: float, flip: bool, aloft: bool) -> Figure:
        """A sprite with the layout's middle at x = 0."""
        x = (-s.x if flip else s.x) * scale
        if s.dy and not aloft:
            scale *= self.scale(y + s.dy) / self.scale(y)
        ground = y + s.dy
        high = s.medium == "air" and s.z * scale > 60
        return Figure(
            group=s.actor.group,
            part=s.actor.part(s.pose),
            x=x,
            y=ground - s.z * scale,
            scale=s.actor.unit * s.zoom * scale,
            depth=ground + 0.01 * s.order if not aloft else (0 if scale < 40 else HEIGHT),
            colour=s.actor.colour,
            flip=s.flip != flip,
            angle=-s.angle if flip else s.angle,
            light=self.rng.uniform(0.95, 1.04),
            ground=None if aloft or s.carried or high else ground,
            wet=s.medium in ("water", "surface"),
            seen=s.seen,
        )

    def _hides(self, figures: Sequence[Figure]) -> bool:
        """Whether the new figures and those that stand already would cover each other."""
        if self.sun and any(f.ground is None and _common(f.bounds, SUN) for f in figures):
            return True
        new = {f.group for f in figures}
        covered: dict[int, float] = {}
        for figure in (everything := [*self.figures, *figures]):
            for other in everything:
                apart = (figure.group in new) != (other.group in new)
                if apart and other.depth > figure.depth:
                    share = _common(figure.bounds, other.bounds) / _area(figure.bounds)
                    covered[id(figure)] = covered.get(id(figure), 0) + share
        return any(
            covered.get(id(f), 0) > (HIDDEN_MAIN if f.group in self.main else HIDDEN)
            for f in everything
        )


def _fits_counter(sprite: Sprite) -> bool:
    words = lexicon.load_lexicon()
    living = words.is_a(sprite.actor.kind.name, "person") or words.is_a(
        sprite.actor.kind.name, "animal"
    )
    return not living and sprite.height < 0.6 and sprite.dy > -8


def _hull(boxes: Sequence[Box]) -> Box:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _common(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0) * max(height, 0)
