"""Questions with two answers, one of them right: shares with intervals over photos."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.scores import Score

OWN = "accuracy"  # of a model, among the answers of `Judged`


@dataclass(frozen=True)
class Shares:
    """right: name -> (P,) how many questions about each photo were answered rightly, a tie
    counting half; asked: name -> (P,) how many there were."""

    right: Mapping[str, np.ndarray]
    asked: Mapping[str, np.ndarray]
    photos: int

    @classmethod
    def of(cls, photos: int, answers: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Shares:
        """answers: name -> (photo (N,), rightness (N,)) of N questions; those without one go."""
        answers = {name: found for name, found in answers.items() if len(found[0])}
        return cls(
            {k: np.bincount(photo, right, photos) for k, (photo, right) in answers.items()},
            {k: np.bincount(photo, minlength=photos) for k, (photo, _) in answers.items()},
            photos,
        )

    def __len__(self) -> int:
        return self.photos

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """Percent of right answers; those of all where a few photos have no question."""
        rows = np.arange(self.photos) if photos is None else photos
        found = {}
        for name, asked in self.asked.items():
            drawn = rows if asked[rows].any() else slice(None)
            found[name] = 100 * float(self.right[name][drawn].sum() / asked[drawn].sum())
        return found

    @property
    def questions(self) -> dict[str, int]:
        """How many there were by name."""
        return {name: int(asked.sum()) for name, asked in self.asked.items()}


@dataclass(frozen=True)
class Judged:
    """shares: of right answers, those of baselines as `baselines.NAME`."""

    shares: Shares

    def __len__(self) -> int:
        return len(self.shares)

    def metrics(self, pairs: np.ndarray | None = None) -> dict[str, Any]:
        """In percent. accuracy; yes, no: right answers where that is the right one; direction: of
        the pairs where it is yes, those where the model's score is higher this way round;
        baselines: their accuracies; gain: points that accuracy lies above the best of them."""
        flat = self.shares.metrics(pairs)
        guesses = {k.removeprefix("baselines."): v for k, v in flat.items() if "." in k}
        found: dict[str, Any] = {k: v for k, v in flat.items() if "." not in k}
        if guesses:
            found |= {"baselines": guesses, "gain": found[OWN] - max(guesses.values())}
        return found


def higher(a: Tensor, b: Tensor) -> np.ndarray:
    """1 where a score of a is higher than its fellow of b, 0 where lower, else one half, (N,).

    Those that differ by no more than the rounding of float32 are the same.
    """
    same = torch.isclose(a, b, rtol=1e-5, atol=1e-6)
    return torch.where(same, 0.5, (a > b).float()).numpy()


def nearness(score: Score, a: Embeddings, b: Embeddings) -> Tensor:
    """Row i of one against row i of the other, (N,): the diagonal of `Score.neighbours`."""
    return (score.pairs(a, b) + score.pairs(b, a)) / 2


def best_threshold(scores: np.ndarray, entailed: np.ndarray, balanced: bool = True) -> float:
    """The lowest score to say yes to for the best accuracy on pairs (N,); halfway to the next.

    balanced: both answers weigh the same, however many pairs each is right for.
    """
    values = np.unique(scores)
    cuts = np.concatenate([[-np.inf], (values[1:] + values[:-1]) / 2, [np.inf]])
    yes, no = np.sort(scores[entailed]), np.sort(scores[~entailed])
    weights = (1 / len(yes), 1 / len(no)) if balanced else (1, 1)
    right = np.searchsorted(no, cuts) * weights[1] - np.searchsorted(yes, cuts) * weights[0]
    return float(cuts[right.argmax()])
