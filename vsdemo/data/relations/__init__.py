"""Known relations (what lies above what), for models that learn one order.

A source of relations is a class in its own file. A data set with its own source has a line in
`SOURCES`; all other captions use `captions.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

import numpy as np

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.data.pairs import wordnet

TRUE, FALSE, UNKNOWN = 1, 0, -1

SOURCES = {"storybook": "vsdemo.data.relations.storybook:StorybookRelations"}  # by data set
CAPTIONS = "vsdemo.data.relations.captions:CaptionRelations"


EXACT = frozenset({"storybook"})  # data sets whose facts are all known


class Relations(Protocol):
    """Texts and photos of a split, and which text lies above which text or photo.

    Labels are `TRUE`, `FALSE` or `UNKNOWN`, as int8.
    """

    @property
    def texts(self) -> tuple[str, ...]:
        """The captions of the split in their order, then other texts, such as concepts."""

    @property
    def concepts(self) -> np.ndarray:
        """The rows of concepts such as "a dog" among the texts."""

    @property
    def common(self) -> np.ndarray:
        """The rows of common sentences such as "a dog runs" among the texts."""

    @property
    def photo_shares(self) -> np.ndarray:
        """The share of the photos that each text is true of, (T,)."""

    def others(self, captions: np.ndarray, count: int, draw: np.random.Generator) -> np.ndarray:
        """Return rows of different texts other than captions, at most `count`, drawn at random.

        Args:
            captions: (C,) rows of the captions that the texts join, and may be related to.
            count: The number of texts.
            draw: Source of randomness.
        """

    def among_texts(self, general: np.ndarray, specific: np.ndarray) -> np.ndarray:
        """Return whether texts lie above texts, (G, S), by their rows (G,) and (S,)."""

    def above_photos(self, texts: np.ndarray, photos: np.ndarray) -> np.ndarray:
        """Return whether texts lie above photos, (T, P), by their rows (T,) and (P,)."""


def has_relations(dataset: str) -> bool:
    """Return whether relations of a data set can be known: those of photos with captions.

    For captions that people wrote, `load` needs WordNet.
    """
    if dataset in SOURCES:
        return True
    try:
        return datasets.find(dataset).captioned
    except UserError:
        return False


def is_available(dataset: str) -> bool:
    """Return whether a data set has relations and everything that `load` needs is available."""
    return has_relations(dataset) and (dataset in SOURCES or wordnet.find() is not None)


def load(split: CaptionSet) -> Relations:
    """Return the relations of a split.

    Raises:
        UserError: None are known, or WordNet is missing.
    """
    if split.name not in SOURCES and not split.captions:
        raise UserError(
            f"{split.name} has no captions, so no relations can be known; choose photos with "
            "captions."
        )
    module, _, attribute = SOURCES.get(split.name, CAPTIONS).partition(":")
    relations: Relations = getattr(import_module(module), attribute)(split)
    return relations
