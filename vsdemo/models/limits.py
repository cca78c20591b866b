"""Up to which order violation something counts as above something else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The largest violations E(x, y) for which x counts as above y.

    Args:
        texts: Where y is a concept or a sentence.
        photos: Where y is a photo.
    """

    texts: float = float("inf")
    photos: float = float("inf")


NO_LIMITS = Limits()
