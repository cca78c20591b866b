"""A small order-embedding in the plane, whose concepts can be moved.

Vendrov et al. 2016, section 2.1 and Figure 2: x is a kind of y if x_k >= y_k in each coordinate, so
all kinds of y lie in the cone with its apex at y, and everything lies in the cone of the origin.
`cones.js` draws the record in `data-cones`, with the origin at the top.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from markupsafe import Markup

from vsdemo.core.errors import UserError
from vsdemo.ui.components.templates import render


@dataclass(frozen=True)
class Toy:
    """N concepts in the plane, and the true pairs among them.

    Attributes:
        names: N different names.
        points: N pairs of coordinates >= 0, about 1 in size; larger for more specific concepts.
        edges: The direct true pairs, as (general, specific) indices of concepts.

    Raises:
        UserError: If names, points and edges are invalid or inconsistent.
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
            raise UserError("Each concept needs a unique name that is not blank.")
        for name, point in zip(self.names, self.points, strict=True):
            if len(point) != 2 or not all(math.isfinite(x) and x >= 0 for x in point):
                raise UserError(f"“{name}” needs two coordinates that are not negative.")
        if outside := [pair for pair in self.edges if not set(pair) <= set(range(n))]:
            raise UserError(f"The pair {outside[0]} names a concept outside of 0 to {n - 1}.")
        if len(set(self.edges)) < len(self.edges):
            raise UserError("A pair of concepts is given twice; remove one.")
        self.pairs()

    def pairs(self) -> list[tuple[int, int]]:
        """Return all true (general, specific) pairs, sorted: the edges and those they imply.

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


def cones(toy: Toy) -> Markup:
    """Return the figure with its legend, status line and buttons."""
    record = {
        "names": toy.names,
        "points": toy.points,
        "edges": toy.edges,
        "pairs": toy.pairs(),
    }
    return render("hierarchy/cones.html", record=json.dumps(record))
