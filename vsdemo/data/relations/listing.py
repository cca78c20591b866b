"""Lists of related pairs, to count them and to read samples of them.

A pair is named by digests, so that what people have judged can be kept without the sentences.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

DIGEST = 10  # letters


class Pair(NamedTuple):
    """A general text, and something specific that it lies above.

    Args:
        id: Such as `caption-81c07f5ae3-0f3a9c2d11`.
        general: The text.
        specific: A text, or the name of a photo.
    """

    id: str
    general: str
    specific: str


@dataclass(frozen=True)
class Source:
    """The pairs that one rule yields.

    Attributes:
        name: Such as `shortened`.
        meaning: What its pairs are.
        kind: What the specific things are, such as `caption`.
        specific: S texts, or names of photos.
        general: G texts.
        above: (S, G) which texts lie above a specific thing.
        holds: Whether the pairs are true; a source of negatives has false ones.
    """

    name: str
    meaning: str
    kind: str
    specific: Sequence[str]
    general: Sequence[str]
    above: csr_matrix
    holds: bool = True

    def __len__(self) -> int:
        """Return the number of pairs."""
        return int(self.above.nnz)

    def sample(self, count: int, seed: int) -> list[Pair]:
        """Return different pairs, all equally likely; fewer if there are fewer."""
        chosen = np.random.default_rng(seed).permutation(len(self))[:count]
        rows = np.searchsorted(self.above.indptr, chosen, side="right") - 1
        columns = self.above.indices[chosen]
        return [
            self._pair(int(row), int(column)) for row, column in zip(rows, columns, strict=True)
        ]

    def find(self, ids: Iterable[str]) -> Iterator[Pair]:
        """Yield the pairs with these ids that the source has."""
        wanted = set(ids)
        names = {pair_id.rpartition("-")[0] for pair_id in wanted}
        for row in range(len(self.specific)):
            if self._name(row) not in names:
                continue
            for column in self.above.indices[self.above.indptr[row] : self.above.indptr[row + 1]]:
                pair = self._pair(row, int(column))
                if pair.id in wanted:
                    yield pair

    def _name(self, row: int) -> str:
        return f"{self.kind}-{digest(self.specific[row])}"

    def _pair(self, row: int, column: int) -> Pair:
        general = self.general[column]
        return Pair(f"{self._name(row)}-{digest(general)}", general, self.specific[row])


def digest(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST]


def above_of(rows: Sequence[Iterable[str]]) -> tuple[tuple[str, ...], csr_matrix]:
    """Return the G different texts of S rows of texts, and which are in a row, (S, G)."""
    column: dict[str, int] = {}
    columns = [sorted({column.setdefault(text, len(column)) for text in row}) for row in rows]
    counts = [len(row) for row in columns]
    indices = np.fromiter((c for row in columns for c in row), np.int32, sum(counts))
    matrix = csr_matrix(
        (np.ones(len(indices), np.float32), indices, np.cumsum([0, *counts])),
        shape=(len(rows), len(column)),
    )
    return tuple(column), matrix
