"""Pearson's and Spearman's correlation of what models and people say, with intervals over pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

KINDS = ("pearson", "spearman")


class Told:
    """N numbers, and their order, which is the same however often each of them counts."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        _, self._place = np.unique(values, return_inverse=True)

    def ranks(self, times: np.ndarray) -> np.ndarray:
        """Ranks (N,) where each number counts as often as `times` says; the same numbers share the
        mean of theirs."""
        same = np.bincount(self._place, times)
        return (np.cumsum(same) - (same - 1) / 2)[self._place]


def correlation(a: np.ndarray, b: np.ndarray, times: np.ndarray | None = None) -> float:
    """Pearson's r of (N,) and (N,), from -1 to 1; 0 where either is constant. times: (N,) how often
    each pair counts, once unless given."""
    times = np.ones(len(a)) if times is None else times
    a, b = (values - np.average(values, weights=times) for values in (a, b))
    lengths = np.sqrt((times * a @ a) * (times * b @ b))
    return float(times * a @ b / lengths) if lengths > 1e-9 else 0.0


@dataclass(frozen=True)
class Correlations:
    """said, gold: name of a set -> N numbers, one for each of its pairs. groups: name -> the sets
    whose mean it is."""

    said: Mapping[str, Told]
    gold: Mapping[str, Told]
    groups: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(
        cls,
        said: Mapping[str, np.ndarray],
        gold: Mapping[str, np.ndarray],
        groups: Mapping[str, tuple[str, ...]],
    ) -> Correlations:
        told = ({name: Told(values) for name, values in side.items()} for side in (said, gold))
        return cls(*told, groups)

    def size(self, name: str) -> int:
        """The number of pairs of a set or a group."""
        return sum(len(self.gold[of].values) for of in self.groups.get(name, (name,)))

    def __len__(self) -> int:
        """The number of pairs of all sets."""
        return sum(map(self.size, self.gold))

    def metrics(self, pairs: np.ndarray | None = None) -> dict[str, Any]:
        """pearson and spearman, times 100, of each set, and their means over the groups: of all
        pairs or of those with these numbers, which go through the sets one after the other; of all
        pairs of a set where none is among them."""
        drawn = np.arange(len(self)) if pairs is None else pairs
        times = np.bincount(drawn, minlength=len(self)).astype(float)
        cuts = np.cumsum([self.size(name) for name in self.gold])[:-1]
        found = {}
        for name, own in zip(self.gold, np.split(times, cuts), strict=True):
            found[name] = self._figures(name, own if own.any() else np.ones(len(own)))
        for group, names in self.groups.items():
            means = {kind: float(np.mean([found[n][kind] for n in names])) for kind in KINDS}
            found[group] = means
        return found

    def _figures(self, name: str, times: np.ndarray) -> dict[str, float]:
        said, gold = self.said[name], self.gold[name]
        return {
            "pearson": 100 * correlation(said.values, gold.values, times),
            "spearman": 100 * correlation(said.ranks(times), gold.ranks(times), times),
        }
