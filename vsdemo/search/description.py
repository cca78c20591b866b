"""What describes a photo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vsdemo.core.alignment import Alignment
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.hits import Hit
from vsdemo.core.language import translate
from vsdemo.models.composition import Composed


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


class Composition(NamedTuple):
    """The sentences that a model composed about a photo.

    Attributes:
        sentences: Each with its alignment, the best first.
        photo: The embeddings of the regions of the photo, (1, K, D).
    """

    sentences: list[tuple[Composed, Alignment]]
    photo: Embeddings


def likely_text(likely: Sequence[str]) -> str:
    """Return a sentence about what a photo probably shows, to place before the nearest ones."""
    if likely:
        return translate("Probably: {phrases}.", phrases="; ".join(likely))
    return translate("Not sure what this photo shows; these sentences are only the nearest.")
