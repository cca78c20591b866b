"""The nouns of WordNet 3.0 (Miller 1995), and the user's own taxonomies.

The official files `data.noun` and `index.noun` are read from `wordnet/dict/` or the archive
`wordnet3.0-nouns.tar.xz` below VSDEMO_DATA, or from Debian's package `wordnet-base`. A concept is
named by its first word and the number of that word's sense, such as `dog.n.01`.
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
from vsdemo.data.sources import Source

NAME = "wordnet"
HOW_TO_GET = (
    "get https://wordnetcode.princeton.edu/3.0/WNdb-3.0.tar.gz and unpack it to "
    "$VSDEMO_DATA/wordnet/, or install Debian's package wordnet-base"
)
ARCHIVE = "wordnet3.0-nouns.tar.xz"
DEBIAN = Path("/usr/share/wordnet")
DATA, INDEX = "data.noun", "index.noun"
HYPERNYM_POINTERS = ("@", "@i")  # `@i` points from an instance, such as a person or a place


@dataclass(frozen=True)
class Taxonomy:
    """Concepts and their hypernyms, a directed acyclic graph.

    Args:
        names: The C concepts.
        parents: For each concept the indices of its direct hypernyms.

    Raises:
        UserError: The lengths differ, a name occurs twice, or there is a cycle.
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.parents):
            raise UserError("A taxonomy needs the hypernyms of each of its concepts.")
        if len(self.index_of) != len(self.names):
            twice = next(name for i, name in enumerate(self.names) if self.index_of[name] != i)
            raise UserError(f"The concept {twice!r} occurs twice; use each name once.")
        try:
            _ = self.order
        except CycleError as error:
            cycle = " < ".join(self.names[i] for i in reversed(error.args[1]))
            raise UserError(
                f"These concepts form a cycle: {cycle}; remove one of the pairs."
            ) from None

    @cached_property
    def index_of(self) -> dict[str, int]:
        """The index of each name."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def order(self) -> list[int]:
        """The concepts in topological order: every concept after all of its hypernyms."""
        return list(TopologicalSorter(dict(enumerate(self.parents))).static_order())

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """(hypernym, hyponym) of all direct relations."""
        return tuple((parent, i) for i, parents in enumerate(self.parents) for parent in parents)

    def ancestors(self, concept: int) -> set[int]:
        """Return the indices of all hypernyms of a concept."""
        above: set[int] = set()
        pending = [*self.parents[concept]]
        while pending:
            current = pending.pop()
            if current not in above:
                above.add(current)
                pending += self.parents[current]
        return above

    def paths(self) -> np.ndarray:
        """Return (hypernym, hyponym) for every upward path, `(P, 2)`.

        A pair that several paths connect occurs several times, as in the released code of Vendrov
        2016.
        """
        above: list[list[int]] = [[] for _ in self.names]
        for concept in self.order:
            for parent in self.parents[concept]:
                above[concept] += [parent, *above[parent]]
        counts = [len(hypernyms) for hypernyms in above]
        flat = (hypernym for hypernyms in above for hypernym in hypernyms)
        hypernym = np.fromiter(flat, np.int32, sum(counts))  # (P,)
        hyponym = np.repeat(np.arange(len(above), dtype=np.int32), counts)  # (P,)
        return np.stack([hypernym, hyponym], axis=1)

    def closure(self) -> np.ndarray:
        """Return the transitive closure: all pairs (hypernym, hyponym), sorted, `(E, 2)`."""
        return np.unique(self.paths(), axis=0)


@dataclass(frozen=True)
class Nouns:
    """The concepts with their words.

    Args:
        taxonomy: The concepts.
        words: For each concept its words in lower case, with spaces for underscores.
        senses: For each word the indices of its concepts, the most frequent sense first.
        kinds: For each concept the number of its file in lexnames(5WN), such as 5 for animals.
        at_offset: The index of the concept at each offset in `data.noun`, by which ImageNet names
            its classes.
    """

    taxonomy: Taxonomy
    words: tuple[tuple[str, ...], ...]
    senses: dict[str, tuple[int, ...]]
    kinds: tuple[int, ...]
    at_offset: dict[int, int]

    @cached_property
    def ancestors(self) -> tuple[frozenset[int], ...]:
        """The indices of all hypernyms of each concept."""
        above: list[frozenset[int]] = [frozenset()] * len(self.words)
        for concept in self.taxonomy.order:
            parents = self.taxonomy.parents[concept]
            above[concept] = frozenset(parents).union(*(above[parent] for parent in parents))
        return tuple(above)


def load() -> Taxonomy:
    """Return the 82,115 nouns.

    Raises:
        UserError: The files are missing or damaged.
    """
    return load_nouns().taxonomy


@lru_cache(maxsize=1)
def load_nouns() -> Nouns:
    """Return the nouns with their words.

    Raises:
        UserError: The files are missing or damaged.
    """
    location = find()
    if location is None:
        raise UserError(f"WordNet is missing; {HOW_TO_GET}.")
    data, index = _read_archive(location) if location.name == ARCHIVE else _read_folder(location)
    try:
        return _parse(data, index)
    except (ValueError, LookupError):
        raise UserError(
            f"WordNet's files in {location} are damaged; download them again: {HOW_TO_GET}."
        ) from None


def find() -> Path | None:
    """Return the folder or the archive with the nouns; None if they are missing."""
    root = data_root()
    folders = [root / "wordnet" / "dict", root / "wordnet"] if root else []
    for folder in (*folders, DEBIAN):
        if (folder / DATA).exists() and (folder / INDEX).exists():
            return folder
    return root / ARCHIVE if root and (root / ARCHIVE).exists() else None


SOURCE = Source(NAME, HOW_TO_GET, find)


def _read_folder(folder: Path) -> tuple[str, str]:
    """Return the texts of `DATA` and `INDEX`."""
    return (folder / DATA).read_text("latin-1"), (folder / INDEX).read_text("latin-1")


def _read_archive(path: Path) -> tuple[str, str]:
    try:
        with tarfile.open(path) as archive:
            members = {Path(m.name).name: m for m in archive.getmembers() if m.isfile()}

            def read(name: str) -> str:
                file = archive.extractfile(members[name])
                return file.read().decode("latin-1") if file else ""

            return read(DATA), read(INDEX)
    except (tarfile.TarError, lzma.LZMAError, EOFError, KeyError, OSError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path} is damaged ({reason}); download it again.") from None


def _parse(data: str, index: str) -> Nouns:
    """Parse the formats of wndb(5WN)."""
    senses: dict[tuple[str, int], int] = {}  # (word, offset of a synset) -> number of the sense
    offsets_of: dict[str, list[int]] = {}
    for line in _entries(index):
        cells = line.split()
        offsets = cells[-int(cells[2]) :]
        offsets_of[cells[0].replace("_", " ")] = [int(offset) for offset in offsets]
        for number, offset in enumerate(offsets, start=1):
            senses[cells[0], int(offset)] = number
    names: dict[int, str] = {}  # by offset
    words: list[tuple[str, ...]] = []
    kinds: list[int] = []
    hypernyms: list[list[int]] = []  # offsets
    for line in _entries(data):
        cells = line.partition(" | ")[0].split(" ")
        concept, word = int(cells[0]), cells[4].lower()
        names[concept] = f"{word}.n.{senses[word, concept]:02}"
        pointers = 4 + 2 * int(cells[3], 16)  # after w_cnt pairs of word and lex_id
        words.append(tuple(cell.lower().replace("_", " ") for cell in cells[4:pointers:2]))
        kinds.append(int(cells[1]))
        links = cells[pointers + 1 : pointers + 1 + 4 * int(cells[pointers])]
        hypernyms.append(
            [
                int(target)
                for symbol, target in zip(links[::4], links[1::4], strict=True)
                if symbol in HYPERNYM_POINTERS
            ]
        )
    if not names:
        raise ValueError("there are no nouns")
    number_of = {offset: i for i, offset in enumerate(names)}
    parents = tuple(tuple(number_of[offset] for offset in offsets) for offsets in hypernyms)
    return Nouns(
        Taxonomy(tuple(names.values()), parents),
        words=tuple(words),
        senses={
            word: tuple(number_of[offset] for offset in offsets)
            for word, offsets in offsets_of.items()
        },
        kinds=tuple(kinds),
        at_offset=number_of,
    )


def _entries(text: str) -> list[str]:
    """Return the lines without the licence, whose lines begin with a space."""
    return [line for line in text.split("\n") if line and not line.startswith(" ")]


def read(path: Path) -> Taxonomy:
    """Return the taxonomy in a file with lines of a concept, a tab and a direct hypernym.

    Raises:
        UserError: The file is missing, malformed in the line that the message names, or as for
            `Taxonomy`.
    """
    pairs = [(line.sentence(0), line.sentence(1)) for line in rows(path, 2)]
    if not pairs:
        raise UserError(
            f"{path} contains no pairs; write one per line, a concept, a tab and its hypernym."
        )
    return from_pairs(pairs)


def from_pairs(pairs: Sequence[tuple[str, str]]) -> Taxonomy:
    """Return the taxonomy of pairs (concept, direct hypernym)."""
    names = dict.fromkeys(name for pair in pairs for name in pair)
    index_of = {name: i for i, name in enumerate(names)}
    parents: list[dict[int, None]] = [{} for _ in names]
    for hyponym, hypernym in pairs:
        parents[index_of[hyponym]][index_of[hypernym]] = None
    return Taxonomy(tuple(names), tuple(tuple(above) for above in parents))
