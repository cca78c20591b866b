"""Up to which order violation something counts as above something else."""

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
        """These limits; none where that of texts excludes everything, as no limit was good enough.

        Then people see what fits best, true or not.
        """
        return self if self.texts >= 0 else NO_LIMITS

    def finite(self) -> dict[str, float]:
        """Return the known limits by name; that of photos is not, where there are none."""
        return {name: limit for name, limit in asdict(self).items() if isfinite(limit)}


NO_LIMITS = Limits()
