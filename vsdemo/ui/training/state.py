"""What the tab Train shows."""

from __future__ import annotations

from typing import NamedTuple


class TrainState(NamedTuple):
    """The runs that a page shows.

    Attributes:
        shown: Names of runs; the first is shown in full, the others only as curves.
        sentence: Number of the watched sentence whose photos are shown.
    """

    shown: tuple[str, ...] = ()
    sentence: int = 0
