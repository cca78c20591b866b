"""The differences of two embeddings, dimension by dimension, as one small figure."""

from __future__ import annotations

from collections.abc import Sequence

from vsdemo.plots.svg import element

WIDTH, HEIGHT = 1000, 120  # units that the page stretches


def profile_svg(differences: Sequence[float], description: str) -> str:
    """Return differences, largest first, as an area around a line at 0.

    The part above the line has the class `over`, the part below it `below`.

    Args:
        differences: `(D,)`.
        description: For people who do not see the figure.
    """
    ordered = sorted(differences, reverse=True)
    largest = max(map(abs, ordered), default=0.0) or 1.0
    step, middle = WIDTH / max(1, len(ordered)), HEIGHT / 2
    over, below = [], []
    for i, difference in enumerate(ordered):
        top = middle * (1 - difference / largest)
        bar = f"M{i * step:.1f} {middle:g}V{top:.1f}H{(i + 1) * step:.1f}V{middle:g}"
        if difference > 0:
            over.append(bar)
        elif difference < 0:
            below.append(bar)
    attributes = {
        "class": "profile",
        "viewBox": f"0 0 {WIDTH} {HEIGHT}",
        "preserveAspectRatio": "none",
        "role": "img",
        "aria-label": description,
    }
    svg = element(
        "svg",
        attributes,
        element("path", {"class": "over", "d": "".join(over)}),
        element("path", {"class": "below", "d": "".join(below)}),
        element("path", {"class": "zero", "d": f"M0 {middle:g}H{WIDTH}"}),
    )
    return str(svg)
