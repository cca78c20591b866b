"""Does one caption follow from another? (Vendrov 2016, section 5, on Storybook's facts.)

Ordered pairs (premise, hypothesis) of captions with different texts, entailed where all that the
hypothesis says follows from what the premise says: all pairs of captions of one scene, about three
in eight of them entailed, and as many with the hypothesis from another scene drawn by lot, of
which hardly any are. As that is one in five altogether, both sorts weigh the same: who gives one
answer to all is right in 50 percent. A model says yes where score(hypothesis, premise) reaches the
threshold that does best on dev (section 5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data import storybook
from vsdemo.data.storybook.facts import entails
from vsdemo.data.storybook.realization import Caption
from vsdemo.evaluation.metrics.accuracy import Shares, best_threshold, higher
from vsdemo.evaluation.metrics.ranks import with_intervals
from vsdemo.evaluation.tasks.storybook_facts import stories
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "accuracy"


@dataclass(frozen=True)
class Pairs:
    """premise, hypothesis: (N,) caption numbers; photo: (N,) that of the premise; entailed: (N,);
    strict: (N,) entailed, of one scene, and not the other way round."""

    premise: np.ndarray
    hypothesis: np.ndarray
    photo: np.ndarray
    entailed: np.ndarray
    strict: np.ndarray


@dataclass(frozen=True)
class Judged:
    """shares: of `yes`, `no` and `direction`; scores, entailed, photo: (N,) of all pairs."""

    shares: Shares
    scores: np.ndarray
    entailed: np.ndarray
    photo: np.ndarray

    def __len__(self) -> int:
        return len(self.shares)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """In percent. yes, no: right answers where that is the right one; accuracy: their mean;
        auc: the area under the ROC curve; direction: of pairs where only one caption entails the
        other, those where score(general, specific) is the higher one."""
        drawn = np.arange(len(self)) if photos is None else photos
        times = np.bincount(drawn, minlength=len(self))[self.photo]
        found = self.shares.metrics(photos)
        accuracy = (found["yes"] + found["no"]) / 2
        return {"accuracy": accuracy, **found, "auc": auc(self.scores, self.entailed, times)}


@lru_cache(maxsize=2)  # dev and test
def gold(split: CaptionSet) -> Pairs:
    """The pairs of a split, the same each time."""
    _, told = stories(split)
    owner, rng = np.array(split.photo_of), Random(0)
    inside = [pair for of_one in split.captions_of for pair in permutations(of_one, 2)]
    pairs = [(a, b) for a, b in inside if told[a].text != told[b].text]
    n = len(pairs)
    for premise, _ in pairs[:n]:
        pairs.append((premise, _elsewhere(premise, owner, told, rng)))
    entailed = [entails(told[a].facts, told[b].facts) for a, b in pairs]
    strict = [
        i < n and yes and not entails(told[b].facts, told[a].facts)
        for i, ((a, b), yes) in enumerate(zip(pairs, entailed, strict=True))
    ]
    premise, hypothesis = np.array(pairs).T
    return Pairs(premise, hypothesis, owner[premise], np.array(entailed), np.array(strict))


def _elsewhere(premise: int, owner: np.ndarray, told: Sequence[Caption], rng: Random) -> int:
    """A caption of another scene with another text."""
    while True:
        drawn = rng.randrange(len(told))
        if owner[drawn] != owner[premise] and told[drawn].text != told[premise].text:
            return drawn


def scored(model: DualEncoder, split: CaptionSet, pairs: Pairs) -> tuple[Tensor, Tensor]:
    """score(hypothesis, premise) and score(premise, hypothesis), (N,) each."""
    captions = model.encode_text([Sentence(c) for c in split.captions])
    premise, hypothesis = (captions[torch.tensor(n)] for n in (pairs.premise, pairs.hypothesis))
    return model.score.pairs(hypothesis, premise), model.score.pairs(premise, hypothesis)


def measure(model: DualEncoder, split: CaptionSet, features: Tensor) -> Judged:
    """All pairs of a split, judged with the threshold of dev."""
    pairs = gold(split)
    forward, backward = scored(model, split, pairs)
    scores = forward.numpy()
    if split.split == "dev":
        threshold = best_threshold(scores, pairs.entailed)
    else:
        dev = storybook.load("dev")
        known = gold(dev)
        threshold = best_threshold(scored(model, dev, known)[0].numpy(), known.entailed)
    yes, strict = pairs.entailed, pairs.strict
    answers = {
        "yes": (pairs.photo[yes], scores[yes] >= threshold),
        "no": (pairs.photo[~yes], scores[~yes] < threshold),
        "direction": (pairs.photo[strict], higher(forward, backward)[strict]),
    }
    return Judged(Shares.of(len(split.photos), answers), scores, pairs.entailed, pairs.photo)


def auc(scores: np.ndarray, entailed: np.ndarray, times: np.ndarray) -> float:
    """Percent of (entailed, other) pairs of pairs where the entailed one scores higher, a tie
    counting half; each of the N counts as often as `times` says."""
    _, place = np.unique(scores, return_inverse=True)
    yes, no = np.bincount(place, times * entailed), np.bincount(place, times * ~entailed)
    below = np.cumsum(no) - no / 2
    return 100 * float((yes * below).sum() / max(yes.sum() * no.sum(), 1))


def evaluate(model: DualEncoder, split: CaptionSet, features: Tensor) -> dict[str, Any]:
    """What `Judged.metrics` tells, ci95 over scenes, n_pairs."""
    found = measure(model, split, features)
    return {**with_intervals(found), "n_pairs": found.shares.questions}
