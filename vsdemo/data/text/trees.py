"""Dependency trees on disk: parsed once for each sentence and version of the parser."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from tqdm import tqdm

from vsdemo.core.errors import UserError
from vsdemo.core.paths import home, write_text
from vsdemo.core.progress import Progress
from vsdemo.core.sentences import BinaryTree, Tree
from vsdemo.data.text import conllu, parser
from vsdemo.data.text.constituents import from_dependencies

SHARD = 1000  # sentences a file, and so the most that a killed run parses again
RARE = 0.01  # share of all relations below which one is pooled (Karpathy 2014, section 4.1)
OTHER = "other"

Record = TypeVar("Record")


class Format(NamedTuple, Generic[Record]):
    """How one kind of tree is made and kept: file ending, parser, block writer, file reader."""

    ending: str
    parse: Callable[[Sequence[str]], list[Record]]
    write: Callable[[Record, str], str]
    read: Callable[[str], Iterable[tuple[str, Record]]]


class TreeCache:
    """Trees of one parser, below VSDEMO_HOME/trees.

    A file is written whole or not at all, so a run that was killed goes on where it stood.
    """

    def __init__(self, parser_name: str = "shipped") -> None:
        self.parser = parser.load(parser_name)
        self.folder: Path = home() / "trees" / f"{parser_name}-{self.parser.version}"

    def get(self, texts: Sequence[str], progress: Progress | None = None) -> list[Tree]:
        """The dependency trees of texts, parsing what is missing, a text of two places once.

        Shows a progress bar in the terminal, or calls `progress`. Raises UserError for a text
        without a word; all before it are stored.
        """
        dependencies = Format("conllu", self.parser.parse, conllu.write, conllu.read)
        return self._cached(texts, dependencies, progress)

    def constituents(
        self, texts: Sequence[str], progress: Progress | None = None
    ) -> list[BinaryTree]:
        """Binary constituency trees: the parser's own where it has a model for them, otherwise
        made from the dependencies. Their `source` says which. Progress and errors as in `get`."""
        if not self.parser.has_constituency:
            return [from_dependencies(tree) for tree in self.get(texts, progress)]
        phrases = Format("jsonl", self.parser.constituency, _json_line, _read_json_lines)
        return self._cached(texts, phrases, progress)

    def _cached(
        self, texts: Sequence[str], kind: Format[Record], progress: Progress | None
    ) -> list[Record]:
        keys = [parser.normalize(text) for text in texts]
        known = self._known(kind)
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        with tqdm(total=len(missing), desc="parsing", disable=not missing) as bar:
            for start in range(0, len(missing), SHARD):
                part = missing[start : start + SHARD]
                trees = dict(zip(part, kind.parse(part), strict=True))
                blocks = (kind.write(tree, text) for text, tree in trees.items())
                write_text(self.folder / f"{uuid.uuid4().hex}.{kind.ending}", "".join(blocks))
                known |= trees
                bar.update(len(part))
                if progress:
                    progress(start + len(part), len(missing))
        return [known[key] for key in keys]

    def _known(self, kind: Format[Record]) -> dict[str, Record]:
        """What is stored, by text; a damaged file counts as missing."""
        found: dict[str, Record] = {}
        for path in sorted(self.folder.glob(f"*.{kind.ending}")):
            try:
                found |= dict(kind.read(path.read_text(encoding="utf-8")))
            except (UserError, OSError, ValueError, TypeError, KeyError):
                continue
        return found


def _json_line(tree: BinaryTree, text: str) -> str:
    return json.dumps([text, asdict(tree)], ensure_ascii=False) + "\n"


def _read_json_lines(lines: str) -> Iterable[tuple[str, BinaryTree]]:
    for text, row in map(json.loads, lines.splitlines()):
        merges = tuple((left, right) for left, right in row["merges"])
        yield text, BinaryTree(tuple(row["words"]), merges, row["source"])


def count_relations(trees: Iterable[Tree]) -> Counter[str]:
    """How often each relation stands in the trees, the root's among them."""
    return Counter(label for tree in trees for label in tree.labels)


def frequent_relations(counts: Counter[str], rare: float = RARE) -> tuple[str, ...]:
    """The relations with at least a share of `rare`, most frequent first; the others are pooled
    as `other` (Karpathy 2014 drops below 1%)."""
    total = sum(counts.values())
    return tuple(label for label, n in counts.most_common() if n >= rare * total)


def pooled(label: str, kept: Sequence[str]) -> str:
    """The relation itself where it is kept, otherwise `other`."""
    return label if label in kept else OTHER
