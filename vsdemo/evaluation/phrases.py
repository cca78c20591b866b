"""Phrases of captions whose place in the photo is known.

Flickr8k's were marked by people (Flickr30k Entities); Storybook's are known from its scenes.
"""

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
from vsdemo.evaluation.storybook_facts import stories

TYPES = ("person", "animal", "plant", "food", "vehicle", "furniture")  # Storybook's; else "thing"


@dataclass(frozen=True)
class Phrase:
    """A phrase of a caption.

    Args:
        caption: Number of the caption in the split.
        tokens: Tokens of the whole caption as it was annotated.
        words: Numbers of the phrase's own tokens.
        boxes: (B, 4) relative to the photo's size, at least one.
        types: Types of the thing, such as "people".
    """

    caption: int
    tokens: tuple[str, ...]
    words: tuple[int, ...]
    boxes: Tensor
    types: tuple[str, ...]


@lru_cache(maxsize=3)  # test, dev and compositional, for one model after the other
def phrases(split: CaptionSet) -> list[Phrase]:
    """Return the phrases of a split that have a box, photo by photo.

    Raises:
        UserError: The data set has no boxes, or those of Flickr8k are missing.
    """
    if reason := obstacle(split.name):
        raise UserError(reason)
    return _READERS[split.name](split)


def obstacle(name: str) -> str:
    """Return why the phrases of a data set have no boxes; empty if they have."""
    if name not in _READERS:
        return (
            "This needs Flickr8k or Storybook, where it is known which words describe which part "
            f"of a photo, not {name}."
        )
    if name != "flickr8k":
        return ""
    try:
        entities.archive_path()
    except UserError as error:
        return str(error)
    return ""


def _annotated_phrases(split: CaptionSet) -> list[Phrase]:
    result = []
    for photo, annotation in enumerate(entities.read(split.photos)):
        places = entities.match_captions(split.own_captions(photo), annotation.captions)
        for caption, place in zip(split.captions_of[photo], places, strict=True):
            if place is None:
                continue
            for phrase in annotation.phrases[place]:
                if phrase.chain in annotation.boxes:
                    result.append(
                        Phrase(
                            caption=caption,
                            tokens=tuple(annotation.captions[place].split()),
                            words=tuple(range(phrase.first, phrase.first + len(phrase.words))),
                            boxes=annotation.boxes[phrase.chain],
                            types=phrase.types,
                        )
                    )
    return result


def _storybook_phrases(split: CaptionSet) -> list[Phrase]:
    scenes, captions = stories(split)
    result = []
    for number, caption in enumerate(captions):
        for words, group_number in caption.links:
            group = scenes[split.photo_of[number]].groups[group_number]
            concepts = {group.kind, *load_lexicon().ancestors(group.kind)}
            result.append(
                Phrase(
                    caption=number,
                    tokens=caption.tree.words,
                    words=words,
                    boxes=torch.tensor(group.boxes),
                    types=(next((name for name in TYPES if name in concepts), "thing"),),
                )
            )
    return result


def match_words(phrases: Sequence[Phrase], trees: Sequence[Tree]) -> list[frozenset[int]]:
    """Return the numbers of each phrase's words in the tree of its caption.

    The tree may split and spell words differently. A word belongs to the phrase if at least half of
    its letters do; a phrase has no words if less than half of its letters are found.

    Args:
        phrases: The phrases.
        trees: Trees of all captions of the split.
    """
    by_caption = defaultdict(list)
    for number, phrase in enumerate(phrases):
        by_caption[phrase.caption, phrase.tokens].append(number)
    result = [frozenset[int]()] * len(phrases)
    for (caption, tokens), numbers in by_caption.items():
        words = trees[caption].words
        letters = _shared_letters(tokens, words)
        for number in numbers:
            own = phrases[number].words
            counts = Counter(word for token, word in letters if token in own)
            if 2 * counts.total() >= sum(len(tokens[token]) for token in own):
                result[number] = frozenset(w for w, n in counts.items() if 2 * n >= len(words[w]))
    return result


def _shared_letters(tokens: Sequence[str], words: Sequence[str]) -> list[tuple[int, int]]:
    """Return (number of the token, number of the word) of each letter that both texts share."""
    ours = [(i, c) for i, token in enumerate(tokens) for c in token.lower() if not c.isspace()]
    theirs = [(i, c) for i, word in enumerate(words) for c in word.lower() if not c.isspace()]
    our_text = "".join(letter for _, letter in ours)
    their_text = "".join(letter for _, letter in theirs)
    if our_text == their_text:
        return [(our[0], their[0]) for our, their in zip(ours, theirs, strict=True)]
    matcher = SequenceMatcher(isjunk=None, a=our_text, b=their_text, autojunk=False)
    return [
        (ours[block.a + k][0], theirs[block.b + k][0])
        for block in matcher.get_matching_blocks()
        for k in range(block.size)
    ]


_READERS = {  # data set whose phrases have boxes -> function
    "flickr8k": _annotated_phrases,
    "storybook": _storybook_phrases,
}
