"""Binary constituency trees, which CT-RNN (Socher 2014) reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from vsdemo.core.sentences import BinaryTree, Tree

DEPENDENCIES, PHRASES = "dependencies", "constituency parser"  # values of BinaryTree.source


class PhraseTree(Protocol):
    """A constituency tree of Stanza; the label of a leaf is its word."""

    label: str
    children: Sequence[PhraseTree]


Shape = int | tuple["Shape", "Shape"]  # the index of a word, or two parts


def from_dependencies(tree: Tree) -> BinaryTree:
    """Binarize a dependency tree head first.

    A head is joined with its dependents to the right, nearest first, then with those to its left,
    nearest first, so that a verb takes its object before its subject. If the tree is not
    projective, the words of a node are not adjacent; left and right are then defined by the heads.
    """
    children = tree.children()
    node = list(range(len(tree.words)))  # the topmost node over each word so far
    merges: list[tuple[int, int]] = []
    for head in tree.bottom_up():
        right = [child for child in children[head] if child > head]
        left = [child for child in children[head] if child < head]
        for child in [*right, *reversed(left)]:
            pair = (node[head], node[child]) if child > head else (node[child], node[head])
            merges.append(pair)
            node[head] = len(tree.words) + len(merges) - 1
    return BinaryTree(tree.words, tuple(merges), DEPENDENCIES)


def from_phrases(trees: Sequence[PhraseTree]) -> BinaryTree:
    """Binarize Stanza's constituency trees from the right.

    Phrases with one child are skipped; several sentences are joined in their order.
    """
    words: list[str] = []
    shape = _fold([_shape(tree, words) for tree in trees])
    merges: list[tuple[int, int]] = []

    def number(part: Shape) -> int:
        if isinstance(part, int):
            return part
        left, right = number(part[0]), number(part[1])
        merges.append((left, right))
        return len(words) + len(merges) - 1

    number(shape)
    return BinaryTree(tuple(words), tuple(merges), PHRASES)


def _shape(tree: PhraseTree, words: list[str]) -> Shape:
    if not tree.children:
        words.append(tree.label)
        return len(words) - 1
    return _fold([_shape(child, words) for child in tree.children])


def _fold(parts: list[Shape]) -> Shape:
    folded = parts[-1]
    for part in reversed(parts[:-1]):
        folded = (part, folded)
    return folded
