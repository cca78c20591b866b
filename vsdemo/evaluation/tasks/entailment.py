"""Entailment between captions (Vendrov 2016, section 5, on Storybook's facts).

Ordered pairs (premise, hypothesis) of captions with different texts, entailed where all that the
hypothesis states follows from what the premise states: all pairs of captions of one scene, about
three in eight of them entailed, and as many pairs whose hypothesis is from another scene drawn at
random, hardly any of them entailed. As only one pair in five is entailed, both answers weigh the
same: always giving the same answer has an accuracy of 50 percent. A model says yes where its
directed score(hypothesis, premise) reaches the threshold that does best on dev (section 5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from random import Random
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data import storybook
from vsdemo.data.storybook.facts import entails
from vsdemo.data.storybook.realization import Caption
from vsdemo.evaluation.metrics.accuracy import Accuracy, best_threshold, higher
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.metrics.pairs import times_drawn
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder


@dataclass(frozen=True)
class Pairs:
    """N pairs of captions.

    Args:
        premise: (N,) caption numbers.
        hypothesis: (N,) caption numbers.
        photo: (N,) the premise's photo.
        entailed: (N,) whether the hypothesis follows.
        strict: (N,) whether it follows, is of the same scene, and does not entail the premise.
    """

    premise: np.ndarray
    hypothesis: np.ndarray
    photo: np.ndarray
    entailed: np.ndarray
    strict: np.ndarray


@dataclass(frozen=True)
class EntailmentResults:
    """Answers and scores of all N pairs.

    Args:
        accuracy: Accuracy of `yes`, `no` and `direction`.
        scores: (N,) of the pairs.
        entailed: (N,) whether yes is right.
        photo: (N,) the premise's photo.
    """

    accuracy: Accuracy
    scores: np.ndarray
    entailed: np.ndarray
    photo: np.ndarray

    def __len__(self) -> int:
        return len(self.accuracy)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """Return percentages.

        yes, no: right answers where that is the right one; accuracy: their mean; auc: the area
        under the ROC curve; direction: of pairs where only one caption entails the other, those
        where score(general, specific) is higher than score(specific, general).
        """
        counts = times_drawn(self.photo, photos)
        answers = self.accuracy.metrics(photos)
        accuracy = (answers["yes"] + answers["no"]) / 2
        return {"accuracy": accuracy, **answers, "auc": auc(self.scores, self.entailed, counts)}


@lru_cache(maxsize=2)  # dev and test
def gold(split: CaptionSet) -> Pairs:
    """Return the pairs of a split, the same each time."""
    _, captions = stories(split)
    owner, rng = np.array(split.photo_of), Random(0)
    within = [pair for of_photo in split.captions_of for pair in permutations(of_photo, 2)]
    same_scene = [(a, b) for a, b in within if captions[a].text != captions[b].text]
    other_scene = [(a, _other_scene(a, owner, captions, rng)) for a, _ in same_scene]
    entailed, strict = [], []
    for number, (a, b) in enumerate([*same_scene, *other_scene]):
        follows = entails(captions[a].facts, captions[b].facts)
        comparable = follows and number < len(same_scene)
        entailed.append(follows)
        strict.append(comparable and not entails(captions[b].facts, captions[a].facts))
    premise, hypothesis = np.array([*same_scene, *other_scene]).T
    return Pairs(
        premise=premise,
        hypothesis=hypothesis,
        photo=owner[premise],
        entailed=np.array(entailed),
        strict=np.array(strict),
    )


def _other_scene(premise: int, owner: np.ndarray, captions: Sequence[Caption], rng: Random) -> int:
    """Return a caption of another scene with another text, drawn at random."""
    while True:
        drawn = rng.randrange(len(captions))
        if owner[drawn] != owner[premise] and captions[drawn].text != captions[premise].text:
            return drawn


def score_pairs(model: DualEncoder, split: CaptionSet, pairs: Pairs) -> tuple[Tensor, Tensor]:
    """Return the directed scores (hypothesis, premise) and (premise, hypothesis), (N,) each."""
    captions = model.encode_text([Sentence(caption) for caption in split.captions])
    premise = captions[torch.tensor(pairs.premise)]
    hypothesis = captions[torch.tensor(pairs.hypothesis)]
    fit = model.score.directed
    return fit.pairs(hypothesis, premise), fit.pairs(premise, hypothesis)


def auc(scores: np.ndarray, positive: np.ndarray, counts: np.ndarray) -> float:
    """Return the area under the ROC curve in percent, a tie counting half.

    `sklearn.metrics.roc_auc_score` gives the same, but takes ten times as long in a bootstrap.

    Args:
        scores: (N,).
        positive: (N,) booleans.
        counts: (N,) how often each pair counts.
    """
    _, place = np.unique(scores, return_inverse=True)
    yes, no = np.bincount(place, counts * positive), np.bincount(place, counts * ~positive)
    below = np.cumsum(no) - no / 2
    return 100 * float((yes * below).sum() / max(yes.sum() * no.sum(), 1))


@dataclass(frozen=True)
class Entailment(PairedTask):
    """Entailment between captions of Storybook."""

    name: ClassVar[str] = "entailment"
    needs: ClassVar[frozenset[str]] = frozenset({"photos", "storybook"})
    primary: ClassVar[str] = "accuracy"

    def measure(self, model: DualEncoder, data: PhotoData) -> EntailmentResults:
        """Return the answers for all pairs of a split, with the threshold of dev."""
        split = data.split
        pairs = gold(split)
        forward, backward = score_pairs(model, split, pairs)
        scores = forward.numpy()
        if split.split == "dev":
            threshold = best_threshold(scores, pairs.entailed, balanced=True)
        else:
            dev = storybook.load("dev")
            dev_pairs = gold(dev)
            dev_scores, _ = score_pairs(model, dev, dev_pairs)
            threshold = best_threshold(dev_scores.numpy(), dev_pairs.entailed, balanced=True)
        yes, strict = pairs.entailed, pairs.strict
        answers = {
            "yes": (pairs.photo[yes], scores[yes] >= threshold),
            "no": (pairs.photo[~yes], scores[~yes] < threshold),
            "direction": (pairs.photo[strict], higher(forward, backward)[strict]),
        }
        return EntailmentResults(
            accuracy=Accuracy.of(len(split.photos), answers),
            scores=scores,
            entailed=pairs.entailed,
            photo=pairs.photo,
        )

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return the metrics of `EntailmentResults`, ci95 over scenes, and n_pairs."""
        results = self.measure(model, data)
        return {**with_intervals(results), "n_pairs": results.accuracy.questions}
