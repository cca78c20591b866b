"""What is true of the items of a hierarchy, where all facts are known."""

from __future__ import annotations

import numpy as np

from vsdemo.data.relations import TRUE, Relations
from vsdemo.data.text.vocab import tokenize


class Truth:
    """What follows from what among texts, and which texts are true of which photos.

    Args:
        relations: Those of the gallery, with a certain label for every pair.
    """

    def __init__(self, relations: Relations) -> None:
        self._relations = relations
        self._row_of = {_key(text): row for row, text in enumerate(relations.texts)}

    def follows(self, general: str, specific: str) -> bool | None:
        """Return whether a text follows from another one; None for an unknown text."""
        rows = self._row(general), self._row(specific)
        if rows[0] is None or rows[1] is None:
            return None
        return bool(self._relations.among_texts(rows[0], rows[1])[0, 0] == TRUE)

    def describes(self, text: str, photo: int) -> bool | None:
        """Return whether a text is true of a photo of the gallery; None for an unknown text."""
        row = self._row(text)
        if row is None:
            return None
        return bool(self._relations.above_photos(row, np.array([photo]))[0, 0] == TRUE)

    def _row(self, text: str) -> np.ndarray | None:
        """Return the row of a text, (1,)."""
        row = self._row_of.get(_key(text))
        return None if row is None else np.array([row])


def _key(text: str) -> str:
    return " ".join(tokenize(text))
