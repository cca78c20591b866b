"""What is true of concepts, where their taxonomy is known."""

from __future__ import annotations

from vsdemo.data.pairs.wordnet import Taxonomy


class ConceptTruth:
    """Which concepts lie above which, by a taxonomy.

    Args:
        taxonomy: All concepts with their hypernyms.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy

    def follows(self, general: str, specific: str) -> bool | None:
        """Return whether a concept is a hypernym of another one; None for an unknown name."""
        upper, lower = (self._taxonomy.index_of.get(name) for name in (general, specific))
        if upper is None or lower is None:
            return None
        return upper in self._taxonomy.ancestors(lower)

    def describes(self, text: str, photo: int) -> bool | None:
        """Return None, as nothing is known about photos."""
        return None
