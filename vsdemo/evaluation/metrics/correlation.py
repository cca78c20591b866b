"""Pearson's and Spearman's correlation of scores with human scores, over resampled pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

KINDS = ("pearson", "spearman")


class Values:
    """N numbers, sorted once, so that the ranks of each bootstrap sample cost no sorting.

    `scipy.stats.spearmanr` would sort in each of the 2,000 samples of every set.
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        _, self._place = np.unique(values, return_inverse=True)

    def ranks(self, counts: np.ndarray) -> np.ndarray:
        """Return ranks (N,) where each number occurs `counts` (N,) times; ties share the mean."""
        equal = np.bincount(self._place, counts)
        ranks: np.ndarray = (np.cumsum(equal) - (equal - 1) / 2)[self._place]
        return ranks


def correlation(a: np.ndarray, b: np.ndarray, counts: np.ndarray | None = None) -> float:
    """Return Pearson's r of (N,) and (N,), from -1 to 1; 0 where either is constant.

    Args:
        a: (N,) values.
        b: (N,) values.
        counts: (N,) how often each pair occurs; once by default.
    """
    counts = np.ones(len(a)) if counts is None else counts
    total = counts.sum()  # `np.average` takes twice as long on sets of this size
    a = a - counts @ a / total
    b = b - counts @ b / total
    weighted = counts * a
    lengths = np.sqrt((weighted @ a) * (counts * b @ b))
    return float(weighted @ b / lengths) if lengths > 1e-9 else 0.0


@dataclass(frozen=True)
class Correlations:
    """The model's scores of several sets of pairs, and human scores of the same pairs.

    Args:
        predicted: Name of a set -> the model's scores of its pairs.
        gold: Name of a set -> human scores of its pairs.
        groups: Name of a group -> the sets whose mean it is.
    """

    predicted: Mapping[str, Values]
    gold: Mapping[str, Values]
    groups: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(
        cls,
        predicted: Mapping[str, np.ndarray],
        gold: Mapping[str, np.ndarray],
        groups: Mapping[str, tuple[str, ...]],
    ) -> Correlations:
        """Return the correlations of plain arrays."""
        return cls(
            predicted={name: Values(values) for name, values in predicted.items()},
            gold={name: Values(values) for name, values in gold.items()},
            groups=groups,
        )

    def size(self, name: str) -> int:
        """Return the number of pairs of a set or a group."""
        return sum(len(self.gold[part].values) for part in self.groups.get(name, (name,)))

    def __len__(self) -> int:
        """Return the number of pairs of all sets."""
        return sum(map(self.size, self.gold))

    def metrics(self, pairs: np.ndarray | None = None) -> dict[str, Any]:
        """Return pearson and spearman, times 100, of each set, and their means over the groups.

        Args:
            pairs: (N,) numbers of pairs, which run through the sets one after the other; all by
                default. A set without a pair among them keeps all its pairs.
        """
        drawn = np.arange(len(self)) if pairs is None else pairs
        counts = np.bincount(drawn, minlength=len(self)).astype(float)
        cuts = np.cumsum([self.size(name) for name in self.gold])[:-1]
        result = {}
        for name, own in zip(self.gold, np.split(counts, cuts), strict=True):
            result[name] = self._metrics(name, own if own.any() else np.ones(len(own)))
        for group, names in self.groups.items():
            means = {kind: float(np.mean([result[n][kind] for n in names])) for kind in KINDS}
            result[group] = means
        return result

    def _metrics(self, name: str, counts: np.ndarray) -> dict[str, float]:
        predicted, gold = self.predicted[name], self.gold[name]
        ranks = (predicted.ranks(counts), gold.ranks(counts))
        return {
            "pearson": 100 * correlation(predicted.values, gold.values, counts),
            "spearman": 100 * correlation(ranks[0], ranks[1], counts),
        }
