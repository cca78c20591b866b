"""A Storybook of a few scenes, and two models: an oracle that knows all facts, a bag of words."""

from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace

import torch

from tests.support.storybook_scenes import random_scene
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.data import storybook
from vsdemo.data.storybook.facts import Facts, entails, facts_of
from vsdemo.data.storybook.variants import variants_of
from vsdemo.data.text.vocab import tokenize
from vsdemo.evaluation import phrases, storybook_facts
from vsdemo.evaluation.tasks import (
    active_passive,
    caption_detail,
    chains,
    compositional,
    entailment,
    truth,
    twins,
)
from vsdemo.models.scores import Cosine, OrderViolation

SCENES = 30
SPLITS = {"dev": 1000, "test": 2000, "compositional": 3000}  # the first scene of each


@cache
def scenes(split: str):
    return tuple(random_scene(SPLITS[split] + i) for i in range(SCENES))


def load(split: str) -> CaptionSet:
    texts = [[c.text for c in storybook.captions_of(scene)] for scene in storybook.scenes(split)]
    return CaptionSet(
        "storybook",
        split,
        tuple(f"{i}.png" for i in range(len(texts))),
        tuple(text for five in texts for text in five),
        tuple(i for i, five in enumerate(texts) for _ in five),
    )


def features(split: CaptionSet) -> torch.Tensor:
    """Return a different number for each picture of any split, (P, 1)."""
    return SPLITS[split.split] + torch.arange(len(split.photos), dtype=torch.float)[:, None]


class Truth(OrderViolation):
    """1 if the specific entails the general, else 0; embeddings are indices of facts."""

    def __init__(self, facts) -> None:
        self.facts = facts

    def __call__(self, general, specific):
        return torch.tensor([[self._one(g, s) for s in specific.x[:, 0]] for g in general.x[:, 0]])

    def pairs(self, general, specific):
        rows = zip(general.x[:, 0], specific.x[:, 0], strict=True)
        return torch.tensor([self._one(g, s) for g, s in rows])

    def _one(self, general, specific) -> float:
        return float(entails(self.facts[int(specific)], self.facts[int(general)]))


@cache
def oracle() -> SimpleNamespace:
    """Return a model that knows the facts of every sentence and picture of the tasks.

    It knows no fact of a sentence with typos.
    """
    facts, known = {-1: Facts(())}, {}
    for name, first in SPLITS.items():
        for number, scene in enumerate(scenes(name), first):
            facts[number] = facts_of(scene)
            for caption in storybook.captions_of(scene):
                others = [*vars(variants_of(caption, scene)).values()]
                others += compositional.false_captions(
                    caption, scene, held_out=name == "compositional"
                ).values()
                others += chains.chain(storybook.captions_of(scene))[0]
                for variant in (caption, *filter(None, others)):
                    facts[known.setdefault(variant.text, -2 - len(known))] = variant.facts
    return SimpleNamespace(
        device="cpu",
        score=Truth(facts),
        text=SimpleNamespace(needs=frozenset({"words"})),
        encode_text=lambda s: Embeddings(torch.tensor([known.get(x.text, -1) for x in s])[:, None]),
        encode_image=lambda numbers: Embeddings(numbers.long()),
    )


def bag() -> SimpleNamespace:
    """Return a model with the cosine of word counts; a picture is the words of its captions."""
    columns: dict[str, int] = {}

    def count(text: str) -> torch.Tensor:
        row = torch.zeros(1000)
        for word in tokenize(text):
            row[columns.setdefault(word, len(columns))] += 1
        return row

    def texts(rows: Sequence[str]) -> Embeddings:
        return Embeddings(torch.stack([count(text) for text in rows]))

    pictures = {
        number: " ".join(caption.text for caption in storybook.captions_of(scene))
        for name, first in SPLITS.items()
        for number, scene in enumerate(storybook.scenes(name), first)
    }
    return SimpleNamespace(
        device="cpu",
        score=Cosine(),
        text=SimpleNamespace(needs=frozenset({"words"})),
        encode_text=lambda sentences: texts([s.text for s in sentences]),
        encode_image=lambda numbers: texts([pictures[int(n)] for n in numbers[:, 0]]),
    )


def clear_caches() -> None:
    """Clear the results that tasks computed from other scenes of the same name."""
    for cached in (
        storybook_facts.stories,
        storybook_facts.twins_of_nothing,
        phrases.phrases,
        active_passive.questions,
        caption_detail.possible_ranks,
        chains.gold,
        compositional.choices,
        entailment.gold,
        truth.truth_of_captions,
        truth.truth_of_typed,
        twins.pairs,
    ):
        cached.cache_clear()
