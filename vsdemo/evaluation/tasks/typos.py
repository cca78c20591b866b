"""Retrieval with misspelt captions.

A model that reads characters still sees most of a misspelt word, which is unknown to a model that
reads words: the former "benefits from morphological similarity" (Merckx & Frank 2019, section
4.3.3, about rare words; typos are our own test of it). Each caption gets one typo in none, one or
two of its words of at least three letters, drawn at random but the same for every model: two
letters swapped, one dropped, one doubled, or one replaced by its neighbour on the keyboard. Noise
ignores words: each letter of the caption is replaced by any other with the same probability.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar

import numpy as np

from vsdemo.evaluation.metrics import retrieval
from vsdemo.evaluation.metrics.bootstrap import subtract, with_intervals
from vsdemo.evaluation.metrics.retrieval import Ranks
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder

TYPOS = {"clean": 0, "one": 1, "two": 2}
NOISE = 0.1  # share of letters
LETTERS = "abcdefghijklmnopqrstuvwxyz"
KEPT = ("r1", "r10", "meanr")
WORD = re.compile(r"[^\W\d_]{3,}")
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


@dataclass(frozen=True)
class TypoRanks:
    """Ranks of the photos by spelling: clean, one, two and noise."""

    by_spelling: dict[str, Ranks]

    def __len__(self) -> int:
        return len(self.by_spelling["clean"])

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """Return R@1, R@10 and mean rank of each spelling, and `drop`, clean minus the others."""
        result: dict[str, Any] = {}
        for name, ranks in self.by_spelling.items():
            t2i = ranks.metrics(photos)["t2i"]
            result[name] = {key: t2i[key] for key in KEPT}
        misspelt = [name for name in result if name != "clean"]
        drop = {name: subtract(result["clean"], result[name]) for name in misspelt}
        return {**result, "drop": drop}


@dataclass(frozen=True)
class Typos(PairedTask):
    """Recall lost by typos."""

    name: ClassVar[str] = "typos"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = "drop"

    def measure(self, model: DualEncoder, data: PhotoData) -> TypoRanks:
        """Return the ranks of the photos for captions without and with typos, and with noise."""
        captions = data.split.captions
        spellings = {name: [misspell(c, typos) for c in captions] for name, typos in TYPOS.items()}
        spellings["noise"] = [add_noise(caption) for caption in captions]
        result = {}
        for name, texts in spellings.items():
            misspelt = replace(data.split, captions=tuple(texts))
            result[name] = retrieval.measure(model, misspelt, data.features)
        return TypoRanks(result)

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return clean, one, two, noise and drop, n_captions, and ci95 over photos."""
        ranks = self.measure(model, data)
        return {**with_intervals(ranks), "n_captions": len(data.split.captions)}


def add_noise(caption: str, share: float = NOISE) -> str:
    """Return a caption with each letter replaced with probability `share`; the same each time."""
    rng = Random(caption)

    def other(letter: str) -> str:
        if not letter.isalpha() or rng.random() >= share:
            return letter
        drawn = rng.choice([x for x in LETTERS if x != letter.lower()])
        return drawn.upper() if letter.isupper() else drawn

    return "".join(map(other, caption))


def misspell(caption: str, typos: int) -> str:
    """Return a caption with one typo in each of `typos` words, or in all words that can have one.

    The result is the same each time; with a larger number, the typos of a smaller one stay.
    """
    rng = Random(caption)
    words = list(WORD.finditer(caption))
    rng.shuffle(words)
    misspelt = {word.start(): typo(word[0], rng) for word in words[:typos]}
    return WORD.sub(lambda word: misspelt.get(word.start(), word[0]), caption)


def typo(word: str, rng: Random) -> str:
    """Return another spelling of a word of at least two letters."""
    while True:
        i = rng.randrange(len(word))
        before, letter, after = word[:i], word[i], word[i + 1 :]
        misspelt = (
            before + after[:1] + letter + after[1:],
            before + after,
            before + letter * 2 + after,
            before + _neighbour(letter, rng) + after,
        )[rng.randrange(4)]
        if misspelt != word:
            return misspelt


def _neighbour(letter: str, rng: Random) -> str:
    """Return a neighbour on the keyboard, or the letter itself if the keyboard lacks it."""
    row = next((row for row in KEYBOARD if letter.lower() in row), letter.lower())
    i = row.index(letter.lower())
    drawn = rng.choice([row[j] for j in (i - 1, i + 1) if 0 <= j < len(row)] or row)
    return drawn.upper() if letter.isupper() else drawn
