"""Tree shapes: the nodes of a sentence, their parents, and the group of each edge.

Edges of one group share their matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.trees import OTHER
from vsdemo.data.text.vocab import PAD, Vocab, tokenize


class Nodes(NamedTuple):
    """A tree of n nodes, each list of length n.

    Attributes:
        words: Id of each node's word, `PAD` where it has none.
        parents: Index of each node's parent; the root is its own parent.
        groups: Group of the edge to the parent; 0 for the root.
    """

    words: list[int]
    parents: list[int]
    groups: list[int]

    def children(self) -> tuple[list[list[int]], int]:
        """Return the children of each node, and the root."""
        children: list[list[int]] = [[] for _ in self.words]
        root = 0
        for node, parent in enumerate(self.parents):
            if node == parent:
                root = node
            else:
                children[parent].append(node)
        return children, root

    def subtree(self, members: Sequence[int], root: int) -> Nodes:
        """Return the tree of a node and all nodes below it.

        Args:
            members: These nodes, in order.
            root: The node.
        """
        place = {node: i for i, node in enumerate(members)}
        return Nodes(
            words=[self.words[node] for node in members],
            parents=[place[root if node == root else self.parents[node]] for node in members],
            groups=[0 if node == root else self.groups[node] for node in members],
        )


class Shape(Protocol):
    """Turns a sentence into a tree.

    Attributes:
        needs: What a sentence must provide.
        names: A name for each group of edges.
    """

    needs: frozenset[str]
    names: tuple[str, ...]

    def __call__(self, sentence: Sentence, vocab: Vocab) -> Nodes:
        """Return the nodes of a sentence. Raises UserError if it lacks the tree."""

    def texts(self, sentence: Sentence) -> list[str]:
        """Return the word of each node; "" for a node without one."""


class Chain:
    """Each word is the parent of the one before it: a recurrent network."""

    needs = frozenset({"words"})
    names: tuple[str, ...] = ("previous",)

    def __call__(self, sentence: Sentence, vocab: Vocab) -> Nodes:
        """Return the words of a sentence and the end mark, which is the root."""
        words = vocab.encode(sentence.text)
        last = len(words) - 1
        parents = [min(i + 1, last) for i in range(len(words))]
        return Nodes(words, parents, groups=[0] * len(words))

    def texts(self, sentence: Sentence) -> list[str]:
        """Return the words, and "" for the end mark."""
        return [*tokenize(sentence.text), ""]


class Constituents:
    """A binary constituency tree; its leaves are the words, inner nodes have no word."""

    needs = frozenset({"words", "const_tree"})
    names: tuple[str, ...] = ("left", "right")

    def __call__(self, sentence: Sentence, vocab: Vocab) -> Nodes:
        """Return the leaves, then the inner nodes. Raises UserError if the tree is missing."""
        tree = sentence.constituents
        if tree is None:
            raise UserError(f"{sentence.text[:40]!r} has no constituency tree; parse it first.")
        words = vocab.ids(tree.words)
        count = len(words) + len(tree.merges)
        parents, groups = list(range(count)), [0] * count
        for node, pair in enumerate(tree.merges, start=len(words)):
            for side, child in enumerate(pair):
                parents[child] = node
                groups[child] = side
        return Nodes(words + [PAD] * len(tree.merges), parents, groups)

    def texts(self, sentence: Sentence) -> list[str]:
        """Return the words, and "" for each inner node."""
        tree = sentence.constituents
        return [] if tree is None else [*tree.words, *([""] * len(tree.merges))]


class _Dependencies:
    """Base class of dependency trees: each word is a node, and its head is the parent."""

    needs = frozenset({"words", "dep_tree"})
    names: tuple[str, ...]

    def __call__(self, sentence: Sentence, vocab: Vocab) -> Nodes:
        """Return the words of the tree. Raises UserError if it is missing."""
        tree = sentence.tree
        if tree is None:
            raise UserError(f"{sentence.text[:40]!r} has no dependency tree; parse it first.")
        parents = [head - 1 if head else word for word, head in enumerate(tree.heads)]
        return Nodes(vocab.ids(tree.words), parents, self.groups(tree))

    def texts(self, sentence: Sentence) -> list[str]:
        """Return the words of the tree."""
        return [] if sentence.tree is None else list(sentence.tree.words)

    def groups(self, tree: Tree) -> list[int]:
        """Return the group of each word's edge to its head; 0 for the root."""
        raise NotImplementedError


class Positions(_Dependencies):
    """Edges grouped by the position of the child: l1 is the nearest on the left of its head.

    Args:
        left: Number of positions on the left with a group each.
        right: The same on the right.
        beyond: Put a child further away into a group after all others, which has no matrix,
            instead of into the last group of its side.
    """

    def __init__(self, left: int, right: int, *, beyond: bool = False) -> None:
        self.left = left
        self.right = right
        self.beyond = beyond
        lefts = [f"l{i}" for i in range(1, left + 1)]
        rights = [f"r{i}" for i in range(1, right + 1)]
        self.names = (*lefts, *rights)

    def groups(self, tree: Tree) -> list[int]:
        """Return the group of each word's edge to its head; 0 for the root."""
        groups = [0] * len(tree.words)
        for head, children in enumerate(tree.children()):
            for place, child in enumerate(reversed([c for c in children if c < head])):
                groups[child] = self._group(place, first=0, count=self.left)
            for place, child in enumerate([c for c in children if c > head]):
                groups[child] = self._group(place, first=self.left, count=self.right)
        return groups

    def _group(self, place: int, *, first: int, count: int) -> int:
        """Return the group of the child at a place (0 is nearest) of a side."""
        if place < count:
            return first + place
        return len(self.names) if self.beyond else first + count - 1


class Relations(_Dependencies):
    """Edges grouped by relation.

    Args:
        kept: Relations with a group of their own; all others share the group `OTHER`.
    """

    def __init__(self, kept: Sequence[str]) -> None:
        self.names = (*kept, OTHER)
        self._group_of = {name: i for i, name in enumerate(self.names)}

    def groups(self, tree: Tree) -> list[int]:
        """Return the group of each word's edge to its head; 0 for the root."""
        other = self._group_of[OTHER]
        return [
            self._group_of.get(label, other) if head else 0
            for label, head in zip(tree.labels, tree.heads, strict=True)
        ]
