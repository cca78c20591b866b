"""What a training needs before it can start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Check(NamedTuple):
    """One thing that a training needs: whether it is available, and a sentence about it."""

    ok: bool
    message: str


class Requirements(NamedTuple):
    """Everything that a training needs: checks in the order of the work, and bytes on the disk."""

    checks: Sequence[Check]
    disk: int = 0
