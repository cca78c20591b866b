"""The largest order violations at which one item counts as above another."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite


@dataclass(frozen=True)
class Limits:
    """The largest violations E(x, y) for which x counts as above y.

    Args:
        texts: Where y is a concept or a sentence.
        photos: Where y is a photo.
    """

    texts: float = float("inf")
    photos: float = float("inf")

    @property
    def usable(self) -> Limits:
        """These limits, or none if that of texts excludes everything, as no limit was good enough.

        Without limits, people see what fits best, true or not.
        """
        return self if self.texts >= 0 else NO_LIMITS

    def finite(self) -> dict[str, float]:
        """Return the known limits by name; without photos, their limit is not known."""
        return {name: limit for name, limit in asdict(self).items() if isfinite(limit)}


NO_LIMITS = Limits()
