"""Whether what a phrase names is in a photo, by its score with the best region.

True phrases are those of a photo's captions. Each of them is compared with another photo, no
caption of which has any of its nouns, so that what it names is most probably not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.alignment import WHOLE
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.inflection import singular
from vsdemo.data.text.noun_phrases import NOUNS
from vsdemo.data.text.sentences import DEP_TREE, add_trees
from vsdemo.models.dual_encoder import DualEncoder

KEPT = 0.87  # share of true phrases whose scores are above the limit; a little more than needed
ATTEMPTS = 50  # to draw a photo without the nouns of a phrase
BLOCK = 1024  # phrases at once


@dataclass(frozen=True)
class NamedThings:
    """N phrases with nouns.

    Attributes:
        caption: (N,) which caption each is of.
        fragment: (N,) its number among the fragments of that caption.
        own: (N,) the photo of the caption.
        other: (N,) a photo without what the phrase names.
    """

    caption: Tensor
    fragment: Tensor
    own: Tensor
    other: Tensor

    def __len__(self) -> int:
        """Return N."""
        return len(self.caption)


@dataclass(frozen=True)
class Presence:
    """The scores of phrases with the best regions of photos.

    Attributes:
        things: The phrases.
        own: (N,) with the photo of their caption.
        other: (N,) with the photo that lacks what they name.
    """

    things: NamedThings
    own: Tensor
    other: Tensor

    def limit(self) -> float:
        """Return the score from which a region shows a phrase, so that KEPT of those do.

        It is 0 without phrases.
        """
        return float(self.own.quantile(1 - KEPT)) if len(self.own) else 0.0


def measure(
    model: DualEncoder,
    split: CaptionSet,
    captions: Embeddings,
    photos: Embeddings,
    seed: int = 0,
) -> Presence:
    """Return the scores of the phrases of a split.

    Args:
        model: Aligns fragments with regions.
        split: Photos with captions, of two photos at least.
        captions: The embeddings of the captions.
        photos: Those of the photos.
        seed: Of the other photos.
    """
    sentences = add_trees([Sentence(text) for text in split.captions], DEP_TREE)
    things = _named_things(model, split, sentences, np.random.default_rng(seed))
    phrases = captions.x[things.caption, things.fragment]
    scores = []
    for photo in (things.own, things.other):
        blocks = zip(phrases.split(BLOCK), photo.split(BLOCK), strict=True)
        scores.append(torch.cat([_best(model, block, photos[rows]) for block, rows in blocks]))
    return Presence(things, *scores)


def _best(model: DualEncoder, phrases: Tensor, photos: Embeddings) -> Tensor:
    """Return the scores of phrases (N, D) with the best regions of N photos, (N,)."""
    one = Embeddings(phrases[:, None], phrases.new_ones(len(phrases), 1, dtype=torch.bool))
    aligned = model.score.align_pairs(one, photos)[:, 0]  # (N, K)
    assert photos.mask is not None
    return aligned.masked_fill(~photos.mask, -torch.inf).amax(-1)


def _named_things(
    model: DualEncoder, split: CaptionSet, sentences: Sequence[Sentence], draw: np.random.Generator
) -> NamedThings:
    """Return the phrases with nouns that some other photo lacks."""
    encoder: Any = model.text
    trees = [cast(Tree, sentence.tree) for sentence in sentences]
    shown: list[set[str]] = [set() for _ in split.photos]
    for tree, photo in zip(trees, split.photo_of, strict=True):
        shown[photo] |= _nouns(tree, range(len(tree.words)))
    rows = []
    for caption, (sentence, photo) in enumerate(zip(sentences, split.photo_of, strict=True)):
        for number, fragment in enumerate(encoder.fragments(sentence)):
            nouns = _nouns(trees[caption], fragment.words)
            if fragment.relation == WHOLE or not nouns:
                continue
            for other in draw.integers(len(shown), size=ATTEMPTS).tolist():
                if shown[other] and not shown[other] & nouns:
                    rows.append((caption, number, photo, other))
                    break
    return NamedThings(*torch.tensor(rows, dtype=torch.long).reshape(-1, 4).unbind(1))


def _nouns(tree: Tree, words: Sequence[int]) -> set[str]:
    """Return the nouns among some words, in the singular."""
    tags = tree.tags or ("",) * len(tree.words)
    return {singular(tree.words[i].lower()) for i in words if tags[i] in NOUNS}
