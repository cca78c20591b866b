"""The alignment of a sentence's fragments with a photo's regions."""

from __future__ import annotations

from dataclasses import dataclass

from vsdemo.core.sentences import Tree


@dataclass(frozen=True)
class Fragment:
    """A part of a sentence that can be aligned with a region.

    Args:
        relation: The label of a dependency, or `word` or `bigram`.
        words: Indices of the head and the dependent; the same index twice for a single word.
    """

    relation: str
    words: tuple[int, int]


@dataclass(frozen=True)
class Alignment:
    """The scores of a sentence's M fragments with a photo's K regions.

    Args:
        words: The words of the sentence, which the fragments index.
        tree: The sentence's dependency tree, if the model reads one.
        fragments: The M fragments.
        boxes: `(x0, y0, x1, y1)` of the K regions as fractions of the photo's width and height.
            The last box is the whole photo.
        scores: `(M, K)`, the matrix that the loss trains on. At or below zero, the region does
            not show the fragment.
        parts: `(M,)`, each fragment's share of the total.
        total: The score of the sentence with the photo.
    """

    words: tuple[str, ...]
    tree: Tree | None
    fragments: tuple[Fragment, ...]
    boxes: tuple[tuple[float, float, float, float], ...]
    scores: tuple[tuple[float, ...], ...]
    parts: tuple[float, ...]
    total: float

    def best_region(self, fragment: int) -> int | None:
        """Return the region with the fragment's highest score; None if no score is positive."""
        row = self.scores[fragment]
        region = max(range(len(row)), key=row.__getitem__)
        return region if row[region] > 0 else None

    def fragments_of(self, region: int) -> list[int]:
        """Return the fragments whose best region this is."""
        return [m for m in range(len(self.fragments)) if self.best_region(m) == region]
