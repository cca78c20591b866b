"""What is true of the items of a hierarchy, where all facts are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from vsdemo.data.relations import TRUE
from vsdemo.data.text.vocab import tokenize


class Facts(Protocol):
    """Which texts lie above which texts and photos, as labels such as `TRUE`."""

    @property
    def texts(self) -> Sequence[str]:
        """The N texts."""

    def among_texts(self, general: np.ndarray, specific: np.ndarray) -> np.ndarray:
        """Return whether texts lie above texts, (G, S), by their rows (G,) and (S,)."""

    def above_photos(self, texts: np.ndarray, photos: np.ndarray) -> np.ndarray:
        """Return whether texts lie above photos, (T, P), by their rows (T,) and (P,)."""


@dataclass(frozen=True)
class FactTable:
    """Labels of all pairs of N texts, and of all pairs of a text and one of P photos.

    Attributes:
        texts: The N texts.
        follows: (N, N), by general and specific text.
        describes: (N, P).
    """

    texts: Sequence[str]
    follows: np.ndarray
    describes: np.ndarray

    def among_texts(self, general: np.ndarray, specific: np.ndarray) -> np.ndarray:
        """Return whether texts lie above texts, (G, S)."""
        labels: np.ndarray = self.follows[np.ix_(general, specific)]
        return labels

    def above_photos(self, texts: np.ndarray, photos: np.ndarray) -> np.ndarray:
        """Return whether texts lie above photos, (T, P)."""
        labels: np.ndarray = self.describes[np.ix_(texts, photos)]
        return labels

    @classmethod
    def of(cls, facts: Facts, texts: Sequence[str], photos: int) -> FactTable:
        """Return the labels of some texts and of the first photos.

        Raises:
            KeyError: A text is unknown.
        """
        row_of = {_key(text): row for row, text in enumerate(facts.texts)}
        rows = np.array([row_of[_key(text)] for text in texts])
        follows = facts.among_texts(rows, rows)
        return cls(texts, follows, facts.above_photos(rows, np.arange(photos)))


class Truth:
    """What follows from what among texts, and which texts are true of which photos.

    Args:
        load: Returns the facts of the gallery, with a definite label for every pair; None while
            they are not known.
    """

    def __init__(self, load: Callable[[], Facts | None]) -> None:
        self._load = load
        self._facts: Facts | None = None
        self._row_of: dict[str, int] = {}

    def _known(self) -> Facts | None:
        """Return the facts, if they are known by now."""
        if self._facts is None:
            facts = self._load()
            if facts is not None:
                self._row_of = {_key(text): row for row, text in enumerate(facts.texts)}
                self._facts = facts
        return self._facts

    def follows(self, general: str, specific: str) -> bool | None:
        """Return whether a text follows from another one; None for an unknown text."""
        facts = self._known()
        upper, lower = self._row(general), self._row(specific)
        if facts is None or upper is None or lower is None:
            return None
        return bool(facts.among_texts(upper, lower)[0, 0] == TRUE)

    def describes(self, text: str, photo: int) -> bool | None:
        """Return whether a text is true of a photo of the gallery; None for an unknown text."""
        facts = self._known()
        row = self._row(text)
        if facts is None or row is None:
            return None
        return bool(facts.above_photos(row, np.array([photo]))[0, 0] == TRUE)

    def _row(self, text: str) -> np.ndarray | None:
        """Return the row of a text, (1,)."""
        row = self._row_of.get(_key(text))
        return None if row is None else np.array([row])


def _key(text: str) -> str:
    return " ".join(tokenize(text))
