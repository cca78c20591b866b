"""Do concept, caption and photo lie in one order? (Vendrov 2016, section 1, on Storybook's facts.)

A chain of sentences for each scene, each strictly entailed by the next, with the photo at its end:

    An animal. > A bear. > A white bear. > A white bear stands in the forest. > A white bear stands
    in the forest in the rain at sunset. > the photo

Chance is 50 for `adjacent`, its parts, `any` and `above`, `chance` for `whole` and 0 for `tau`. A
symmetric score is at chance in all but `tau` and `above`, which ask of photos.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data.storybook.facts import Facts, Thing, entails, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.realization import Caption, Mention, Message, realize
from vsdemo.evaluation.metrics.accuracy import Shares, higher
from vsdemo.evaluation.metrics.ranks import with_intervals
from vsdemo.evaluation.tasks.storybook_facts import stories
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "adjacent"
PARTS = ("concepts", "joint", "captions")  # neighbours of which none, one or both are captions


def chain(captions: Sequence[Caption]) -> tuple[tuple[Caption, ...], tuple[Caption, ...]]:
    """(concepts, captions) of a scene: what its main thing is, the most general first, and with
    its colour; then as many of its captions, shortest to fullest, as fit before the fullest. Each
    is entailed by the next, but not the other way round.

    Training captions know all the words: there is no sentence for concepts without a noun, such
    as `entity`, and for colours that go without saying.
    """
    *shorter, fullest = captions
    concepts = _concepts(fullest.message.mentions[0])
    return concepts, next(
        (*some, fullest)
        for size in range(len(shorter), -1, -1)
        for some in combinations(shorter, size)
        if _descends((*concepts, *some, fullest))
    )


def _concepts(main: Mention) -> tuple[Caption, ...]:
    """Of three small brown dogs "Animals.", "Dogs.", "Brown dogs.", told as a caption is."""
    words, thing = load_lexicon(), main.thing
    told = [(concept, None) for concept in (*reversed(words.hypernyms(thing.what)), thing.what)]
    told += [(thing.what, thing.colour)] if thing.colour else []
    return tuple(realize(Message((_mention(main, *one),))) for one in told)


def _mention(main: Mention, concept: str, colour: str | None) -> Mention:
    """The same group as a concept in its usual noun; without the number of several."""
    found = load_lexicon().concepts[concept]
    several = main.thing.count > 1 and not found.mass
    thing = Thing(concept, 2 if several else 1, colour)
    return Mention(main.group, thing, found.nouns[0], vague=several)


def _descends(steps: Sequence[Caption]) -> bool:
    pairs = [(general.facts, specific.facts) for general, specific in pairwise(steps)]
    return all(entails(s, g) and not entails(g, s) for g, s in pairs)


@dataclass(frozen=True)
class Steps:
    """Chains one after the other, each from the general to the specific.

    texts: the T different sentences. text: (N,) the row of each step; photo: (N,) its chain's;
    untrue: (N,) one drawn of those that it is not true of, -1 where there is none; caption: (N,) 1
    for a caption of the scene, 0 for a concept. upper, lower: (M,) the steps of all pairs.
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
    """The chains of a split, the same each time."""
    scenes, captions = stories(split)
    truths, rng = [facts_of(scene) for scene in scenes], Random(0)
    rows: dict[str, int] = {}
    steps, pairs = [], []
    for photo, own in enumerate(split.captions_of):
        concepts, told = chain([captions[n] for n in own])
        length = len(concepts) + len(told)
        pairs += combinations(range(len(steps), len(steps) + length), 2)
        for number, one in enumerate((*concepts, *told)):
            row = rows.setdefault(one.text, len(rows))
            untrue = _untrue(one.facts, truths, rng)
            steps.append((row, photo, untrue, number >= len(concepts)))
    return Steps(tuple(rows), *np.array(steps).T, *np.array(pairs).T)


def _untrue(facts: Facts, truths: Sequence[Facts], rng: Random) -> int:
    """A photo drawn of those that these facts are not true of; -1 where they are true of all."""
    order = rng.sample(range(len(truths)), len(truths))
    return next((n for n in order if not entails(truths[n], facts)), -1)


def measure(model: DualEncoder, split: CaptionSet, features: Tensor) -> Shares:
    """In percent. adjacent: of neighbouring sentences, those where score(general, specific) is
    higher than score(specific, general), and by PARTS; any: of all pairs of a chain; whole: chains
    that are right in all neighbours, each tie by the toss of a coin; chance: those by tosses only;
    above: sentences that score higher with their own photo than with one that they are not true of.

    tau: 100 times the mean over chains of Kendall's tau-b of depth and of how little a sentence
    scores with all photos of the split on average.
    """
    steps = gold(split)
    points = model.encode_text([Sentence(text) for text in steps.texts])
    fits = model.score(points, model.encode_image(features))  # (T, P)
    text, upper, lower = (torch.tensor(n) for n in (steps.text, steps.upper, steps.lower))
    general, specific = points[text[upper]], points[text[lower]]
    right = higher(model.score.pairs(general, specific), model.score.pairs(specific, general))
    width = fits.mean(1)[text]  # (N,)
    near, owner = steps.lower == steps.upper + 1, steps.photo[steps.upper]
    part = steps.caption[steps.upper] + steps.caption[steps.lower]
    among = {name: near & (part == i) for i, name in enumerate(PARTS)}
    asked = steps.untrue >= 0
    own, other = (fits[steps.text, photo] for photo in (steps.photo, steps.untrue))
    answers = {
        "adjacent": (owner[near], right[near]),
        **{name: (owner[these], right[these]) for name, these in among.items()},
        "any": (owner, right),
        **_by_chain(owner, near, right, higher(width[upper], width[lower])),
        "above": (steps.photo[asked], higher(own, other)[asked]),
    }
    return Shares.of(len(split.photos), answers)


def _by_chain(
    owner: np.ndarray, near: np.ndarray, right: np.ndarray, wider: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """whole, chance and tau: (photo, value) of each chain, from (M,) of all pairs."""
    chains = np.unique(owner)
    of_each = [owner == photo for photo in chains]
    found = {
        "whole": [right[mine & near].prod() for mine in of_each],
        "chance": [0.5 ** (mine & near).sum() for mine in of_each],
        "tau": [tau(wider[mine]) for mine in of_each],
    }
    return {name: (chains, np.array(values)) for name, values in found.items()}


def tau(right: np.ndarray) -> float:
    """Kendall's tau-b of two orders, of which the first has no ties, from all pairs: (M,) 1 where
    they agree, 0 where they do not, one half for a tie. 0 where all tie."""
    signs = 2 * right - 1
    told = np.count_nonzero(signs)
    return float(signs.sum() / np.sqrt(told * len(signs))) if told else 0.0


def evaluate(model: DualEncoder, split: CaptionSet, features: Tensor) -> dict[str, Any]:
    """What `measure` tells, ci95 over scenes, n_chains, and their mean length in sentences."""
    found = measure(model, split, features)
    chains = found.questions["whole"]
    length = 1 + found.questions["adjacent"] / chains
    return {**with_intervals(found), "n_chains": chains, "length": length}
