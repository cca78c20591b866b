"""By how much one point exceeds another, dimension by dimension, as one small picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDE, HIGH = 1000, 120  # units that the page stretches


def profile_svg(excess: Sequence[float], says: str) -> str:
    """Differences (D,), largest first, as an area from a line at 0: those above it of the class
    `over`, those below `below`. says: what is seen, for those who do not see it."""
    sizes = sorted(excess, reverse=True)
    largest = max(map(abs, sizes), default=0.0) or 1.0
    step, middle = WIDE / max(1, len(sizes)), HIGH / 2
    parts = []
    for name, kept in (("over", [s > 0 for s in sizes]), ("below", [s < 0 for s in sizes])):
        tops = [middle * (1 - s / largest) for s in sizes]
        bars = (
            f"M{i * step:.1f} {middle:g}V{top:.1f}H{(i + 1) * step:.1f}V{middle:g}"
            for i, (top, here) in enumerate(zip(tops, kept, strict=True))
            if here
        )
        parts.append(f'<path class="{name}" d="{"".join(bars)}"/>')
    return (
        f'<svg class="profile" viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(says)}">{"".join(parts)}'
        f'<path class="zero" d="M0 {middle:g}H{WIDE}"/></svg>'
    )
