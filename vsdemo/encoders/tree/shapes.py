"""How a sentence looks to a tree network: its nodes, their parents, and for each edge between
them the group whose matrices it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import BinaryTree, Sentence, Tree
from vsdemo.data.text.trees import OTHER
from vsdemo.data.text.vocab import PAD, Vocab


class Nodes(NamedTuple):
    """words: a number each, PAD where a node has no word of its own. parents: the number of the
    parent, of the root its own. groups: of the edge to the parent; 0 for the root."""

    words: list[int]
    parents: list[int]
    groups: list[int]


class Shape(Protocol):
    """needs: what a sentence must have. names: one for each group of edges."""

    needs: frozenset[str]
    names: tuple[str, ...]

    def __call__(self, sentence: Sentence, vocab: Vocab) -> Nodes:
        """Raises UserError when the sentence has no such tree."""


class Chain:
    """Every word is the parent of the one before it: a recurrent network."""

    needs = frozenset({"words"})
    names = ("previous",)

    def __call__(self, sentence: Sentence, vocab: Vocab) -> Nodes:
        words = vocab.encode(sentence.text)
        last = len(words) - 1
        return Nodes(words, [min(i + 1, last) for i in range(len(words))], [0] * len(words))


class Constituents:
    """A binary constituency tree: words are its leaves, joined nodes have no word."""

    needs = frozenset({"words", "const_tree"})
    names = ("left", "right")

    def __call__(self, sentence: Sentence, vocab: Vocab) -> Nodes:
        tree: BinaryTree | None = sentence.constituents
        if tree is None:
            raise UserError(f"{sentence.text[:40]!r} has no constituency tree; parse it first.")
        words = vocab.ids(tree.words)
        n = len(words) + len(tree.merges)
        parents, groups = list(range(n)), [0] * n
        for node, pair in enumerate(tree.merges, start=len(words)):
            for side, child in enumerate(pair):
                parents[child], groups[child] = node, side
        return Nodes(words + [PAD] * len(tree.merges), parents, groups)


class _Dependencies:
    """A dependency tree: every word is a node, its head the parent."""

    needs = frozenset({"words", "dep_tree"})

    def __call__(self, sentence: Sentence, vocab: Vocab) -> Nodes:
        tree = sentence.tree
        if tree is None:
            raise UserError(f"{sentence.text[:40]!r} has no dependency tree; parse it first.")
        parents = [head - 1 if head else word for word, head in enumerate(tree.heads)]
        return Nodes(vocab.ids(tree.words), parents, self.groups(tree))

    def groups(self, tree: Tree) -> list[int]:
        raise NotImplementedError


class Positions(_Dependencies):
    """Edges grouped by the child's place beside its head: l1 is the nearest on the left.

    left, right: places with a group of their own. A child further away falls into the last group
    of its side, or, with `beyond`, into a group after all others, which has no matrix.
    """

    def __init__(self, left: int, right: int, beyond: bool = False) -> None:
        self.left, self.right, self.beyond = left, right, beyond
        sides = (("l", left), ("r", right))
        self.names = tuple(f"{side}{i}" for side, most in sides for i in range(1, most + 1))

    def groups(self, tree: Tree) -> list[int]:
        groups = [0] * len(tree.words)
        for head, children in enumerate(tree.children()):
            left = [child for child in reversed(children) if child < head]
            right = [child for child in children if child > head]
            for first, most, side in ((0, self.left, left), (self.left, self.right, right)):
                for place, child in enumerate(side):
                    far = place >= most
                    last = len(self.names) if self.beyond else first + most - 1
                    groups[child] = last if far else first + place
        return groups


class Relations(_Dependencies):
    """Edges grouped by their relation; those that are not `kept` share the group `other`."""

    def __init__(self, kept: Sequence[str]) -> None:
        self.names = (*kept, OTHER)
        self._number = {name: i for i, name in enumerate(self.names)}

    def groups(self, tree: Tree) -> list[int]:
        return [
            self._number.get(label, len(self.names) - 1) if head else 0
            for label, head in zip(tree.labels, tree.heads, strict=True)
        ]
