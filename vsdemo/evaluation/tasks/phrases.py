"""Phrases of captions of which is known where in the photo they are: Flickr8k's, which people
marked (Flickr30k Entities), and Storybook's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree
from vsdemo.data.datasets import entities
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.evaluation.tasks.storybook_facts import stories

TYPES = ("person", "animal", "plant", "food", "vehicle", "furniture")  # Storybook's; else "thing"


@dataclass(frozen=True)
class Phrase:
    """caption: its number in the split. tokens: of the whole caption as it was annotated. words:
    the numbers of the phrase's own among them. boxes: (B, 4) in shares, at least one. types: such
    as people."""

    caption: int
    tokens: tuple[str, ...]
    words: tuple[int, ...]
    boxes: Tensor
    types: tuple[str, ...]


@lru_cache(maxsize=3)  # test, dev and compositional, for one model after the other
def phrases(split: CaptionSet) -> list[Phrase]:
    """Those with a box, photo by photo.

    Raises UserError for a data set without boxes, and when those of Flickr8k's are missing.
    """
    found = {"flickr8k": _marked, "storybook": _told}
    if split.name not in found:
        raise UserError(
            f"This task needs Flickr8k or Storybook, where it is known which words speak of which "
            f"part of a photo, not {split.name}."
        )
    return found[split.name](split)


def _marked(split: CaptionSet) -> list[Phrase]:
    rows = []
    for photo, known in enumerate(entities.read(split.photos)):
        for caption, place in zip(
            split.captions_of[photo],
            entities.match_captions(split.own_captions(photo), known.captions),
            strict=True,
        ):
            for phrase in () if place is None else known.phrases[place]:
                if phrase.chain in known.boxes:
                    tokens = tuple(known.captions[place].split())
                    words = tuple(range(phrase.first, phrase.first + len(phrase.words)))
                    boxes = known.boxes[phrase.chain]
                    rows.append(Phrase(caption, tokens, words, boxes, phrase.types))
    return rows


def _told(split: CaptionSet) -> list[Phrase]:
    scenes, captions = stories(split)
    rows = []
    for number, caption in enumerate(captions):
        for words, group in caption.links:
            found = scenes[split.photo_of[number]].groups[group]
            above = {found.kind, *load_lexicon().above(found.kind)}
            kind = next((name for name in TYPES if name in above), "thing")
            boxes = torch.tensor(found.boxes)
            rows.append(Phrase(number, caption.tree.words, words, boxes, (kind,)))
    return rows


def placed(asked: Sequence[Phrase], trees: Sequence[Tree]) -> list[frozenset[int]]:
    """The numbers of each phrase's words in the tree (by caption number) of its caption, which may
    cut words elsewhere and spell them another way.

    A word is the phrase's where at least half of its letters are; () where less than half of the
    phrase's letters are found.
    """
    by_caption = defaultdict(list)
    for number, phrase in enumerate(asked):
        by_caption[phrase.caption, phrase.tokens].append(number)
    found = [frozenset[int]()] * len(asked)
    for (caption, tokens), numbers in by_caption.items():
        words = trees[caption].words
        letters = _shared(tokens, words)
        for number in numbers:
            own = asked[number].words
            hits = Counter(word for token, word in letters if token in own)
            if 2 * hits.total() >= sum(len(tokens[token]) for token in own):
                found[number] = frozenset(w for w, n in hits.items() if 2 * n >= len(words[w]))
    return found


def _shared(tokens: Sequence[str], words: Sequence[str]) -> list[tuple[int, int]]:
    """(number of the token, number of the word) of each letter that both texts have in turn."""
    ours = [(i, c) for i, token in enumerate(tokens) for c in token.lower() if not c.isspace()]
    theirs = [(i, c) for i, word in enumerate(words) for c in word.lower() if not c.isspace()]
    a, b = ("".join(c for _, c in text) for text in (ours, theirs))
    blocks = [(0, 0, len(a))]
    if a != b:
        blocks = [tuple(m) for m in SequenceMatcher(None, a, b, False).get_matching_blocks()]
    return [(ours[i + k][0], theirs[j + k][0]) for i, j, n in blocks for k in range(n)]
