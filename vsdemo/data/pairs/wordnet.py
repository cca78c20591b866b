"""WordNet's nouns (Miller 1995), version 3.0, and hierarchies of one's own.

Read from the official files `data.noun` and `index.noun`, wherever they are: `wordnet/dict/` or the
archive `wordnet3.0-nouns.tar.xz` below VSDEMO_DATA, or where Debian's `wordnet-base` puts them. A
concept is named by its first word and the number of that sense of the word, as `dog.n.01`.
"""

from __future__ import annotations

import lzma
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import numpy as np

from vsdemo.core.errors import UserError
from vsdemo.core.paths import data_root
from vsdemo.data.pairs.tsv import rows

HOW_TO_GET = (
    "get https://wordnetcode.princeton.edu/3.0/WNdb-3.0.tar.gz and unpack it to "
    "$VSDEMO_DATA/wordnet/, or install Debian's package wordnet-base"
)
ARCHIVE = "wordnet3.0-nouns.tar.xz"
DEBIAN = Path("/usr/share/wordnet")
FILES = ("data.noun", "index.noun")
UP = ("@", "@i")  # marks of what a concept is a kind of, and of what a person or place is one of
NAME = "wordnet"


@dataclass(frozen=True)
class Taxonomy:
    """Concepts, and which of them lie directly above each.

    parents[i]: numbers of the concepts directly above concept i.
    Raises UserError when lengths differ, a name comes twice, or concepts lie above each other in a
    circle.
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.parents):
            raise UserError("A hierarchy needs the concepts above each of its concepts.")
        if len(self.number) != len(self.names):
            twice = next(name for i, name in enumerate(self.names) if self.number[name] != i)
            raise UserError(f"The concept {twice!r} comes twice; name each once.")
        try:
            _ = self.order
        except CycleError as error:
            circle = " < ".join(self.names[i] for i in reversed(error.args[1]))
            raise UserError(
                f"These concepts lie above each other in a circle: {circle}; take one step out."
            ) from None

    @cached_property
    def number(self) -> dict[str, int]:
        """Name -> number."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def order(self) -> list[int]:
        """Numbers, every concept after all that lie above it."""
        return list(TopologicalSorter(dict(enumerate(self.parents))).static_order())

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """(general, specific) of each concept and those directly above it."""
        return tuple((parent, i) for i, above in enumerate(self.parents) for parent in above)

    def paths(self) -> np.ndarray:
        """(general, specific) of every path from a concept up to one above it, (P, 2): pairs that
        several paths join come several times, as in the released code of Vendrov 2016."""
        above: list[list[int]] = [[] for _ in self.names]
        for i in self.order:
            above[i] = [a for parent in self.parents[i] for a in (parent, *above[parent])]
        counts = [len(found) for found in above]
        general = np.fromiter((a for found in above for a in found), np.int32, sum(counts))
        return np.stack([general, np.repeat(np.arange(len(above), dtype=np.int32), counts)], 1)

    def closure(self) -> np.ndarray:
        """(general, specific) of all pairs of which one lies above the other, each once, sorted."""
        return np.unique(self.paths(), axis=0)


@lru_cache(maxsize=1)
def load() -> Taxonomy:
    """The 82,115 nouns. Raises UserError when the files are missing or damaged."""
    where, (data, index) = _files()
    senses: dict[tuple[str, int], int] = {}
    names: dict[int, str] = {}
    above: list[list[int]] = []
    try:
        for line in _entries(index):
            cells = line.split()
            offsets = cells[-int(cells[2]) :]
            senses |= {(cells[0], int(at)): n for n, at in enumerate(offsets, 1)}
        for line in _entries(data):
            cells = line.partition(" | ")[0].split(" ")
            at, word, first = int(cells[0]), cells[4].lower(), 4 + 2 * int(cells[3], 16)
            names[at] = f"{word}.n.{senses[word, at]:02}"
            links = cells[first + 1 : first + 1 + 4 * int(cells[first])]
            above.append(
                [int(to) for mark, to in zip(links[::4], links[1::4], strict=True) if mark in UP]
            )
        number = {at: i for i, at in enumerate(names)}
        parents = tuple(tuple(number[to] for to in found) for found in above)
    except (ValueError, LookupError):
        raise UserError(
            f"WordNet's files in {where} are damaged; get them anew: {HOW_TO_GET}."
        ) from None
    return Taxonomy(tuple(names.values()), parents)


def find() -> Path | None:
    """The folder or the archive that holds FILES; None where there is neither."""
    root = data_root()
    folders = [root / "wordnet" / "dict", root / "wordnet"] if root else []
    for folder in (*folders, DEBIAN):
        if all((folder / name).exists() for name in FILES):
            return folder
    return root / ARCHIVE if root and (root / ARCHIVE).exists() else None


def _files() -> tuple[Path, list[str]]:
    """(where they were found, the texts of FILES)."""
    if not (where := find()):
        raise UserError(f"WordNet is missing; {HOW_TO_GET}.")
    if where.name == ARCHIVE:
        return where, _unpacked(where)
    return where, [(where / name).read_text(encoding="latin-1") for name in FILES]


def _unpacked(path: Path) -> list[str]:
    try:
        with tarfile.open(path) as archive:
            found = {Path(m.name).name: m for m in archive.getmembers() if m.isfile()}
            opened = [archive.extractfile(found[name]) for name in FILES]
            return [file.read().decode("latin-1") for file in opened if file]
    except (tarfile.TarError, lzma.LZMAError, EOFError, KeyError, OSError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path} is damaged ({reason}); get it anew.") from None


def _entries(text: str) -> list[str]:
    """The lines of a file but for its licence, which stands in front."""
    return [line for line in text.split("\n") if line and not line.startswith(" ")]


def read(path: Path) -> Taxonomy:
    """A hierarchy of one's own: a line each a concept, a tab and a concept directly above it.

    Raises UserError as `Taxonomy` does, and naming file and line where one is damaged.
    """
    pairs = [(line.sentence(0), line.sentence(1)) for line in rows(path, 2)]
    if not pairs:
        raise UserError(f"{path} holds no pair of concepts; write one a line, a tab between.")
    return from_pairs(pairs)


def from_pairs(pairs: Sequence[tuple[str, str]]) -> Taxonomy:
    """The hierarchy of (concept, concept directly above it)."""
    number = {name: i for i, name in enumerate(dict.fromkeys(n for pair in pairs for n in pair))}
    above: list[dict[int, None]] = [{} for _ in number]
    for specific, general in pairs:
        above[number[specific]][number[general]] = None
    return Taxonomy(tuple(number), tuple(map(tuple, above)))
