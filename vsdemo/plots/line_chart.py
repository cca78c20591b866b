"""Lines over a horizontal axis, each with its name, as an SVG file on white."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from vsdemo.plots.bar_chart import INK, TOP
from vsdemo.plots.svg import document, element

WIDTH, HEIGHT = 420, 240  # of the area of the lines, in pixels like all lengths here
NAME_WIDTH = 130
LEFT, BELOW = 44, 46  # room for the axes
GAP = 15  # between two texts
COLOURS = ("#2f5d50", "#c98f24", "#7a4b8a", "#3f6fa8", "#a8443f", "#6b6b63")
GRID = "#e4e0d6"
Point = tuple[float, float]


def lines_svg(
    title: str, lines: Mapping[str, Sequence[Point]], x_label: str, *, logarithmic: bool = False
) -> str:
    """Return lines as SVG; each name stands where its line ends.

    Args:
        title: Above the lines.
        lines: Name -> points (x, y).
        x_label: Below the horizontal axis.
        logarithmic: Whether the horizontal axis is logarithmic; then x must be positive.
    """
    points = [point for line in lines.values() for point in line]
    xs = [math.log2(x) if logarithmic else x for x, _ in points] or [0.0]
    ticks = _ticks(max((y for _, y in points), default=1.0))
    start, span = min(xs), (max(xs) - min(xs)) or 1.0
    width, height = LEFT + WIDTH + NAME_WIDTH, TOP + HEIGHT + BELOW

    def place(point: Point) -> Point:
        x = math.log2(point[0]) if logarithmic else point[0]
        return LEFT + WIDTH * (x - start) / span, TOP + HEIGHT * (1 - point[1] / ticks[-1])

    any_x = points[0][0] if points else 1.0
    parts = []
    for y in ticks:
        parts += _grid_line(y, place((any_x, y))[1])
    values = sorted({x for x, _ in points})
    places = [place((x, 0))[0] for x in values]
    for x, x_place in _spread(values, places):
        label = {"x": f"{x_place:.1f}", "y": TOP + HEIGHT + 18, "text-anchor": "middle"}
        parts.append(element("text", label, f"{x:g}"))
    label = {"x": LEFT + WIDTH / 2, "y": height - 8, "text-anchor": "middle"}
    parts.append(element("text", label, x_label))
    placed = {name: [place(point) for point in line] for name, line in lines.items() if line}
    name_heights = _separate({name: line[-1][1] for name, line in placed.items()})
    for i, (name, line) in enumerate(placed.items()):
        parts.append(_line(name, line, name_heights[name], COLOURS[i % len(COLOURS)]))
    return document(title, width, height, *parts, ink=INK)


def _grid_line(value: float, y: float) -> list[Markup]:
    line = {"x1": LEFT, "x2": LEFT + WIDTH, "y1": f"{y:.1f}", "y2": f"{y:.1f}", "stroke": GRID}
    label = {"x": LEFT - 6, "y": f"{y + 4:.1f}", "text-anchor": "end"}
    return [element("line", line), element("text", label, f"{value:g}")]


def _line(name: str, line: Sequence[Point], name_height: float, colour: str) -> Markup:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
    path = {"points": points, "fill": "none", "stroke": colour, "stroke-width": 2}
    dots = [element("circle", {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": 2.5}) for x, y in line]
    label = {"x": f"{line[-1][0] + 8:.1f}", "y": f"{name_height + 4:.1f}"}
    return element(
        "g", {"fill": colour}, element("polyline", path), *dots, element("text", label, name)
    )


def _ticks(largest: float) -> list[float]:
    """Return round numbers from 0 to the first that is not below the largest, at most seven."""
    largest = largest if largest > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(largest))
    step = next(s * power for s in (0.2, 0.5, 1.0, 2.0) if largest <= 6 * s * power)
    return [step * i for i in range(math.ceil(largest / step - 1e-9) + 1)]


def _spread(values: Sequence[float], places: Sequence[float]) -> list[tuple[float, float]]:
    """Return the values, with their places, that are far enough apart to be written."""
    kept: list[tuple[float, float]] = []
    for value, place in zip(values, places, strict=True):
        if not kept or place - kept[-1][1] >= 2 * GAP:
            kept.append((value, place))
    return kept


def _separate(heights: Mapping[str, float]) -> dict[str, float]:
    """Move names down that would overlap."""
    result: dict[str, float] = {}
    last = -math.inf
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        last = max(height, last + GAP)
        result[name] = last
    return result
