"""Chains of four texts from general to full, made by machine from captions of MS-COCO.

Alper & Averbuch-Elor (2024) made them to tune text models; each text comes with a wrong one at its
level. They are noisy. A model that learns from them has seen the kind of texts that HierarCaps
tests.
"""

from __future__ import annotations

import csv
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vsdemo.core.errors import UserError
from vsdemo.core.paths import require_data
from vsdemo.data.datasets.hierarcaps import LEVELS, SEPARATOR
from vsdemo.data.relations.generalize import key
from vsdemo.data.relations.listing import Source, above_of

TRUE, FALSE, UNKNOWN = 1, 0, -1  # as in the package
FILE = "chains_train.csv.xz"


@dataclass(frozen=True)
class Chains:
    """T texts of chains; those of one chain follow each other.

    The texts of a chain lie above its later ones, and none of them above an earlier one. The wrong
    text of level k is a wrong continuation: no text of the chain from level k on lies above it, and
    it lies above none of these. Everything else is unknown.

    Attributes:
        texts: As written, without a final full stop.
        chain: (T,) the chain of each text, in ascending order.
        level: (T,) from 0, the most general.
        right: (T,) whether a text is part of its chain, and not a wrong one.
    """

    texts: tuple[str, ...]
    chain: np.ndarray
    level: np.ndarray
    right: np.ndarray

    def __len__(self) -> int:
        """Return the number of chains."""
        return int(self.chain[-1]) + 1 if len(self.chain) else 0

    def of(self, chains: np.ndarray) -> np.ndarray:
        """Return the rows of the texts of chains (C,), chain by chain."""
        starts = np.searchsorted(self.chain, chains, side="left")
        counts = np.searchsorted(self.chain, chains, side="right") - starts
        before = np.repeat(np.cumsum(counts) - counts, counts)
        rows: np.ndarray = np.arange(counts.sum()) - before + np.repeat(starts, counts)
        return rows

    def among_texts(self, general: np.ndarray, specific: np.ndarray) -> np.ndarray:
        """Return whether texts lie above texts, (G, S), by their rows (G,) and (S,), as int8."""
        one, other = general[:, None], specific[None]
        same = self.chain[one] == self.chain[other]
        upper, lower = self.level[one], self.level[other]
        both = self.right[one] & self.right[other]
        result = np.full(same.shape, UNKNOWN, np.int8)
        result[same & both] = FALSE
        result[same & both & (upper <= lower)] = TRUE
        result[same & self.right[one] & ~self.right[other] & (upper >= lower)] = FALSE
        result[same & ~self.right[one] & self.right[other] & (upper <= lower)] = FALSE
        result[one == other] = TRUE
        return result

    def neighbours(self) -> Source:
        """Return the different texts of chains above the next ones of their chains."""
        rows = np.flatnonzero(self.right)
        follows = self.chain[rows[1:]] == self.chain[rows[:-1]]
        above: dict[str, set[str]] = {}
        for general, specific in zip(rows[:-1][follows], rows[1:][follows], strict=True):
            above.setdefault(self.texts[specific], set()).add(self.texts[general])
        general_texts, matrix = above_of([sorted(texts) for texts in above.values()])
        meaning = "texts of machine-made chains above the next ones"
        return Source("chains", meaning, "text", tuple(above), general_texts, matrix)


def load(path: Path | None = None) -> Chains:
    """Return the chains to learn from.

    Empty and repeated texts are left out, and so are rows without four texts and four wrong ones.

    Args:
        path: The file; by default that of VSDEMO_DATA/hierarcaps.

    Raises:
        UserError: The file is missing or damaged, or has no chain.
    """
    if path is None:
        path = require_data("hierarcaps", FILE, what="The chains of HierarCaps")
    try:
        with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
            rows = [(row["positive"], row["negative"]) for row in csv.DictReader(file)]
        chains = [chain for row in rows if (chain := tuple(_texts(*row)))]
    except (OSError, EOFError, ValueError, LookupError, AttributeError, lzma.LZMAError) as error:
        raise UserError(f"{path} is damaged ({error}); download it again.") from None
    if not chains:
        raise UserError(f"{path} has no chain of {LEVELS} texts; download it again.")
    flat = [(number, *text) for number, chain in enumerate(chains) for text in chain]
    return Chains(
        texts=tuple(text for _, text, _, _ in flat),
        chain=np.array([number for number, _, _, _ in flat], np.int64),
        level=np.array([level for _, _, level, _ in flat], np.int64),
        right=np.array([right for _, _, _, right in flat], bool),
    )


def _texts(positive: str, negative: str) -> Iterator[tuple[str, int, bool]]:
    """Yield the texts of a row, their levels, and whether they are right."""
    right, wrong = _split(positive), _split(negative)
    if len(right) != LEVELS or len(wrong) != LEVELS:
        return
    seen = {""}
    for texts, is_right in ((right, True), (wrong, False)):
        for level, text in enumerate(texts):
            if key(text) not in seen:
                seen.add(key(text))
                yield text, level, is_right


def _split(chain: str) -> Sequence[str]:
    """Return the texts of a chain with single spaces and without a final full stop."""
    return [" ".join(text.rstrip(" .").split()) for text in chain.split(SEPARATOR)]
