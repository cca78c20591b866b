"""Binary constituency trees, which CT-RNN (Socher 2014) is built on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vsdemo.core.sentences import BinaryTree, Tree

DEPENDENCIES, PHRASES = "dependencies", "constituency parser"


def from_dependencies(tree: Tree) -> BinaryTree:
    """Binarises a dependency tree head first.

    A head is joined with its dependents to the right, nearest first, then with those to its left,
    nearest first, so that a verb takes its object before its subject. Where the tree is not
    projective, a joined node's words are not neighbours; left and right are then by the head.
    """
    children = tree.children()
    node = list(range(len(tree.words)))  # the topmost node over each word so far
    merges: list[tuple[int, int]] = []
    for head in tree.bottom_up():
        right = [c for c in children[head] if c > head]
        left = [c for c in children[head] if c < head]
        for child in [*right, *reversed(left)]:
            pair = (node[head], node[child]) if child > head else (node[child], node[head])
            merges.append(pair)
            node[head] = len(tree.words) + len(merges) - 1
    return BinaryTree(tree.words, tuple(merges), DEPENDENCIES)


def from_phrases(trees: Sequence[Any]) -> BinaryTree:
    """Binarises Stanza's constituency trees (`label`, `children`) from the right.

    Phrases of one child are passed over; several sentences are joined in their order.
    """
    words: list[str] = []
    shape = _fold([_shape(tree, words) for tree in trees])
    merges: list[tuple[int, int]] = []

    def number(part: Any) -> int:
        if isinstance(part, int):
            return part
        left, right = number(part[0]), number(part[1])
        merges.append((left, right))
        return len(words) + len(merges) - 1

    number(shape)
    return BinaryTree(tuple(words), tuple(merges), PHRASES)


def _shape(tree: Any, words: list[str]) -> Any:
    """Nested pairs of word numbers."""
    if not tree.children:
        words.append(tree.label)
        return len(words) - 1
    return _fold([_shape(child, words) for child in tree.children])


def _fold(parts: list[Any]) -> Any:
    whole = parts[-1]
    for part in reversed(parts[:-1]):
        whole = (part, whole)
    return whole
