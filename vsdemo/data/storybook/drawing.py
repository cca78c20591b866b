"""Drawings put together: parts placed on a setting, as one SVG and as pixels."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import resvg_py

from vsdemo.data.storybook import lexicon
from vsdemo.data.storybook.scene import Box

FOLDER = Path(__file__).parent
WIDTH, HEIGHT = 480, 360
SKY = {  # overlays beneath hills and roofs, by weather; the clear sky's by time
    "cloudy": ("clouds",),
    "rain": ("clouds",),
    "snowfall": ("clouds",),
    "fog": (),
    "sunny": {"morning": ("sun",), "day": ("sun",), "sunset": ("low_sun",), "night": ("moon",)},
}
FRONT = ("rain", "snowfall", "fog")  # overlays over everything
INK = "#3a2c2a"
RIPPLE = "#eaf6f8"
TONES = ("main", "dark", "light")
VARIABLE = re.compile(r"var\(--([\w-]+),\s*([^)]+)\)")


@dataclass(frozen=True)
class Drawing:
    """A file: what is within its svg element, its size in its own units, and its data- attributes
    as numbers."""

    body: str
    width: float
    height: float
    marks: Mapping[str, tuple[float, ...]]


@cache
def read(name: str) -> Drawing:
    """A drawing by its path without ending, such as parts/dog-run."""
    text = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    head, body = text.split(">", 1)
    attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', head))
    numbers = {k: tuple(map(float, v.split())) for k, v in attributes.items() if "-" in k}
    *_, width, height = map(float, attributes["viewBox"].split())
    marks = {key.removeprefix("data-"): value for key, value in numbers.items()}
    return Drawing(body.rsplit("</svg>", 1)[0].strip(), width, height, marks)


@cache
def _times() -> dict[str, dict[str, str]]:
    return json.loads((FOLDER / "settings" / "times.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Figure:
    """A part at its place.

    group: number of its group. part: its file. x, y: pixels of the middle of its lower edge.
    scale: pixels a unit. depth: what has more is drawn later. colour: of the lexicon. flip: faces
    left. angle: degrees clockwise about its middle. light: factor of its tones. ground: y of the
    shadow it casts, None without one. wet: makes ripples in place of a shadow. seen: share of its
    height, from the top, that nothing hides.
    """

    group: int
    part: str
    x: float
    y: float
    scale: float
    depth: float
    colour: str
    flip: bool = False
    angle: float = 0.0
    light: float = 1.0
    ground: float | None = None
    wet: bool = False
    seen: float = 1.0

    @cached_property
    def bounds(self) -> Box:
        """Left, top, right, bottom of what is seen of it, in pixels; not clipped. Where it is
        turned they are those of the ellipse within it, as corners are empty."""
        drawing = read(f"parts/{self.part}")
        width, height = drawing.width * self.scale, drawing.height * self.scale
        turn = math.radians(self.angle)
        across = math.hypot(width * math.cos(turn), height * math.sin(turn)) / 2
        down = math.hypot(height * math.cos(turn), width * math.sin(turn)) / 2
        middle = self.y - height / 2
        top = middle - down
        return self.x - across, top, self.x + across, top + 2 * down * self.seen

    @property
    def box(self) -> Box:
        """Its bounds within the picture, in shares of width and height."""
        left, top, right, bottom = self.bounds
        return (
            round(max(left, 0) / WIDTH, 4),
            round(max(top, 0) / HEIGHT, 4),
            round(min(right, WIDTH) / WIDTH, 4),
            round(min(bottom, HEIGHT) / HEIGHT, 4),
        )


def figure_svg(figure: Figure) -> str:
    """A figure with its shadow, as an SVG fragment."""
    drawing = read(f"parts/{figure.part}")
    tones = _tones(figure.part, figure.colour)
    main = {name: _lit(tones.get(name), figure.light) for name in TONES}

    def tone(match: re.Match[str]) -> str:
        return main.get(match[1]) or _lit(match[2], figure.light) or match[0]

    sign = -1 if figure.flip else 1
    place = f"translate({figure.x:.1f} {figure.y:.1f})"
    if figure.angle:
        place += f" rotate({figure.angle:.1f} 0 {-drawing.height * figure.scale / 2:.1f})"
    place += f" scale({sign * figure.scale:.4f} {figure.scale:.4f})"
    place += f" translate({-drawing.width / 2:.1f} {-drawing.height:.1f})"
    return f'{_shadow(figure)}<g transform="{place}">{VARIABLE.sub(tone, drawing.body)}</g>'


def _shadow(figure: Figure) -> str:
    if figure.ground is None:
        return ""
    left, top, right, _ = figure.bounds
    width, lift = right - left, figure.ground - figure.y
    rx = max(width * 0.45 - lift * 0.15, 5)
    ry = 2.5 + min(width, figure.y - top) * 0.03
    fill, opacity = (RIPPLE, 0.6) if figure.wet else (INK, 0.16)
    return (
        f'<ellipse cx="{figure.x:.1f}" cy="{figure.ground:.1f}" rx="{rx:.1f}" ry="{ry:.1f}"'
        f' fill="{fill}" fill-opacity="{opacity}"/>'
    )


def _tones(part: str, colour: str) -> dict[str, str]:
    """The tones that a part is repainted in: none where its own have that colour already."""
    words = lexicon.load_lexicon()
    kind = words.kinds[part.split("-")[0]]
    own = dict(VARIABLE.findall(read(f"parts/{part}").body)).get("main", "")
    if own == "" or len({*kind.colours, *kind.also}) == 1 or _nearest(own) == colour:
        return {}
    return {tone: getattr(words.colours[colour], tone) for tone in TONES}


@cache
def _nearest(tone: str) -> str:
    colours = lexicon.load_lexicon().colours
    return min(colours, key=lambda name: math.dist(_rgb(tone), _rgb(colours[name].main)))


def _rgb(tone: str) -> tuple[int, int, int]:
    return int(tone[1:3], 16), int(tone[3:5], 16), int(tone[5:7], 16)


def _lit(tone: str | None, light: float) -> str | None:
    if tone is None:
        return None
    return "#" + "".join(f"{min(round(c * light), 255):02x}" for c in _rgb(tone))


def compose(setting: str, time: str, weather: str, figures: Iterable[Figure]) -> str:
    """The SVG of a picture: sky, land, figures from far to near, light of the time, weather."""
    place, light = read(f"settings/{setting}"), _times()[time]
    outdoors = "window" not in place.marks
    body = place.body
    if outdoors:
        sky = "".join(_overlay(name, place) for name in _sky(time, weather))
        body = body.replace('<g data-layer="land">', f'{sky}<g data-layer="land">', 1)
    wash = light["wash"] if outdoors else light.get("wash_indoors", light["wash"])
    over = _rect(*wash) if wash else ""
    if outdoors and weather in FRONT:
        over += read(f"overlays/{weather}").body
    drawn = "".join(figure_svg(f) for f in sorted(figures, key=lambda f: f.depth))
    svg = VARIABLE.sub(lambda m: light.get(m[1], m[2]), body + drawn + over)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' width="{WIDTH}" height="{HEIGHT}">{svg}</svg>'
    )


def _sky(time: str, weather: str) -> tuple[str, ...]:
    found = SKY[weather]
    return found[time] if isinstance(found, dict) else found


def _overlay(name: str, place: Drawing) -> str:
    """An overlay of the sky; the low sun goes to where the setting has its horizon free."""
    overlay = read(f"overlays/{name}")
    if "centre" not in overlay.marks:
        return overlay.body
    dx, dy = (a - b for a, b in zip(place.marks["low-sun"], overlay.marks["centre"], strict=True))
    return f'<g transform="translate({dx} {dy})">{overlay.body}</g>'


def _rect(fill: str, opacity: float) -> str:
    return f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{fill}" fill-opacity="{opacity}"/>'


def png(svg: str) -> bytes:
    """The pixels of an SVG, as a PNG."""
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True))
