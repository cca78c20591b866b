"""The base class of the encoders over trees."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders import SentencePart
from vsdemo.encoders.tree.levels import Levels, collate, flatten
from vsdemo.encoders.tree.shapes import Shape
from vsdemo.encoders.words import WordEncoder


class TreeEncoder(WordEncoder):
    """Base class of encoders over trees.

    Args:
        vocab: The known words.
        shape: How a sentence becomes a tree.
        word_dim: Length of a word vector.
    """

    def __init__(self, vocab: Vocab, shape: Shape, word_dim: int) -> None:
        super().__init__(vocab, word_dim)
        self.shape = shape
        self.needs = shape.needs

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        """Lay out the tree of each sentence as numbers (nodes, 5), see `levels.flatten`.

        Raises:
            UserError: If a sentence lacks the tree that the shape needs.
        """
        return [flatten(self.shape(sentence, self.vocab)) for sentence in items]

    def reading_parts(self, sentence: Sentence) -> list[SentencePart]:
        """Return the subtree of each node, children before their parents.

        The state of a node is that of the root of its subtree.
        """
        nodes, words = self.shape(sentence, self.vocab), self.shape.texts(sentence)
        children, root = nodes.children()
        parts: list[SentencePart] = []

        def add(node: int) -> list[int]:
            """Add the parts below a node and its own, and return the nodes of its subtree."""
            below = [other for child in children[node] for other in add(child)]
            subtree = sorted([node, *below])
            text = " ".join(words[other] for other in subtree if words[other])
            parts.append(SentencePart(text, flatten(nodes.subtree(subtree, node))))
            return subtree

        add(root)
        return parts

    def collate(self, prepared: Sequence[Tensor]) -> Levels:
        """Sort the nodes of all trees into levels."""
        return collate(prepared)
