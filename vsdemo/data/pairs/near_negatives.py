"""Pairs of concepts that are easily taken for true, such as (bird, puppy).

Negatives at random are mostly about unrelated concepts, from which a model learns little of what
lies between a concept and its distant hypernyms. Here the general concept of a true pair is
replaced by one of its hyponyms that itself has some: from (animal, puppy) comes (bird, puppy).
"""

from __future__ import annotations

import numpy as np

from vsdemo.data.pairs import hypernyms


class NearNegatives:
    """Draws near negatives to pairs of a taxonomy.

    Attributes:
        general: The concepts that have hyponyms.
        inner: Those of them that have hypernyms as well.

    Args:
        train: `(T, 2)`, the edges to learn from.
        concepts: The number of concepts.
    """

    def __init__(self, train: np.ndarray, concepts: int) -> None:
        inner = train[np.isin(train[:, 1], train[:, 0])]
        inner = inner[np.argsort(inner[:, 0], kind="stable")]
        self.general = np.unique(train[:, 0])
        self.inner = np.unique(inner[:, 1])
        self._hyponyms = inner[:, 1]
        self._starts = np.searchsorted(inner[:, 0], np.arange(concepts + 1))
        self._true = hypernyms.infer(train, concepts)

    def draw(self, pairs: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw `count` candidates for each pair `(N, 2)` that has any, `(M, 2)`.

        Some of them are true, see `follow`.
        """
        general, specific = np.repeat(pairs, count, axis=0).T
        starts, counts = self._starts[general], self._starts[general + 1] - self._starts[general]
        places = starts + (rng.random(len(general)) * counts).astype(np.int64)
        has_any = counts > 0
        return np.stack([self._hyponyms[places[has_any]], specific[has_any]], axis=1)

    def follow(self, pairs: np.ndarray) -> np.ndarray:
        """Return which pairs `(M, 2)` follow from the edges to learn from, `(M,)`.

        A pair of a concept and itself also does.
        """
        follow: np.ndarray = self._true.contains(pairs) | (pairs[:, 0] == pairs[:, 1])
        return follow
