"""Pairs of a test whose sentences a model has read in its training.

Most sentences of STS15.images, and some of STS-B and SICK, are captions of Flickr8k's training
photos: who learned from these has seen them together with a photo.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from vsdemo.data.pairs.sts import ScoredPair

CLEAN = ".clean"  # follows the name of a set without such pairs
WORD = re.compile(r"[a-z0-9']+")


def normalized(text: str) -> str:
    """Return the words of a text in small letters, without punctuation."""
    return " ".join(WORD.findall(text.lower()))


def normalized_all(texts: Iterable[str]) -> frozenset[str]:
    """Return the different normalized texts."""
    return frozenset(map(normalized, texts))


def clean_places(pairs: Sequence[ScoredPair], seen: frozenset[str]) -> list[int]:
    """Return the places of the pairs of which neither sentence is in `seen`, normalized."""
    return [
        place
        for place, pair in enumerate(pairs)
        if seen.isdisjoint((normalized(pair.a), normalized(pair.b)))
    ]
