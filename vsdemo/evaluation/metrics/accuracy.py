"""Accuracy on questions with two answers, one of which is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.nested import unflatten
from vsdemo.models.scores import Score

# The photo of each question, (N,); 1 for a right answer, 0 for a wrong one, 0.5 for a tie, (N,).
Answered = tuple[np.ndarray, np.ndarray]
ACCURACY = "accuracy"  # the model's own answers among those of `PairAccuracy`


@dataclass(frozen=True)
class Accuracy:
    """Right answers to several kinds of questions, counted by photo.

    Args:
        right: Name of the questions -> (P,) number of right answers about each photo; a tie
            counts half.
        counts: Name of the questions -> (P,) number of questions about each photo.
        photos: Number of photos P.
    """

    right: Mapping[str, np.ndarray]
    counts: Mapping[str, np.ndarray]
    photos: int

    @classmethod
    def of(cls, photos: int, answers: Mapping[str, Answered]) -> Accuracy:
        """Count answers by photo.

        Args:
            photos: Number of photos.
            answers: Answers to the questions by name. Names without a question are left out.
        """
        nonempty = {name: answer for name, answer in answers.items() if len(answer[0])}
        return cls(
            right={
                name: np.bincount(photo, right, photos) for name, (photo, right) in nonempty.items()
            },
            counts={
                name: np.bincount(photo, minlength=photos) for name, (photo, _) in nonempty.items()
            },
            photos=photos,
        )

    def with_answers(self, answers: Mapping[str, Answered]) -> Accuracy:
        """Return the accuracy with the answers to more questions about the same photos."""
        more = Accuracy.of(self.photos, answers)
        return Accuracy({**self.right, **more.right}, {**self.counts, **more.counts}, self.photos)

    def __len__(self) -> int:
        return self.photos

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """Return the percentages of right answers.

        If a sample has no question of a kind, the percentage over all photos is returned.
        """
        rows = np.arange(self.photos) if photos is None else photos
        result = {}
        for name, count in self.counts.items():
            drawn = rows if count[rows].any() else slice(None)
            result[name] = 100 * float(self.right[name][drawn].sum() / count[drawn].sum())
        return result

    @property
    def questions(self) -> dict[str, int]:
        """Number of questions by name."""
        return {name: int(count.sum()) for name, count in self.counts.items()}


@dataclass(frozen=True)
class PairAccuracy:
    """Accuracy on pairs of sentences or concepts, with baselines.

    Args:
        accuracy: Its names are those of metrics; names of baselines start with `baselines.`, or
            with `directions.` for the direction.
    """

    accuracy: Accuracy

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.accuracy)

    def metrics(self, pairs: np.ndarray | None = None) -> dict[str, Any]:
        """Return percentages of right answers.

        accuracy: of all pairs; yes, no: of pairs where that is the right answer; direction: of
        pairs where yes is right, those that score higher than with both sides exchanged;
        baselines, directions: accuracy and direction on the same pairs without the model; gain,
        direction_gain: accuracy and direction minus the best of these, in points.
        """
        result = unflatten(self.accuracy.metrics(pairs))
        if baselines := result.pop("baselines", None):
            result["baselines"] = baselines
            result["gain"] = result[ACCURACY] - max(baselines.values())
        if directions := result.get("directions"):
            result["direction_gain"] = result["direction"] - max(directions.values())
        return result


def higher(a: Tensor, b: Tensor) -> np.ndarray:
    """Return 1 where a score of a is higher than that of b, 0 where it is lower, else 0.5, (N,).

    Scores that differ by no more than the rounding of float32 are equal.
    """
    equal = torch.isclose(a, b, rtol=1e-5, atol=1e-6)
    return torch.where(equal, 0.5, (a > b).float()).numpy()


def nearness(score: Score, a: Embeddings, b: Embeddings) -> Tensor:
    """Return the scores of row i of a with row i of b, (N,): the diagonal of `Score.symmetric`."""
    return (score.pairs(a, b) + score.pairs(b, a)) / 2


def best_threshold(scores: np.ndarray, positive: np.ndarray, *, balanced: bool) -> float:
    """Return the threshold with the best accuracy, halfway between two scores.

    Args:
        scores: (N,); the answer is yes where a score reaches the threshold.
        positive: (N,) whether yes is right.
        balanced: Whether both answers weigh the same, however many pairs each is right for.
    """
    values = np.unique(scores)
    cuts = np.concatenate([[-np.inf], (values[1:] + values[:-1]) / 2, [np.inf]])
    yes, no = np.sort(scores[positive]), np.sort(scores[~positive])
    yes_weight, no_weight = (1 / len(yes), 1 / len(no)) if balanced else (1, 1)
    right = np.searchsorted(no, cuts) * no_weight - np.searchsorted(yes, cuts) * yes_weight
    return float(cuts[right.argmax()])
