"""Chains of concepts, captions and a photo (Vendrov 2016, section 1, on Storybook's facts).

A chain of sentences for each scene, each strictly entailed by the next, with the photo at its end:

    An animal. > A bear. > A white bear. > A white bear stands in the forest. > A white bear stands
    in the forest in the rain at sunset. > the photo

Chance is 50 for `direction`, its parts, `any` and `above`, `chance` for `whole` and 0 for `tau`. A
symmetric score is at chance in all but `tau` and `above`, which compare with photos.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from random import Random
from typing import ClassVar

import numpy as np
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data.storybook.concepts import concepts_above
from vsdemo.data.storybook.facts import Facts, entails, facts_of
from vsdemo.data.storybook.realization import Caption
from vsdemo.evaluation.metrics.accuracy import Accuracy, higher
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder

PARTS = ("concepts", "joint", "captions")  # neighbours of which none, one or both are captions


def chain(captions: Sequence[Caption]) -> tuple[tuple[Caption, ...], tuple[Caption, ...]]:
    """Return the concepts and the captions of a scene's chain, each from general to specific.

    The concepts are what the scene's main thing is, the most general first, and with its colour;
    then come as many of the captions, shortest to fullest, as fit before the fullest. Each sentence
    is entailed by the next, but not the other way round. Its words all occur in training captions:
    there is no sentence for concepts without a noun, such as `entity`, and for colours that go
    without saying.
    """
    *shorter, fullest = captions
    concepts = concepts_above(fullest.message.mentions[0])
    for size in range(len(shorter), 0, -1):
        for some in combinations(shorter, size):
            if _descends((*concepts, *some, fullest)):
                return concepts, (*some, fullest)
    return concepts, (fullest,)


def _descends(steps: Sequence[Caption]) -> bool:
    pairs = [(general.facts, specific.facts) for general, specific in pairwise(steps)]
    return all(entails(s, g) and not entails(g, s) for g, s in pairs)


@dataclass(frozen=True)
class Steps:
    """Chains one after the other, each from the general to the specific, N steps in all.

    Args:
        texts: The T different sentences.
        text: (N,) the sentence of each step.
        photo: (N,) the photo of its chain.
        untrue: (N,) a photo that it is not true of, -1 where it is true of all.
        caption: (N,) 1 for a caption of the scene, 0 for a concept.
        upper: (M,) the general step of each pair of steps of a chain.
        lower: (M,) the specific step of each pair.
    """

    texts: tuple[str, ...]
    text: np.ndarray
    photo: np.ndarray
    untrue: np.ndarray
    caption: np.ndarray
    upper: np.ndarray
    lower: np.ndarray


@lru_cache(maxsize=1)
def gold(split: CaptionSet) -> Steps:
    """Return the chains of a split, the same each time."""
    scenes, captions = stories(split)
    truths, rng = [facts_of(scene) for scene in scenes], Random(0)
    rows: dict[str, int] = {}
    text: list[int] = []
    photos: list[int] = []
    untrue: list[int] = []
    is_caption: list[int] = []
    pairs: list[tuple[int, int]] = []
    for photo, own in enumerate(split.captions_of):
        concepts, rest = chain([captions[number] for number in own])
        length = len(concepts) + len(rest)
        pairs += _pairs(len(text), length)
        for number, sentence in enumerate((*concepts, *rest)):
            text.append(rows.setdefault(sentence.text, len(rows)))
            photos.append(photo)
            untrue.append(_untrue(sentence.facts, truths, rng))
            is_caption.append(int(number >= len(concepts)))
    upper, lower = np.array(pairs).T
    return Steps(
        texts=tuple(rows),
        text=np.array(text),
        photo=np.array(photos),
        untrue=np.array(untrue),
        caption=np.array(is_caption),
        upper=upper,
        lower=lower,
    )


def _pairs(start: int, length: int) -> list[tuple[int, int]]:
    """Return all pairs of the steps of a chain, the general one first."""
    return [(start + a, start + b) for a, b in combinations(range(length), 2)]


def _untrue(facts: Facts, truths: Sequence[Facts], rng: Random) -> int:
    """Return a random photo that these facts are not true of; -1 where they are true of all."""
    order = rng.sample(range(len(truths)), len(truths))
    return next((number for number in order if not entails(truths[number], facts)), -1)


@dataclass(frozen=True)
class Chains(PairedTask):
    """The order of concept, caption and photo."""

    name: ClassVar[str] = "chains"
    needs: ClassVar[frozenset[str]] = frozenset({"photos", "storybook"})
    primary: ClassVar[str] = "direction"

    def measure(self, model: DualEncoder, data: PhotoData) -> Accuracy:
        """Return percentages.

        direction: of neighbouring sentences, those where the directed score(general, specific) is
        higher than score(specific, general), and by PARTS; any: of all pairs of a chain; whole:
        chains that are right in all neighbours, a tie counting half; chance: whole by guessing;
        above: sentences that score higher with their own photo than with one that they are not
        true of.

        tau: 100 times the mean over chains of Kendall's tau-b between the depth of a sentence and
        minus its mean score with all photos of the split.
        """
        steps = gold(data.split)
        sentences = model.encode_text([Sentence(text) for text in steps.texts])
        scores = model.score(sentences, model.encode_image(data.features))  # (T, P)
        text = torch.tensor(steps.text)
        upper, lower = torch.tensor(steps.upper), torch.tensor(steps.lower)
        general, specific = sentences[text[upper]], sentences[text[lower]]
        fit = model.score.directed
        right = higher(fit.pairs(general, specific), fit.pairs(specific, general))
        mean_score = scores.mean(1)[text]  # (N,)
        near, owner = steps.lower == steps.upper + 1, steps.photo[steps.upper]
        part = steps.caption[steps.upper] + steps.caption[steps.lower]
        by_part = {name: near & (part == number) for number, name in enumerate(PARTS)}
        has_untrue = steps.untrue >= 0
        own, other = scores[steps.text, steps.photo], scores[steps.text, steps.untrue]
        answers = {"direction": (owner[near], right[near])}
        answers |= {name: (owner[rows], right[rows]) for name, rows in by_part.items()}
        answers["any"] = (owner, right)
        answers |= _by_chain(owner, near, right, higher(mean_score[upper], mean_score[lower]))
        answers["above"] = (steps.photo[has_untrue], higher(own, other)[has_untrue])
        return Accuracy.of(len(data.split.photos), answers)

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return the metrics of `measure`, ci95 over scenes, n_chains, and their mean length."""
        accuracy = self.measure(model, data)
        chains = accuracy.questions["whole"]
        length = 1 + accuracy.questions["direction"] / chains
        return {**with_intervals(accuracy), "n_chains": chains, "length": length}


def _by_chain(
    owner: np.ndarray, near: np.ndarray, right: np.ndarray, wider: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return whole, chance and tau as (photo, value) of each chain, from (M,) of all pairs."""
    chains = np.unique(owner)
    of_each = [owner == photo for photo in chains]
    values = {
        "whole": [right[own & near].prod() for own in of_each],
        "chance": [0.5 ** (own & near).sum() for own in of_each],
        "tau": [tau(wider[own]) for own in of_each],
    }
    return {name: (chains, np.array(of_chains)) for name, of_chains in values.items()}


def tau(right: np.ndarray) -> float:
    """Return Kendall's tau-b of two orders, the first without ties; 0 where all pairs tie.

    `scipy.stats.kendalltau` takes the values themselves, and would not count as ties values that
    differ only by rounding.

    Args:
        right: (M,) of all pairs: 1 where the orders agree, 0 where they do not, 0.5 for a tie.
    """
    signs = 2 * right - 1
    untied = np.count_nonzero(signs)
    return float(signs.sum() / np.sqrt(untied * len(signs))) if untied else 0.0
