"""Sentences with the trees that a tower needs: the one place where captions and queries are
parsed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from vsdemo.core.sentences import BinaryTree, Sentence, Tree
from vsdemo.data.text.constituents import from_dependencies
from vsdemo.data.text.parser import Parser
from vsdemo.data.text.trees import TreeCache

FEW = 16  # sentences, such as visitors type, that are parsed faster than the cache is read


def add_trees(sentences: Sequence[Sentence], needs: frozenset[str]) -> list[Sentence]:
    """The sentences with a dependency tree each where `needs` holds dep_tree, and a binary
    constituency tree where it holds const_tree; those that come with theirs keep it.

    Raises UserError for a text without a word, and when the parser's files are missing.
    """
    found = list(sentences)
    if bare := [i for i, s in enumerate(found) if "dep_tree" in needs and not s.tree]:
        for i, tree in zip(bare, _trees([found[i].text for i in bare]), strict=True):
            found[i] = replace(found[i], tree=tree)
    if bare := [i for i, s in enumerate(found) if "const_tree" in needs and not s.constituents]:
        for i, binary in zip(bare, _constituents([found[i].text for i in bare]), strict=True):
            found[i] = replace(found[i], constituents=binary)
    return found


def parser_version(needs: frozenset[str]) -> str:
    """Changes whenever `parsed` would give other trees; empty where none are needed."""
    return TreeCache().parser.version if needs & {"dep_tree", "const_tree"} else ""


def _trees(texts: Sequence[str]) -> Sequence[Tree]:
    parser = TreeCache().parser
    return (_fresh_trees if len(texts) <= FEW else _stored_trees)(tuple(texts), parser)


def _constituents(texts: Sequence[str]) -> Sequence[BinaryTree]:
    parser = TreeCache().parser
    if len(texts) > FEW:
        return _stored_constituents(tuple(texts), parser)
    if parser.has_constituency:
        return parser.constituency(texts)
    return [from_dependencies(tree) for tree in _fresh_trees(tuple(texts), parser)]


@lru_cache(maxsize=64)
def _fresh_trees(texts: tuple[str, ...], parser: Parser) -> Sequence[Tree]:
    """Kept in memory, as what a visitor types goes to several models."""
    return parser.parse(texts)


@lru_cache(maxsize=4)
def _stored_trees(texts: tuple[str, ...], parser: Parser) -> list[Tree]:
    """Kept in memory, as the captions of dev are asked for after every epoch."""
    return TreeCache().get(texts)


@lru_cache(maxsize=4)
def _stored_constituents(texts: tuple[str, ...], parser: Parser) -> list[BinaryTree]:
    return TreeCache().constituents(texts)
