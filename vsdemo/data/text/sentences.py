"""Adding the trees that an encoder needs: the one place where captions and queries are parsed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from vsdemo.core.sentences import BinaryTree, Sentence, Tree
from vsdemo.data.text.constituents import from_dependencies
from vsdemo.data.text.parser import Parser
from vsdemo.data.text.trees import TreeCache

MAX_UNCACHED = 16  # sentences; parsing so few is faster than reading the cache
DEP_TREE = frozenset({"dep_tree"})  # what an encoder or a task may need
CONST_TREE = frozenset({"const_tree"})


def add_trees(sentences: Sequence[Sentence], needs: frozenset[str]) -> list[Sentence]:
    """Return the sentences with the trees that an encoder needs.

    Sentences that have their trees already keep them.

    Args:
        sentences: The sentences.
        needs: `dep_tree` adds dependency trees, `const_tree` binary constituency trees.

    Raises:
        UserError: A text has no words, or the parser's files are missing.
    """
    result = list(sentences)
    if "dep_tree" in needs:
        missing = [i for i, sentence in enumerate(result) if not sentence.tree]
        texts = [result[i].text for i in missing]
        for i, tree in zip(missing, _trees(texts), strict=True):
            result[i] = replace(result[i], tree=tree)
    if "const_tree" in needs:
        missing = [i for i, sentence in enumerate(result) if not sentence.constituents]
        texts = [result[i].text for i in missing]
        for i, binary in zip(missing, _constituents(texts), strict=True):
            result[i] = replace(result[i], constituents=binary)
    return result


def parser_version(needs: frozenset[str]) -> str:
    """Return a key that changes whenever `add_trees` would add other trees.

    It is empty if `needs` contains no trees.
    """
    return TreeCache().parser.version if needs & {"dep_tree", "const_tree"} else ""


def _trees(texts: Sequence[str]) -> Sequence[Tree]:
    if not texts:
        return ()
    parser = TreeCache().parser
    if len(texts) <= MAX_UNCACHED:
        return _parsed_trees(tuple(texts), parser)
    return _cached_trees(tuple(texts), parser)


def _constituents(texts: Sequence[str]) -> Sequence[BinaryTree]:
    if not texts:
        return ()
    parser = TreeCache().parser
    if len(texts) > MAX_UNCACHED:
        return _cached_constituents(tuple(texts), parser)
    if parser.has_constituency:
        return parser.constituency(texts)
    return [from_dependencies(tree) for tree in _parsed_trees(tuple(texts), parser)]


@lru_cache(maxsize=64)
def _parsed_trees(texts: tuple[str, ...], parser: Parser) -> Sequence[Tree]:
    """Parse once what a user has typed, because several models may read it."""
    return parser.parse(texts)


@lru_cache(maxsize=4)
def _cached_trees(texts: tuple[str, ...], parser: Parser) -> list[Tree]:
    """Keep the trees in memory, because the captions of dev are needed after every epoch."""
    return TreeCache().get(texts)


@lru_cache(maxsize=4)
def _cached_constituents(texts: tuple[str, ...], parser: Parser) -> list[BinaryTree]:
    return TreeCache().constituents(texts)
