"""What describes a photo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vsdemo.core.hits import Hit


class Description(NamedTuple):
    """The sentences that describe a photo.

    Attributes:
        hits: The best of them.
        likely: What the photo probably shows, such as "a dog", the most specific first; empty if
            the model is not sure. None if that is unknown: the sentences are not those of the
            caption bank, or the model has no temperature.
    """

    hits: list[Hit]
    likely: tuple[str, ...] | None = None


def likely_text(likely: Sequence[str]) -> str:
    """Return a sentence about what a photo probably shows, to place before the nearest ones."""
    if likely:
        return f"Probably: {'; '.join(likely)}."
    return "Not sure what this photo shows; these sentences are only the nearest."
