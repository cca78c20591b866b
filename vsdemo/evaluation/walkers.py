"""Walkers through the texts and photos of a split: a model, or a rule to compare it with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch.nn.functional as F
from scipy.sparse import csr_array

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import tokenize
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.worlds import World, hierarchy_of
from vsdemo.hierarchy.order import CAPTION, PHOTO, Hierarchy
from vsdemo.hierarchy.walks import climb, descend
from vsdemo.models.dual_encoder import DualEncoder


class Walker(Protocol):
    """Walks up from photos and down from texts. Texts are numbers of a `World`."""

    def up(self, photo: int) -> list[int]:
        """Return the texts on the walk up from a photo, the lowest first."""

    def down(self, text: int) -> tuple[list[int], int | None]:
        """Return the texts on the walk down from a text, and the photo at its end if there is one.

        The walk ends at a text if nothing is below it.
        """

    def below(self, text: int) -> list[int]:
        """Return the texts that are listed directly below a text, the first one first."""


class HierarchyWalker:
    """Walks through a hierarchy.

    Args:
        hierarchy: Its items: the root, then texts, then photos.
        numbers: The text of each item; -1 for others.
    """

    def __init__(self, hierarchy: Hierarchy, numbers: Sequence[int]) -> None:
        self._hierarchy, self._numbers = hierarchy, numbers
        self._first_photo = int(hierarchy.of_kind[PHOTO].nonzero()[0, 0])
        self._item_of = {text: item for item, text in enumerate(numbers) if text >= 0}

    def up(self, photo: int) -> list[int]:
        """See `Walker`."""
        steps = climb(self._hierarchy, self._hierarchy.node(self._first_photo + photo))
        texts = [self._numbers[step.number] for step in steps]
        return [text for text in texts if text >= 0]

    def down(self, text: int) -> tuple[list[int], int | None]:
        """See `Walker`."""
        items = [step.number for step in descend(self._hierarchy, self._item_of[text])]
        photos = [item - self._first_photo for item in items if self._numbers[item] < 0]
        texts = [self._numbers[item] for item in items if self._numbers[item] >= 0]
        return texts, photos[0] if photos else None

    def below(self, text: int) -> list[int]:
        """See `Walker`."""
        node = self._hierarchy.node(self._item_of[text])
        return [self._numbers[step.number] for step in self._hierarchy.children(node)]


class TextWalker:
    """Walks by a rule about texts; a photo stands where the text that a model finds best stands.

    Args:
        model: The model.
        data: The photos.
        truth: The N texts.
        known: Those that the model knows, (N,).
    """

    def __init__(
        self, model: DualEncoder, data: PhotoData, truth: World, known: np.ndarray
    ) -> None:
        self._texts = np.flatnonzero(known)
        texts = [truth.texts[text] for text in self._texts]
        self._embeddings = model.encode_text([Sentence(text) for text in texts])
        scores = model.score(self._embeddings, model.encode_image(data.features))  # (T, P)
        self._best_text, self._best_photo = scores.argmax(0).numpy(), scores.argmax(1).numpy()
        self._words = [tokenize(text) for text in texts]
        self._is_caption = np.array([truth.kinds[text] == CAPTION for text in self._texts])

    def up(self, photo: int) -> list[int]:
        """See `Walker`."""
        row = int(self._best_text[photo])
        walk = [row]
        while len(above := self._above(row)):
            row = int(above[0])
            walk.append(row)
        return [int(self._texts[row]) for row in walk]

    def down(self, text: int) -> tuple[list[int], int | None]:
        """See `Walker`."""
        row = int(np.searchsorted(self._texts, text))
        walk = []
        while len(below := self._below(row)):
            row = int(below[0])
            walk.append(int(self._texts[row]))
        return walk, int(self._best_photo[row])

    def below(self, text: int) -> list[int]:
        """See `Walker`."""
        row = int(np.searchsorted(self._texts, text))
        return [int(self._texts[below]) for below in self._below(row)]

    def _above(self, row: int) -> np.ndarray:
        """Return the texts above a text, nearest first. No caption is above a concept."""
        above, distance = self._relation(row, up=True)
        return _nearest(above & (~self._is_caption | self._is_caption[row]), distance)

    def _below(self, row: int) -> np.ndarray:
        """Return the texts below a text, nearest first."""
        below, distance = self._relation(row, up=False)
        return _nearest(below & (self._is_caption | (not self._is_caption[row])), distance)

    def _relation(self, row: int, *, up: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return which texts are above or below a text, and how far away, (T,) each."""
        raise NotImplementedError


def _nearest(allowed: np.ndarray, distance: np.ndarray) -> np.ndarray:
    rows = np.flatnonzero(allowed)
    ordered: np.ndarray = rows[distance[rows].argsort(kind="stable")]
    return ordered


class OverlapWalker(TextWalker):
    """A text lies above another one that has all of its words and more."""

    def __init__(
        self, model: DualEncoder, data: PhotoData, truth: World, known: np.ndarray
    ) -> None:
        super().__init__(model, data, truth, known)
        different = [set(words) for words in self._words]
        self._count = np.array([len(words) for words in different])
        column = {word: i for i, word in enumerate(sorted(set().union(*different)))}
        rows = np.repeat(np.arange(len(different)), self._count)
        columns = [column[word] for words in different for word in words]
        self._has = csr_array((np.ones(len(rows), np.int32), (rows, columns)))

    def _relation(self, row: int, *, up: bool) -> tuple[np.ndarray, np.ndarray]:
        shared = self._has @ self._has[[row]].toarray()[0]
        more = self._count - self._count[row]
        contained = (shared == self._count) & (more < 0)
        contains = (shared == self._count[row]) & (more > 0)
        return contained if up else contains, np.abs(more)


class CosineWalker(TextWalker):
    """By the cosine, the nearest text with fewer words lies above, and with more words below."""

    def __init__(
        self, model: DualEncoder, data: PhotoData, truth: World, known: np.ndarray
    ) -> None:
        super().__init__(model, data, truth, known)
        self._x = F.normalize(self._embeddings.x)
        self._count = np.array([len(words) for words in self._words])

    def _relation(self, row: int, *, up: bool) -> tuple[np.ndarray, np.ndarray]:
        more = self._count - self._count[row]
        return more < 0 if up else more > 0, 1 - (self._x @ self._x[row]).numpy()


def walker_of(model: DualEncoder, data: PhotoData, truth: World, known: np.ndarray) -> Walker:
    """Return a walker that follows the order of a model or, if it has none, cosines.

    Args:
        model: A model with an order of captions above photos, or with one vector for each item.
        data: The photos.
        truth: The N texts.
        known: Those that the model knows, (N,).
    """
    if model.score.order is None:
        return CosineWalker(model, data, truth, known)
    return HierarchyWalker(*hierarchy_of(model, data, truth, known))
