"""What is true of the items of a hierarchy, where all facts are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vsdemo.data.relations import TRUE, Relations
from vsdemo.data.text.vocab import tokenize


class Truth:
    """What follows from what among texts, and which texts are true of which photos.

    Args:
        load: Returns the relations of the gallery, with a certain label for every pair; None as
            long as they are not known.
    """

    def __init__(self, load: Callable[[], Relations | None]) -> None:
        self._load = load
        self._relations: Relations | None = None
        self._row_of: dict[str, int] = {}

    def _known(self) -> Relations | None:
        """Return the relations, if they are known by now."""
        if self._relations is None:
            relations = self._load()
            if relations is not None:
                self._row_of = {_key(text): row for row, text in enumerate(relations.texts)}
                self._relations = relations
        return self._relations

    def follows(self, general: str, specific: str) -> bool | None:
        """Return whether a text follows from another one; None for an unknown text."""
        relations = self._known()
        upper, lower = self._row(general), self._row(specific)
        if relations is None or upper is None or lower is None:
            return None
        return bool(relations.among_texts(upper, lower)[0, 0] == TRUE)

    def describes(self, text: str, photo: int) -> bool | None:
        """Return whether a text is true of a photo of the gallery; None for an unknown text."""
        relations = self._known()
        row = self._row(text)
        if relations is None or row is None:
            return None
        return bool(relations.above_photos(row, np.array([photo]))[0, 0] == TRUE)

    def _row(self, text: str) -> np.ndarray | None:
        """Return the row of a text, (1,)."""
        row = self._row_of.get(_key(text))
        return None if row is None else np.array([row])


def _key(text: str) -> str:
    return " ".join(tokenize(text))
