"""Captions with typos: how much worse do they find their photos?

A model that reads characters still sees most of a misspelt word, where to one that reads words it
is unknown: the former "benefits from morphological similarity" (Merckx & Frank 2019, section
4.3.3, of rare words; typos are our own test of it). In each caption one typo is made in none, one
or two of its words of at least three letters, chosen by lot, the same for every model: two letters
swapped, one dropped, one doubled, or one replaced by its neighbour on the keyboard. Noise is blind
to words: each letter of the caption gives way to any other with the same probability.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.evaluation.metrics.ranks import subtract, with_intervals
from vsdemo.evaluation.tasks.retrieval import Ranks, encode, ranks
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "drop"
TYPOS = {"clean": 0, "one": 1, "two": 2}
NOISE = 0.1  # share of letters
LETTERS = "abcdefghijklmnopqrstuvwxyz"
KEPT = ("r1", "r10", "meanr")
WORD = re.compile(r"[^\W\d_]{3,}")
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


@dataclass(frozen=True)
class Misspelt:
    """by_typos: clean, one, two and noise -> the ranks."""

    by_typos: dict[str, Ranks]

    def __len__(self) -> int:
        return len(self.by_typos["clean"])

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """clean, one, two, noise: R@1, R@10 and mean rank of the photo; drop: what of clean is
        lost."""
        found = {}
        for name, of_one in self.by_typos.items():
            t2i = of_one.metrics(photos)["t2i"]
            found[name] = {k: t2i[k] for k in KEPT}
        lost = {k: subtract(found["clean"], found[k]) for k in found if k != "clean"}
        return {**found, PRIMARY: lost}


def measure(model: DualEncoder, split: CaptionSet, features: Tensor) -> Misspelt:
    """Ranks of the photos for captions without and with typos, and with noise."""
    spelt = {name: [misspelt(c, typos) for c in split.captions] for name, typos in TYPOS.items()}
    spelt["noise"] = [noisy(c) for c in split.captions]
    found = {}
    for name, captions in spelt.items():
        wrong = replace(split, captions=tuple(captions))
        found[name] = ranks(model, *encode(model, wrong, features))
    return Misspelt(found)


def noisy(caption: str, share: float = NOISE) -> str:
    """A caption of which each letter is another one with probability `share`; the same each
    time."""
    rng = Random(caption)

    def other(letter: str) -> str:
        if not letter.isalpha() or rng.random() >= share:
            return letter
        drawn = rng.choice([x for x in LETTERS if x != letter.lower()])
        return drawn.upper() if letter.isupper() else drawn

    return "".join(map(other, caption))


def misspelt(caption: str, typos: int) -> str:
    """A caption with one typo in each of so many words, or in all that there are; the same each
    time, and one more adds to those before."""
    rng = Random(caption)
    words = list(WORD.finditer(caption))
    rng.shuffle(words)
    wrong = {word.start(): typo(word[0], rng) for word in words[:typos]}
    return WORD.sub(lambda word: wrong.get(word.start(), word[0]), caption)


def typo(word: str, rng: Random) -> str:
    """Another spelling of a word of at least two letters."""
    while True:
        i = rng.randrange(len(word))
        before, letter, after = word[:i], word[i], word[i + 1 :]
        wrong = (
            before + after[:1] + letter + after[1:],
            before + after,
            before + letter * 2 + after,
            before + _beside(letter, rng) + after,
        )[rng.randrange(4)]
        if wrong != word:
            return wrong


def _beside(letter: str, rng: Random) -> str:
    """A neighbour on the keyboard; of letters that it lacks themselves."""
    row = next((row for row in KEYBOARD if letter.lower() in row), letter.lower())
    i = row.index(letter.lower())
    drawn = rng.choice([row[j] for j in (i - 1, i + 1) if 0 <= j < len(row)] or row)
    return drawn.upper() if letter.isupper() else drawn


def evaluate(model: DualEncoder, split: CaptionSet, features: Tensor) -> dict[str, Any]:
    """clean, one, two and noise: r1, r10, meanr; drop; n_captions, ci95 over photos."""
    found = measure(model, split, features)
    return {**with_intervals(found), "n_captions": len(split.captions)}
