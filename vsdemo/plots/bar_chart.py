"""Bars from left to right, each with its name and number, as a file of its own, on white."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

LEAST, LONGEST, NUMBER, LETTER = 150, 360, 70, 7.5  # widths in pixels, of names at least LEAST
ROW, BAR, TOP, MARGIN = 22, 14, 40, 12
INK, COLOUR, LINE = "#24221e", "#2f5d50", "#c98f24"


def bars_svg(
    title: str,
    rows: Sequence[tuple[str, float]],
    start: float | None = None,
    spans: Sequence[tuple[float, float]] = (),
) -> str:
    """Rows of (name, number) as SVG, in their order; the largest has the longest bar, none below 0
    has any.

    start: where all of them began, drawn as a line. spans: the interval (low, high) of each number,
    drawn across the end of its bar."""
    largest = max([number for _, number in rows] + [high for _, high in spans], default=0)
    largest = largest if largest > 0 else 1
    left = MARGIN + max([LEAST, *(LETTER * len(name) for name, _ in rows)])
    wide, high = left + LONGEST + NUMBER, TOP + ROW * len(rows) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" '
        f'height="{high}" font-family="system-ui,sans-serif" font-size="13" fill="{INK}">',
        f'<title>{escape(title)}</title><rect width="{wide}" height="{high}" fill="#ffffff"/>',
        f'<text x="{MARGIN}" y="24" font-size="15">{escape(title)}</text>',
    ]
    for i, (name, number) in enumerate(rows):
        told = (number, *spans[i]) if spans else (number,)
        lengths = [LONGEST * max(0, value) / largest for value in told]
        parts += _row(left, TOP + ROW * i, name, number, lengths)
    if start is not None:
        x = left + LONGEST * start / largest
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{high - MARGIN}" stroke="{LINE}" '
            f'stroke-width="2"/><text x="{wide - MARGIN}" y="24" text-anchor="end" '
            f'fill="{LINE}">start: {start:.2f}</text>'
        )
    return "".join([*parts, "</svg>\n"])


def _row(x: float, y: int, name: str, number: float, lengths: Sequence[float]) -> list[str]:
    """A bar. lengths: its own in pixels, and where it has an interval those of both ends."""
    long, *span = lengths
    parts = [
        f'<text x="{x - 8}" y="{y + 12}" text-anchor="end">{escape(name)}</text>',
        f'<rect x="{x}" y="{y}" width="{long:.1f}" height="{BAR}" fill="{COLOUR}"/>',
        f'<text x="{x + max(lengths) + 6:.1f}" y="{y + 12}">{number:.2f}</text>',
    ]
    if span:
        low, high = span
        ends = f"M{x + low:.1f} {y + BAR / 2}H{x + high:.1f}"
        parts.append(f'<path d="{ends}" stroke="{LINE}" stroke-width="2"/>')
    return parts
