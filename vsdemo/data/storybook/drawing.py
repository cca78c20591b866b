"""Drawings: parts placed on a setting, as one SVG and as pixels."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import cast

import resvg_py

from vsdemo.data import packaged
from vsdemo.data.storybook import lexicon
from vsdemo.data.storybook.scene import Box

FOLDER = Path(__file__).parent
WIDTH, HEIGHT = 480, 360
CLEAR_SKY = {"morning": "sun", "day": "sun", "sunset": "low_sun", "night": "moon"}
CLOUDY = ("cloudy", "rain", "snowfall")  # weathers with clouds; fog hides the sky
PRECIPITATION = ("rain", "snowfall", "fog")  # overlays over everything
INK = "#3a2c2a"
RIPPLE = "#eaf6f8"
TONES = ("main", "dark", "light")
VARIABLE = re.compile(r"var\(--([\w-]+),\s*([^)]+)\)")


@dataclass(frozen=True)
class Drawing:
    """An SVG file.

    Args:
        body: The content of its svg element.
        width: In its own units.
        height: In its own units.
        anchors: Its data- attributes as numbers, such as the place of a hand.
    """

    body: str
    width: float
    height: float
    anchors: Mapping[str, tuple[float, ...]]


@cache
def read_drawing(name: str) -> Drawing:
    """Return a drawing by its path without suffix, such as `parts/dog-run`."""
    text = packaged.read_text(FOLDER / f"{name}.svg")
    head, body = text.split(">", 1)
    attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', head))
    *_, width, height = map(float, attributes["viewBox"].split())
    anchors = {
        key.removeprefix("data-"): tuple(map(float, value.split()))
        for key, value in attributes.items()
        if "-" in key
    }
    body = body.rsplit("</svg>", 1)[0].strip()
    return Drawing(body=body, width=width, height=height, anchors=anchors)


@cache
def _times() -> dict[str, dict[str, str]]:
    text = packaged.read_text(FOLDER / "settings" / "times.json")
    return cast(dict[str, dict[str, str]], json.loads(text))


@dataclass(frozen=True)
class PlacedPart:
    """A part of a picture at its place. Lengths are in pixels.

    Args:
        group: Index of its group.
        part: Name of its file.
        x: Middle of its lower edge.
        y: Lower edge.
        scale: Pixels per unit of the drawing.
        depth: Parts of greater depth are drawn later.
        colour: Name of a colour in the lexicon.
        flip: Whether it faces left.
        angle: Degrees clockwise about its middle.
        light: Factor of its tones.
        ground: Height of its shadow; None without one.
        wet: Whether it makes ripples in place of a shadow.
        visible: The share of its height, from the top, that nothing hides.
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
    visible: float = 1.0

    @cached_property
    def bounds(self) -> Box:
        """Left, top, right and bottom of its visible part in pixels, not clipped.

        The bounds of a turned part are those of the ellipse within it, as its corners are empty.
        """
        drawing = read_drawing(f"parts/{self.part}")
        width, height = drawing.width * self.scale, drawing.height * self.scale
        turn = math.radians(self.angle)
        half_width = math.hypot(width * math.cos(turn), height * math.sin(turn)) / 2
        half_height = math.hypot(height * math.cos(turn), width * math.sin(turn)) / 2
        middle = self.y - height / 2
        top = middle - half_height
        bottom = top + 2 * half_height * self.visible
        return self.x - half_width, top, self.x + half_width, bottom

    @property
    def box(self) -> Box:
        """Its bounds within the picture, as shares of width and height."""
        left, top, right, bottom = self.bounds
        return (
            round(max(left, 0) / WIDTH, 4),
            round(max(top, 0) / HEIGHT, 4),
            round(min(right, WIDTH) / WIDTH, 4),
            round(min(bottom, HEIGHT) / HEIGHT, 4),
        )


def part_svg(part: PlacedPart) -> str:
    """Return a part with its shadow as an SVG fragment."""
    drawing = read_drawing(f"parts/{part.part}")
    tones = _tones(part.part, part.colour)
    lit_tones = {name: _lit(tone, part.light) for name, tone in tones.items()}

    def tone(match: re.Match[str]) -> str:
        return lit_tones.get(match[1]) or _lit(match[2], part.light)

    sign = -1 if part.flip else 1
    transform = f"translate({part.x:.1f} {part.y:.1f})"
    if part.angle:
        transform += f" rotate({part.angle:.1f} 0 {-drawing.height * part.scale / 2:.1f})"
    transform += f" scale({sign * part.scale:.4f} {part.scale:.4f})"
    transform += f" translate({-drawing.width / 2:.1f} {-drawing.height:.1f})"
    return f'{_shadow(part)}<g transform="{transform}">{VARIABLE.sub(tone, drawing.body)}</g>'


def _shadow(part: PlacedPart) -> str:
    if part.ground is None:
        return ""
    left, top, right, _ = part.bounds
    width, lift = right - left, part.ground - part.y
    rx = max(width * 0.45 - lift * 0.15, 5)
    ry = 2.5 + min(width, part.y - top) * 0.03
    fill, opacity = (RIPPLE, 0.6) if part.wet else (INK, 0.16)
    return (
        f'<ellipse cx="{part.x:.1f}" cy="{part.ground:.1f}" rx="{rx:.1f}" ry="{ry:.1f}"'
        f' fill="{fill}" fill-opacity="{opacity}"/>'
    )


def _tones(part: str, colour: str) -> dict[str, str]:
    """Return the tones to repaint a part with; empty if its own already have that colour."""
    words = lexicon.load_lexicon()
    kind = words.kinds[part.split("-")[0]]
    own = dict(VARIABLE.findall(read_drawing(f"parts/{part}").body)).get("main", "")
    one_colour = len({*kind.colours, *kind.extra_colours}) == 1
    if own == "" or one_colour or _nearest_colour(own) == colour:
        return {}
    return {tone: getattr(words.colours[colour], tone) for tone in TONES}


@cache
def _nearest_colour(tone: str) -> str:
    colours = lexicon.load_lexicon().colours
    return min(colours, key=lambda name: math.dist(_rgb(tone), _rgb(colours[name].main)))


def _rgb(tone: str) -> tuple[int, int, int]:
    return int(tone[1:3], 16), int(tone[3:5], 16), int(tone[5:7], 16)


def _lit(tone: str, light: float) -> str:
    """Return a tone with its brightness multiplied."""
    return "#" + "".join(f"{min(round(c * light), 255):02x}" for c in _rgb(tone))


def render_svg(setting: str, time: str, weather: str, parts: Iterable[PlacedPart]) -> str:
    """Return the SVG of a picture: sky, land, parts from far to near, light, and weather."""
    background, light = read_drawing(f"settings/{setting}"), _times()[time]
    outdoors = "window" not in background.anchors
    body = background.body
    if outdoors:
        sky = "".join(_overlay(name, background) for name in _sky(time, weather))
        body = body.replace('<g data-layer="land">', f'{sky}<g data-layer="land">', 1)
    wash = light["wash"] if outdoors else light.get("wash_indoors", light["wash"])
    front = _rect(wash[0], wash[1]) if wash else ""
    if outdoors and weather in PRECIPITATION:
        front += read_drawing(f"overlays/{weather}").body
    drawn = "".join(part_svg(part) for part in sorted(parts, key=lambda part: part.depth))
    svg = VARIABLE.sub(lambda match: light.get(match[1], match[2]), body + drawn + front)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' width="{WIDTH}" height="{HEIGHT}">{svg}</svg>'
    )


def _sky(time: str, weather: str) -> tuple[str, ...]:
    """Return the overlays behind hills and roofs."""
    if weather in CLOUDY:
        return ("clouds",)
    return (CLEAR_SKY[time],) if weather == "sunny" else ()


def _overlay(name: str, background: Drawing) -> str:
    """Return an overlay of the sky; the low sun moves to the free horizon of the setting."""
    overlay = read_drawing(f"overlays/{name}")
    if "centre" not in overlay.anchors:
        return overlay.body
    target, centre = background.anchors["low-sun"], overlay.anchors["centre"]
    dx, dy = target[0] - centre[0], target[1] - centre[1]
    return f'<g transform="translate({dx} {dy})">{overlay.body}</g>'


def _rect(fill: str, opacity: str) -> str:
    return f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{fill}" fill-opacity="{opacity}"/>'


def render_png(svg: str) -> bytes:
    """Return the pixels of an SVG as a PNG."""
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True))
