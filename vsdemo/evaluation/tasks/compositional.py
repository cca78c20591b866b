"""Combinations never seen in training though each part was: a kind of thing in a colour.

Storybook's split `compositional` holds them; any other split tests combinations that were seen,
with a gallery of the same size. `t2i`: R@1, R@10 and mean rank of the photo. `colour` and `kind`:
share of captions that the photo prefers to the same caption with another colour, or another thing,
which makes it false; the wrong combination is always one that training sees, so that a model that
has memorised combinations falls below 50. Only captions that name both thing and colour are used,
and in `compositional` only combinations that are held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, ClassVar

import numpy as np
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data.storybook.facts import facts_of
from vsdemo.data.storybook.false_twins import first_false, recoloured, renamed, with_mention
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.pictures import colour_held_out
from vsdemo.data.storybook.realization import Caption, Mention
from vsdemo.data.storybook.scene import Scene
from vsdemo.evaluation.metrics import retrieval
from vsdemo.evaluation.metrics.accuracy import Accuracy, higher
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.metrics.retrieval import Ranks
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder

KEPT = ("r1", "r10", "meanr")


@dataclass(frozen=True)
class Composition:
    """The forced choices and the ranks of a split."""

    accuracy: Accuracy
    ranks: Ranks

    def __len__(self) -> int:
        return len(self.accuracy)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """Return colour and kind in percent, and t2i with r1, r10 and meanr."""
        t2i = self.ranks.metrics(photos)["t2i"]
        return {**self.accuracy.metrics(photos), "t2i": {key: t2i[key] for key in KEPT}}


def false_captions(caption: Caption, scene: Scene, *, held_out: bool) -> dict[str, Caption]:
    """Return a caption with a wrong colour and one with a wrong kind, where they exist.

    Args:
        caption: A true caption.
        scene: Its scene.
        held_out: Whether to ask about combinations held out from training, or about the others.
    """
    rng = Random(caption.text)
    result: dict[str, Caption] = {}
    for place, mention in enumerate(caption.message.mentions):
        kind, colour = scene.groups[mention.group].kind, mention.thing.colour
        exact = mention.thing.concept == load_lexicon().named_concept(kind)
        if colour and exact and colour_held_out(kind, colour) == held_out:
            alternatives = {"colour": _other_colours, "kind": _other_kinds}
            for name, others_of in alternatives.items():
                others = others_of(mention, kind)
                if false := _falsify(caption, scene, place, others, rng):
                    result.setdefault(name, false)
    return result


def _other_colours(mention: Mention, kind: str) -> list[Mention]:
    """Return a mention in the other colours that training shows its kind in."""
    known = load_lexicon().kinds[kind]
    colours = {*known.colours, *known.extra_colours} - {mention.thing.colour}
    return [
        recoloured(mention, colour)
        for colour in sorted(colours)
        if not colour_held_out(kind, colour)
    ]


def _other_kinds(mention: Mention, kind: str) -> list[Mention]:
    """Return a mention of sibling kinds that training shows in its colour."""
    words, colour = load_lexicon(), mention.thing.colour or ""
    result = []
    for name, known in words.kinds.items():
        what = words.named_concept(name)
        is_sibling = words.hypernyms(name)[:1] == words.hypernyms(kind)[:1]
        is_seen = colour in (*known.colours, *known.extra_colours) and not colour_held_out(
            name, colour
        )
        if is_sibling and what and is_seen:
            result.append(renamed(mention, what))
    return result


def _falsify(
    caption: Caption, scene: Scene, place: int, others: list[Mention], rng: Random
) -> Caption | None:
    """Return the caption with another mention at `place`, drawn at random, that makes it false."""
    rng.shuffle(others)
    changed = (with_mention(caption.message, place, other) for other in others)
    return first_false(changed, facts_of(scene))


@lru_cache(maxsize=2)  # test and compositional
def choices(split: CaptionSet) -> dict[str, list[tuple[int, str]]]:
    """Return colour and kind -> (caption number, false caption) of all questions."""
    scenes, captions = stories(split)
    held_out = split.split == "compositional"
    result: dict[str, list[tuple[int, str]]] = {"colour": [], "kind": []}
    for number, caption in enumerate(captions):
        scene = scenes[split.photo_of[number]]
        for name, false in false_captions(caption, scene, held_out=held_out).items():
            result[name].append((number, false.text))
    return result


@dataclass(frozen=True)
class Compositional(PairedTask):
    """Accuracy and ranks on combinations of a kind and a colour."""

    name: ClassVar[str] = "compositional"
    needs: ClassVar[frozenset[str]] = frozenset({"photos", "storybook"})
    primary: ClassVar[str] = "colour"

    def measure(self, model: DualEncoder, data: PhotoData) -> Composition:
        """Return the forced choices, and the ranks of all captions."""
        captions, photos, owner = retrieval.encode(model, data.split, data.features)
        answers = {}
        for name, rows in choices(data.split).items():
            number = torch.tensor([row[0] for row in rows], dtype=torch.long)
            false_caption = model.encode_text([Sentence(text) for _, text in rows])
            own = photos[owner[number]]
            true = model.score.pairs(captions[number], own)
            false = model.score.pairs(false_caption, own)
            answers[name] = (owner[number].numpy(), higher(true, false))
        return Composition(
            accuracy=Accuracy.of(len(data.split.photos), answers),
            ranks=retrieval.ranks(model, captions, photos, owner),
        )

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return colour, kind, t2i, n_images, n_captions of the choices, and ci95 over scenes."""
        composition = self.measure(model, data)
        sizes = {"n_images": len(composition), "n_captions": composition.accuracy.questions}
        return {**with_intervals(composition), **sizes}
