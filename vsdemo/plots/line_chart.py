"""Lines over numbers from left to right, each with its name, as a file of its own, on white."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from vsdemo.plots.bar_chart import INK, MARGIN, TOP

WIDE, HIGH, NAME = 420, 240, 130  # of the lines, and of their names, in pixels
LEFT, BELOW, GAP = 44, 46, 15
COLOURS = ("#2f5d50", "#c98f24", "#7a4b8a", "#3f6fa8", "#a8443f", "#6b6b63")
GRID = "#e4e0d6"
Point = tuple[float, float]


def lines_svg(
    title: str, lines: Mapping[str, Sequence[Point]], below: str, logarithmic: bool = False
) -> str:
    """Name -> points (x, y) as SVG; each name stands where its line ends. below: what x is.
    logarithmic: x on a scale where twice as much is a step; then x is above 0."""
    points = [point for line in lines.values() for point in line]
    across = [math.log2(x) if logarithmic else x for x, _ in points] or [0.0]
    marks = _ticks(max((y for _, y in points), default=1.0))
    start, width = min(across), (max(across) - min(across)) or 1.0
    wide, high = LEFT + WIDE + NAME, TOP + HIGH + BELOW

    def at(point: Point) -> Point:
        x = math.log2(point[0]) if logarithmic else point[0]
        return LEFT + WIDE * (x - start) / width, TOP + HIGH * (1 - point[1] / marks[-1])

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" '
        f'height="{high}" font-family="system-ui,sans-serif" font-size="13" fill="{INK}">',
        f'<title>{escape(title)}</title><rect width="{wide}" height="{high}" fill="#ffffff"/>',
        f'<text x="{MARGIN}" y="24" font-size="15">{escape(title)}</text>',
        *(_grid_line(y, at((points[0][0] if points else 1.0, y))[1]) for y in marks),
    ]
    numbers = sorted({x for x, _ in points})
    kept = _spread(numbers, [at((x, 0))[0] for x in numbers])
    parts += [
        f'<text x="{at((x, 0))[0]:.1f}" y="{TOP + HIGH + 18}" text-anchor="middle">{x:g}</text>'
        for x in kept
    ]
    middle = LEFT + WIDE / 2
    parts.append(f'<text x="{middle}" y="{high - 8}" text-anchor="middle">{escape(below)}</text>')
    drawn = {name: [at(point) for point in line] for name, line in lines.items() if line}
    ends = _apart({name: line[-1][1] for name, line in drawn.items()})
    for i, (name, line) in enumerate(drawn.items()):
        parts.append(_line(name, line, ends[name], COLOURS[i % len(COLOURS)]))
    return "".join([*parts, "</svg>\n"])


def _grid_line(y: float, height: float) -> str:
    return (
        f'<line x1="{LEFT}" x2="{LEFT + WIDE}" y1="{height:.1f}" y2="{height:.1f}" '
        f'stroke="{GRID}"/><text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{y:g}</text>'
    )


def _line(name: str, line: Sequence[Point], end: float, colour: str) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in line)
    return (
        f'<g fill="{colour}"><polyline points="{path}" fill="none" stroke="{colour}" '
        f'stroke-width="2"/>{dots}'
        f'<text x="{line[-1][0] + 8:.1f}" y="{end + 4:.1f}">{escape(name)}</text></g>'
    )


def _ticks(largest: float) -> list[float]:
    """Round numbers from 0 to the first that is not below the largest, at most seven."""
    largest = largest if largest > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(largest))
    step = next(s * power for s in (0.2, 0.5, 1.0, 2.0) if largest <= 6 * s * power)
    return [step * i for i in range(math.ceil(largest / step - 1e-9) + 1)]


def _spread(numbers: Sequence[float], places: Sequence[float]) -> list[float]:
    """Those numbers whose places are far enough from each other to be written."""
    kept: list[tuple[float, float]] = []
    for number, place in zip(numbers, places, strict=True):
        if not kept or place - kept[-1][1] >= 2 * GAP:
            kept.append((number, place))
    return [number for number, _ in kept]


def _apart(heights: Mapping[str, float]) -> dict[str, float]:
    """Heights moved down where two would be written over each other."""
    found: dict[str, float] = {}
    last = -math.inf
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        found[name] = last = max(height, last + GAP)
    return found
