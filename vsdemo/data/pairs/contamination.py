"""Pairs of a test whose sentences a model has read in its training.

Most sentences of STS15.images, some of STS-B and SICK, and a sixth of SNLI's premises are captions
of Flickr8k's training photos: who learned from these has seen them together with a photo.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

CLEAN = ".clean"  # follows the name of a set without such pairs
SMALLEST = 50  # pairs of a set without them; fewer tell nothing
WORD = re.compile(r"[a-z0-9']+")


def normalized(text: str) -> str:
    """Return the words of a text in small letters, without punctuation."""
    return " ".join(WORD.findall(text.lower()))


def normalized_all(texts: Iterable[str]) -> frozenset[str]:
    """Return the different normalized texts."""
    return frozenset(map(normalized, texts))


def clean_places(pairs: Sequence[tuple[str, str]], seen: frozenset[str]) -> list[int]:
    """Return the places of the pairs of which neither sentence is in `seen`, normalized.

    Empty if there are fewer than `SMALLEST`, or if they are all pairs.
    """
    places = [place for place, pair in enumerate(pairs) if seen.isdisjoint(map(normalized, pair))]
    return places if SMALLEST <= len(places) < len(pairs) else []
