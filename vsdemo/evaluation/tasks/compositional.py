"""Combinations never seen in training though each part was: a kind of thing in a colour.

Storybook's split `compositional` holds them; any other split is the same for those that were seen,
with a gallery of the same size. `t2i`: R@1, R@10 and mean rank of the photo. `colour` and `kind`:
share of captions that the photo prefers to the same caption with another colour, or another thing,
which makes it false; the wrong combination is always one that training sees, so that a model that
has learnt combinations by heart falls below 50. Only captions that name both thing and colour ask;
in `compositional` only for a combination that is held out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data.storybook.facts import entails, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.pictures import colour_held_out
from vsdemo.data.storybook.realization import Caption, Mention, realize
from vsdemo.data.storybook.scene import Scene
from vsdemo.evaluation.metrics.accuracy import Shares, higher
from vsdemo.evaluation.metrics.ranks import with_intervals
from vsdemo.evaluation.tasks.retrieval import Ranks, encode, ranks
from vsdemo.evaluation.tasks.storybook_facts import stories
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "colour"
KEPT = ("r1", "r10", "meanr")


@dataclass(frozen=True)
class Composed:
    """The forced choices and the ranks of a split."""

    shares: Shares
    ranks: Ranks

    def __len__(self) -> int:
        return len(self.shares)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """colour and kind in percent; t2i: r1, r10, meanr."""
        t2i = self.ranks.metrics(photos)["t2i"]
        return {**self.shares.metrics(photos), "t2i": {k: t2i[k] for k in KEPT}}


def wrong(caption: Caption, scene: Scene, held_out: bool) -> dict[str, Caption]:
    """colour, kind -> the caption with a wrong one, where there is one to be had.

    held_out: of a combination that is held out from training, else of one that is not.
    """
    rng, found = Random(caption.text), {}
    for place, mention in enumerate(caption.message.mentions):
        kind, colour = scene.groups[mention.group].kind, mention.thing.colour
        exact = mention.thing.what == load_lexicon().spoken(kind)
        if colour and exact and colour_held_out(kind, colour) == held_out:
            for name, others in (("colour", _colours), ("kind", _kinds)):
                if other := _false(caption, scene, place, others(mention, kind), rng):
                    found.setdefault(name, other)
    return found


def _colours(mention: Mention, kind: str) -> list[Mention]:
    """A mention in the other colours that training sees its kind in."""
    known = load_lexicon().kinds[kind]
    colours = {*known.colours, *known.also} - {mention.thing.colour}
    return [
        replace(mention, thing=replace(mention.thing, colour=colour))
        for colour in sorted(colours)
        if not colour_held_out(kind, colour)
    ]


def _kinds(mention: Mention, kind: str) -> list[Mention]:
    """A mention of other kinds below the nearest concept above that training sees in its colour."""
    words, colour = load_lexicon(), mention.thing.colour or ""
    return [
        replace(
            mention, thing=replace(mention.thing, what=what), noun=words.concepts[what].nouns[0]
        )
        for name, known in words.kinds.items()
        if words.hypernyms(name)[:1] == words.hypernyms(kind)[:1]
        and (what := words.spoken(name))
        and colour in (*known.colours, *known.also)
        and not colour_held_out(name, colour)
    ]


def _false(
    caption: Caption, scene: Scene, place: int, others: list[Mention], rng: Random
) -> Caption | None:
    """The caption with the mention at `place` replaced by one of others, by lot, that makes it
    false."""
    truth, mentions = facts_of(scene), caption.message.mentions
    rng.shuffle(others)
    for other in others:
        told = realize(
            replace(caption.message, mentions=(*mentions[:place], other, *mentions[place + 1 :]))
        )
        if not entails(truth, told.facts):
            return told
    return None


@lru_cache(maxsize=2)  # test and compositional
def choices(split: CaptionSet) -> dict[str, list[tuple[int, str]]]:
    """colour, kind -> (caption number, the wrong caption) of all that ask."""
    scenes, told = stories(split)
    found: dict[str, list[tuple[int, str]]] = {"colour": [], "kind": []}
    for number, caption in enumerate(told):
        scene = scenes[split.photo_of[number]]
        for name, other in wrong(caption, scene, split.split == "compositional").items():
            found[name].append((number, other.text))
    return found


def measure(model: DualEncoder, split: CaptionSet, features: Tensor) -> Composed:
    """Ranks of all captions, and the forced choices."""
    captions, photos, owner = encode(model, split, features)
    answers = {}
    for name, rows in choices(split).items():
        number = torch.tensor([row[0] for row in rows], dtype=torch.long)
        false, own = model.encode_text([Sentence(text) for _, text in rows]), photos[owner[number]]
        true = model.score.pairs(captions[number], own)
        answers[name] = (owner[number].numpy(), higher(true, model.score.pairs(false, own)))
    found = ranks(model, captions, photos, owner)
    return Composed(Shares.of(len(split.photos), answers), found)


def evaluate(model: DualEncoder, split: CaptionSet, features: Tensor) -> dict[str, Any]:
    """colour, kind, t2i; n_images, n_captions of the choices, ci95 over scenes."""
    found = measure(model, split, features)
    sizes = {"n_images": len(found), "n_captions": found.shares.questions}
    return {**with_intervals(found), **sizes}
