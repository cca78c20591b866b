"""Phrases of captions whose place in the photo is known, as a training draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.evaluation.phrases import phrases
from vsdemo.training.materials.photo_batches import draw_texts
from vsdemo.vision.regions import around


class DrawnPhrases(NamedTuple):
    """R phrases of B photos.

    Attributes:
        texts: (R,) which text each phrase is.
        places: (R, 2) the photo of each, and its number among those of the photo.
        boxes: (B, K, 4), as fractions of the photo; zeros for missing ones.
        unknown: (R, R) whether a phrase may also name what another one names.
    """

    texts: np.ndarray
    places: Tensor
    boxes: Tensor
    unknown: Tensor


class PhraseTable:
    """The phrases of a split, photo by photo.

    Attributes:
        texts: Each phrase once.

    Args:
        split: Photos whose phrases have boxes.

    Raises:
        UserError: The data set has no boxes, or they are missing.
    """

    def __init__(self, split: CaptionSet) -> None:
        owner, texts, boxes = [], [], []
        for phrase in phrases(split):
            owner.append(split.photo_of[phrase.caption])
            texts.append(" ".join(phrase.tokens[word] for word in phrase.words).lower())
            boxes.append(around(phrase.boxes))
        self.texts = list(dict.fromkeys(texts))
        self._text_of = _numbers(texts)
        self._head_of = _numbers([text.split()[-1] for text in texts])
        self._boxes = torch.stack(boxes)
        edges = (self._boxes * 1000).round().int().tolist()
        self._region_of = _numbers([(photo, *box) for photo, box in zip(owner, edges, strict=True)])
        self._owner = np.array(owner)
        order = np.argsort(self._owner, kind="stable")
        cuts = np.searchsorted(self._owner[order], np.arange(1, len(split.photos)))
        self._rows_of = np.split(order, cuts)

    def draw(self, photos: np.ndarray, count: int, draw: np.random.Generator) -> DrawnPhrases:
        """Return up to `count` phrases of each of B photos, at random."""
        rows, photo = draw_texts([self._rows_of[number] for number in photos], count, draw)
        slot = np.arange(len(photo)) - np.searchsorted(photo, photo)
        boxes = torch.zeros(len(photos), count, 4)
        boxes[photo, slot] = self._boxes[rows]
        places = torch.from_numpy(np.stack([photo, slot], axis=1))
        return DrawnPhrases(
            self._text_of[rows], places, boxes, torch.from_numpy(self._unknown(rows))
        )

    def _unknown(self, rows: np.ndarray) -> np.ndarray:
        """Return whether phrases may name the same, (R, R).

        They do if they name one region, and may if they are equal, or if they name things of one
        kind in different photos.
        """
        region, text, head, owner = (
            table[rows] for table in (self._region_of, self._text_of, self._head_of, self._owner)
        )
        same_kind = _equal(head) & ~_equal(owner)
        unknown: np.ndarray = np.logical_or.reduce([_equal(region), _equal(text), same_kind])
        return unknown


def _equal(values: np.ndarray) -> np.ndarray:
    equal: np.ndarray = values[:, None] == values[None]
    return equal


def _numbers(values: Sequence[object]) -> np.ndarray:
    """Return a number for each value, the same for equal ones."""
    number_of = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return np.array([number_of[value] for value in values])
