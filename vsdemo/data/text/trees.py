"""Trees on disk, so that each sentence is parsed once per version of the parser."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from tqdm import tqdm

from vsdemo.core.paths import home, write_text
from vsdemo.core.progress import Progress
from vsdemo.core.sentences import BinaryTree, Tree
from vsdemo.data.text import conllu, parser
from vsdemo.data.text.constituents import from_dependencies

SHARD = 1000  # sentences per file, and so the most that an interrupted run parses again
RARE = 0.01  # share of all relations below which one is pooled (Karpathy 2014, section 4.1)
OTHER = "other"

T = TypeVar("T")


class Format(NamedTuple, Generic[T]):
    """How one kind of tree is made and stored.

    Args:
        suffix: Suffix of its files.
        parse: Returns the trees of texts.
        write: Returns the block of a tree and its text.
        read: Yields (text, tree) of the blocks of a file that are of some texts.
    """

    suffix: str
    parse: Callable[[Sequence[str]], list[T]]
    write: Callable[[T, str], str]
    read: Callable[[str, Container[str]], Iterable[tuple[str, T]]]


class TreeCache:
    """The trees of one parser, below VSDEMO_HOME/trees.

    Files are written atomically, so an interrupted run resumes with the next shard. A file is named
    by the checksum of its content, so that a damaged one is noticed and parsed again.
    """

    def __init__(self, parser_name: str = "shipped") -> None:
        self.parser = parser.load(parser_name)
        self.folder: Path = home() / "trees" / f"{parser_name}-{self.parser.version}"

    def get(self, texts: Sequence[str], progress: Progress | None = None) -> list[Tree]:
        """Return the dependency trees of texts, after parsing those that are not cached.

        Args:
            texts: One sentence each.
            progress: Called after every shard. A progress bar is also shown in the terminal.

        Raises:
            UserError: A text has no words. The trees of earlier shards are cached.
        """
        dependencies = Format("conllu", self.parser.parse, conllu.write, conllu.read)
        return self._cached(texts, dependencies, progress)

    def constituents(
        self, texts: Sequence[str], progress: Progress | None = None
    ) -> list[BinaryTree]:
        """Return the binary constituency trees of texts.

        They come from the parser's constituency model or, if it has none, from the dependencies;
        their `source` says which. Arguments and errors are those of `get`.
        """
        if not self.parser.has_constituency:
            return [from_dependencies(tree) for tree in self.get(texts, progress)]
        phrases = Format("jsonl", self.parser.constituency, _to_json_line, _from_json_lines)
        return self._cached(texts, phrases, progress)

    def _cached(self, texts: Sequence[str], kind: Format[T], progress: Progress | None) -> list[T]:
        keys = [parser.normalize(text) for text in texts]
        trees = self._read(kind, frozenset(keys))
        missing = [key for key in dict.fromkeys(keys) if key not in trees]
        with tqdm(total=len(missing), desc="parsing", disable=not missing) as bar:
            for start in range(0, len(missing), SHARD):
                shard = missing[start : start + SHARD]
                parsed = dict(zip(shard, kind.parse(shard), strict=True))
                blocks = "".join(kind.write(tree, text) for text, tree in parsed.items())
                write_text(self.folder / f"{_checksum(blocks)}.{kind.suffix}", blocks)
                trees |= parsed
                bar.update(len(shard))
                if progress:
                    progress(start + len(shard), len(missing))
        return [trees[key] for key in keys]

    def _read(self, kind: Format[T], texts: Container[str]) -> dict[str, T]:
        """Return those trees of texts that are cached, by text; damaged files are deleted."""
        trees: dict[str, T] = {}
        for path in sorted(self.folder.glob(f"*.{kind.suffix}")):
            try:
                blocks = path.read_text(encoding="utf-8")
            except (OSError, ValueError):
                blocks = ""
            if _checksum(blocks) == path.stem:
                trees |= dict(kind.read(blocks, texts))
            else:
                path.unlink(missing_ok=True)
        return trees


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _to_json_line(tree: BinaryTree, text: str) -> str:
    return json.dumps([text, asdict(tree)], ensure_ascii=False) + "\n"


def _from_json_lines(lines: str, only: Container[str]) -> Iterable[tuple[str, BinaryTree]]:
    for text, row in map(json.loads, lines.splitlines()):
        if text in only:
            merges = tuple((left, right) for left, right in row["merges"])
            yield text, BinaryTree(tuple(row["words"]), merges, row["source"])


def count_relations(trees: Iterable[Tree]) -> Counter[str]:
    """Count the relations in trees, including `root`."""
    return Counter(label for tree in trees for label in tree.labels)


def frequent_relations(counts: Counter[str], rare: float = RARE) -> tuple[str, ...]:
    """Return the relations with at least a share of `rare`, the most frequent first.

    All others are pooled as `OTHER`; Karpathy 2014 drops relations below 1%.
    """
    total = sum(counts.values())
    return tuple(label for label, n in counts.most_common() if n >= rare * total)
