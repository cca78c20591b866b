"""How good generated captions are: CIDEr, and how much they name that is not there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from vsdemo.core.errors import UserError
from vsdemo.data.pairs.wordnet import Nouns
from vsdemo.data.text.vocab import tokenize

NEAR_SENSES = 2  # most frequent senses of a noun that may be meant


def cider(captions: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return CIDEr of each of N captions in percent, with the references as the corpus.

    Vedantam, Zitnick & Parikh, "CIDEr: Consensus-based image description evaluation", CVPR 2015, as
    computed by pycocoevalcap. Its tokenizer, which needs Java, is replaced by `tokenize`.

    Args:
        captions: One for each photo.
        references: Captions of people for each photo.

    Raises:
        UserError: The package pycocoevalcap is not installed.
    """
    try:
        from pycocoevalcap.cider.cider import Cider
    except ImportError:
        raise UserError(
            "CIDEr needs the package pycocoevalcap; install it: pip install pycocoevalcap"
        ) from None
    own = {row: [_words(text)] for row, text in enumerate(captions)}
    gold = {row: list(map(_words, texts)) for row, texts in enumerate(references)}
    _, scores = Cider().compute_score(gold, own)
    return 100 * np.asarray(scores, float)


def _words(text: str) -> str:
    return " ".join(tokenize(text))


class Supported:
    """Whether things are named by human captions, in these or in other words.

    "A child" supports "a child", a synonym of it, and what lies above it in WordNet, such as "a
    person". Only the most frequent senses of a noun count.

    Args:
        wordnet: The nouns.
    """

    def __init__(self, wordnet: Nouns) -> None:
        self._wordnet = wordnet

    def unsupported(self, named: Iterable[str], gold: Iterable[str]) -> list[str]:
        """Return the nouns that no noun of the human captions supports."""
        gold = set(gold)
        known = {concept for noun in gold for concept in self._senses(noun)}
        above = known.union(*(self._wordnet.ancestors[concept] for concept in known))
        return [noun for noun in named if noun not in gold and above.isdisjoint(self._senses(noun))]

    def _senses(self, noun: str) -> tuple[int, ...]:
        return self._wordnet.senses.get(noun, ())[:NEAR_SENSES]
