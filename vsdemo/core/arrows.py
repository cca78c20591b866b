"""Arrows of a hierarchy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Arrow:
    """An edge from a general to a specific item of a hierarchy.

    Args:
        general: Index of the general item.
        specific: Index of the specific item.
        violation: By how much the model's order violates the edge; 0 if it agrees.
    """

    general: int
    specific: int
    violation: float
