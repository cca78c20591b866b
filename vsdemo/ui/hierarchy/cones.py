"""The HTML of a small order-embedding in the plane, whose points can be moved.

Vendrov et al. 2016, section 2.1 and Figure 2: x is a kind of y if x_k >= y_k in each coordinate, so
all kinds of y lie in the cone that opens at y; the origin is above everything. `cones.js` draws it,
with the origin at the top, from the record in `data-cones`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from html import escape

from vsdemo.core.errors import UserError

HINT = (
    "Select a concept to see its cone, which holds its kinds, or two to compose them. "
    "Drag a concept, or move it with the arrow keys."
)
LEGEND = {
    "holds": "is a kind of, and holds",
    "violated": "violated",
    "spurious": "spurious: in the cone, but not a kind of it",
}
BUTTONS = (  # action in cones.js, label, tooltip
    ("max", "Compose", "The larger of each coordinate of the two concepts selected last"),
    ("min", "Common", "The smaller of each coordinate of the two concepts selected last"),
    ("reset", "Reset", "Move every point back"),
)


@dataclass(frozen=True)
class Toy:
    """N concepts in the plane, and which is a kind of which.

    Attributes:
        names: N different names.
        points: N pairs of coordinates >= 0, of the order of 1; larger for more specific concepts.
        edges: The true direct pairs, as (general, specific) numbers of concepts.

    Raises:
        UserError: If these do not fit each other.
    """

    names: tuple[str, ...]
    points: tuple[tuple[float, float], ...]
    edges: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        n = len(self.names)
        if not n or len(self.points) != n:
            raise UserError(
                f"There are {n} concepts but {len(self.points)} points; each concept needs one."
            )
        if len({name.strip() for name in self.names} - {""}) < n:
            raise UserError("Each concept needs a name of its own.")
        for name, point in zip(self.names, self.points, strict=True):
            if len(point) != 2 or not all(math.isfinite(x) and x >= 0 for x in point):
                raise UserError(f"“{name}” needs two coordinates that are not negative.")
        if outside := [pair for pair in self.edges if not set(pair) <= set(range(n))]:
            raise UserError(f"The pair {outside[0]} is outside of the {n} concepts, 0 to {n - 1}.")
        if len(set(self.edges)) < len(self.edges):
            raise UserError("A pair of concepts is given twice; remove one.")
        self.pairs()

    def pairs(self) -> list[tuple[int, int]]:
        """Return every true (general, specific) pair, sorted: the edges and what follows from them.

        Raises:
            UserError: If a concept would be a kind of itself.
        """
        parents: dict[int, list[int]] = {i: [] for i in range(len(self.names))}
        for general, specific in self.edges:
            parents[specific].append(general)
        above: dict[int, set[int]] = {}
        try:
            for i in TopologicalSorter(parents).static_order():  # parents first
                above[i] = set(parents[i]).union(*(above[p] for p in parents[i]))
        except CycleError:
            raise UserError("These pairs make a concept a kind of itself; remove one.") from None
        return sorted((general, i) for i, ancestors in above.items() for general in ancestors)


def cones(toy: Toy) -> str:
    """Return the figure, its description in words and its buttons."""
    record = {
        "names": toy.names,
        "points": toy.points,
        "edges": toy.edges,
        "pairs": toy.pairs(),
    }
    legend = "".join(
        f'<span><svg viewBox="0 0 30 10" aria-hidden="true"><path class="line {kind}" d="M1 5H30"/>'
        f"</svg>{text}</span>"
        for kind, text in LEGEND.items()
    )
    buttons = "".join(
        f'<button type="button" class="do" data-cone="{action}" title="{tooltip}">{label}</button>'
        for action, label, tooltip in BUTTONS
    )
    return (
        f'<section class="cones" data-cones="{escape(json.dumps(record))}">'
        '<svg class="plane" role="group" aria-label="Concepts; more general ones are higher"></svg>'
        f'<p class="note legend">{legend}</p>'
        f'<div aria-live="polite"><p class="said" data-ask="{HINT}">{HINT}</p>'
        f'<p class="note total"></p></div><div class="tools">{buttons}</div>'
        '<p class="note strays"></p></section>'
    )
