"""What is known to lie above what: the relations that models of one order learn from.

A source of relations is a class in a file of its own and a line in `SOURCES`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

import numpy as np

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError

TRUE, FALSE, UNKNOWN = 1, 0, -1

SOURCES = {"storybook": "vsdemo.data.relations.storybook:StorybookRelations"}  # by data set


EXACT = frozenset({"storybook"})  # data sets of which all facts are known


class Relations(Protocol):
    """Texts and photos of a split, and which text lies above which text or photo.

    Labels are `TRUE`, `FALSE` or `UNKNOWN`, as int8.
    """

    @property
    def texts(self) -> tuple[str, ...]:
        """The captions of the split in their order, then other texts, such as concepts."""

    def others(self, count: int, draw: np.random.Generator) -> np.ndarray:
        """Return rows of texts that are no captions, at most `count`, drawn at random."""

    def among_texts(self, general: np.ndarray, specific: np.ndarray) -> np.ndarray:
        """Return whether texts lie above texts, (G, S), by their rows (G,) and (S,)."""

    def above_photos(self, texts: np.ndarray, photos: np.ndarray) -> np.ndarray:
        """Return whether texts lie above photos, (T, P), by their rows (T,) and (P,)."""


def has_relations(dataset: str) -> bool:
    """Return whether relations of a data set are known."""
    return dataset in SOURCES


def load(split: CaptionSet) -> Relations:
    """Return the relations of a split.

    Raises:
        UserError: None are known.
    """
    if not has_relations(split.name):
        raise UserError(
            f"It is not known what follows from the captions of {split.name}; choose "
            f"{' or '.join(SOURCES)}."
        )
    module, _, attribute = SOURCES[split.name].partition(":")
    relations: Relations = getattr(import_module(module), attribute)(split)
    return relations
