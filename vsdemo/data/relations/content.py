"""The content words of texts, to distinguish what may follow from what certainly does not.

A general text asks for words; a specific one offers words: its own, those above its nouns in
WordNet, and those that other captions of the same photos often use, such as "jacket" for "coat". If
a specific text offers all the words that a general one asks for, this may follow.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_matrix

from vsdemo.core.sentences import Tree
from vsdemo.data.relations.caption_nouns import CaptionNouns
from vsdemo.data.relations.caption_words import NO_THINGS
from vsdemo.data.text.inflection import NUMBERS, stem
from vsdemo.data.text.vocab import tokenize

CONTENT = {"NOUN", "PROPN", "VERB", "ADJ", "NUM"}
LIFT = 4.0  # how much more often than usual another caption of the photo uses the other word
SHARE = 0.03  # least share of the photos with one word whose other captions have the other
TOGETHER = 3  # least number of such photos


def incidence(rows: Sequence[Iterable[int]], columns: int) -> csr_matrix:
    """Return a matrix of ones at the given columns of each row, (R, columns)."""
    lists = [sorted(set(row)) for row in rows]
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    indices = np.fromiter((c for row in lists for c in row), np.int32, int(counts.sum()))
    starts = np.concatenate([[0], np.cumsum(counts)])
    return csr_matrix(
        (np.ones(len(indices), np.float32), indices, starts), shape=(len(lists), columns)
    )


class Content:
    """The content words of captions and of what is more general.

    A unit is a word of a text, two words that are one noun, or the noun of a concept phrase.

    Args:
        nouns: Nouns of the captions.
        trees: Trees of the captions.
        captions: The C captions.
        photo_of: For each caption its photo.
    """

    def __init__(
        self,
        nouns: CaptionNouns,
        trees: Sequence[Tree],
        captions: Sequence[str],
        photo_of: Sequence[int],
    ) -> None:
        self._nouns = nouns
        tags: dict[str, Counter[str]] = {}
        for tree in trees:
            for form, tag in zip(tree.words, tree.tags, strict=False):
                for word in tokenize(form):
                    tags.setdefault(word, Counter())[tag] += 1
        self._tag = {word: counts.most_common(1)[0][0] for word, counts in tags.items()}
        self._units: dict[str, int] = {}
        self._features: dict[str, int] = {}
        self._asked: list[list[int]] = []  # features of each unit
        self._offered: list[list[int]] = []
        rows = [self.units(caption) for caption in captions]
        self._near = self._beside(rows, photo_of)

    def units(self, text: str) -> list[int]:
        """Return the units of a text."""
        words = tokenize(text)
        result = [self._unit(word, [word]) for word in words if self._tag.get(word) in CONTENT]
        for pair in itertools.pairwise(words):
            if self._nouns.noun(pair) in self._nouns.senses:
                result.append(self._unit(" ".join(pair), pair))
        return result

    def concept(self, noun: str) -> list[int]:
        """Return the unit of a concept's noun."""
        name = f"concept {noun}"
        if name not in self._units:
            self._units[name] = len(self._units)
            self._asked.append([self._feature(f"noun {noun}")])
            self._offered.append([self._feature(f"noun {n}") for n in self._nouns.meanings(noun)])
        return [self._units[name]]

    def _feature(self, name: str) -> int:
        return self._features.setdefault(name, len(self._features))

    def _unit(self, name: str, words: Sequence[str]) -> int:
        if name in self._units:
            return self._units[name]
        self._units[name] = len(self._units)
        noun = self._nouns.noun(words)
        offered = {f"noun {meaning}" for meaning in self._nouns.meanings(noun)}
        asked = ""
        if len(words) == 1:
            word = NUMBERS.get(words[0], words[0])
            offered.add(f"word {stem(word)}")
            asked = f"noun {noun}" if self._tag[words[0]] == "NOUN" else f"word {stem(word)}"
        is_asked = asked and noun not in NO_THINGS
        self._asked.append([self._feature(asked)] if is_asked else [])
        self._offered.append([self._feature(feature) for feature in sorted(offered)])
        return self._units[name]

    def _beside(self, rows: Sequence[Sequence[int]], photo_of: Sequence[int]) -> csr_matrix:
        """Return for each feature those that other captions of the same photos have, (F, F)."""
        asked = incidence(self._asked, len(self._features))
        has = incidence(rows, len(self._units)) @ asked  # (C, F)
        has.data[:] = 1
        owner = np.asarray(photo_of, np.int64)
        photos = int(owner.max(initial=-1)) + 1
        of_photo = csr_matrix(
            (np.ones(len(owner), np.float32), (owner, np.arange(len(owner)))),
            shape=(photos, len(owner)),
        )
        total = (of_photo @ has).tocsr()
        shown = total.copy()
        shown.data[:] = 1
        often = total.copy()
        often.data = (often.data > 1).astype(np.float32)
        often.eliminate_zeros()
        # Pairs of different words of one photo, minus those that occur only within one caption.
        together = (shown.T @ shown - _within(has, of_photo, total)).tocoo()
        photos_with = np.asarray(shown.sum(0)).ravel()
        share = together.data / photos_with[together.row]
        usual = photos_with[together.col] / max(photos, 1)
        near = (together.data >= TOGETHER) & (share >= SHARE) & (share >= LIFT * usual)
        return csr_matrix(
            (
                np.ones(int(near.sum()), np.float32),
                (together.row[near], together.col[near]),
            ),
            shape=together.shape,
        )

    def tables(self) -> tuple[csr_matrix, csr_matrix]:
        """Return what each of the U units asks for and offers, (U, F) each."""
        features = len(self._features)
        asked, offered = incidence(self._asked, features), incidence(self._offered, features)
        near = csr_matrix(self._near)
        near.resize((features, features))
        both = (offered + asked @ near).tocsr()
        both.data[:] = 1
        return asked, both


def _within(has: csr_matrix, of_photo: csr_matrix, total: csr_matrix) -> csr_matrix:
    """Return in how many photos two features occur only together in one caption, (F, F)."""
    alone = total.copy()
    alone.data = (alone.data == 1).astype(np.float32)
    alone.eliminate_zeros()  # features that one caption of a photo has
    single = has.multiply(of_photo.T @ alone).tocsr()  # (C, F)
    single.eliminate_zeros()
    return csr_matrix(single.T @ single)
