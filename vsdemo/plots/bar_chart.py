"""Horizontal bars, each with its name and number, as an SVG file on white."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from vsdemo.plots.svg import document, element, join

MIN_NAME_WIDTH = 150  # pixels, like all lengths here
LETTER_WIDTH = 7.5
MAX_BAR = 360
NUMBER_WIDTH = 70
ROW = 22
BAR = 14
TOP = 40
MARGIN = 12
INK, COLOUR, LINE = "#24221e", "#2f5d50", "#c98f24"


def bars_svg(
    title: str,
    rows: Sequence[tuple[str, float]],
    start: float | None = None,
    spans: Sequence[tuple[float, float]] = (),
) -> str:
    """Return bars as SVG, in the order of the rows.

    Args:
        title: Above the bars.
        rows: (name, number); the largest number has the longest bar, negative ones have none.
        start: An initial value of all numbers, drawn as a vertical line.
        spans: The confidence interval (low, high) of each number, drawn across the end of its bar.
    """
    largest = max([number for _, number in rows] + [high for _, high in spans], default=0)
    scale = MAX_BAR / (largest if largest > 0 else 1)
    left = MARGIN + max([MIN_NAME_WIDTH, *(LETTER_WIDTH * len(name) for name, _ in rows)])
    width, height = left + MAX_BAR + NUMBER_WIDTH, TOP + ROW * len(rows) + MARGIN
    parts = []
    for i, (name, number) in enumerate(rows):
        length = scale * max(0, number)
        span = [scale * max(0, end) for end in spans[i]] if spans else []
        parts.append(_row(left, TOP + ROW * i, name, number, length, span))
    if start is not None:
        x = f"{left + scale * start:.1f}"
        line = {"x1": x, "x2": x, "y1": TOP - 8, "y2": height - MARGIN}
        label = {"x": width - MARGIN, "y": 24, "text-anchor": "end", "fill": LINE}
        parts.append(element("line", {**line, "stroke": LINE, "stroke-width": 2}))
        parts.append(element("text", label, f"start: {start:.2f}"))
    return document(title, width, height, *parts, ink=INK)


def _row(
    x: float, y: int, name: str, number: float, length: float, span: Sequence[float]
) -> Markup:
    """Return a bar of a length in pixels, its texts, and its interval if it has one."""
    name_place = {"x": x - 8, "y": y + 12, "text-anchor": "end"}
    bar = {"x": x, "y": y, "width": f"{length:.1f}", "height": BAR, "fill": COLOUR}
    number_place = {"x": f"{x + max(length, *span, 0) + 6:.1f}", "y": y + 12}
    parts = [
        element("text", name_place, name),
        element("rect", bar),
        element("text", number_place, f"{number:.2f}"),
    ]
    if span:
        low, high = span
        path = f"M{x + low:.1f} {y + BAR / 2}H{x + high:.1f}"
        parts.append(element("path", {"d": path, "stroke": LINE, "stroke-width": 2}))
    return join(*parts)
