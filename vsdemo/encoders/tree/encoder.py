"""What the towers over trees share: a shape, and batches that run level by level."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.tree.levels import Levels, collate, flatten
from vsdemo.encoders.tree.shapes import Shape
from vsdemo.encoders.words import WordEncoder


class TreeEncoder(WordEncoder):
    """Base of the towers over trees: sentences as nodes and edges of one `shape`."""

    def __init__(self, vocab: Vocab, shape: Shape, word_dim: int) -> None:
        super().__init__(vocab, word_dim)
        self.shape, self.needs = shape, shape.needs

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        """Each sentence as (nodes, 5). Raises UserError when one lacks the tree it needs."""
        return [flatten(*self.shape(sentence, self.vocab)) for sentence in items]

    def collate(self, prepared: Sequence[Tensor]) -> Levels:
        return collate(prepared)
