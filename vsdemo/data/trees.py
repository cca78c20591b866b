"""Dependency trees on disk: parsed once for each sentence and version of the parser."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tqdm import tqdm

from vsdemo.data import conllu, parser
from vsdemo.paths import home, write_text
from vsdemo.types import Tree, UserError

SHARD = 1000  # sentences a file, and so the most that a killed run parses again
RARE = 0.01  # share of all relations below which one is pooled (Karpathy 2014, section 4.1)
OTHER = "other"

Progress = Callable[[int, int], None]  # sentences done, sentences in all


class TreeCache:
    """Trees of one parser, as CoNLL-U files below VSDEMO_HOME/trees.

    A file is written whole or not at all, so a run that was killed goes on where it stood.
    """

    def __init__(self, parser_name: str = "shipped") -> None:
        self.parser = parser.load(parser_name)
        self.folder: Path = home() / "trees" / f"{parser_name}-{self.parser.version}"

    def get(self, texts: Sequence[str], progress: Progress | None = None) -> list[Tree]:
        """The trees of texts, parsing what is missing, a text that stands there twice once.

        Shows a progress bar in the terminal, or calls `progress`. Raises UserError for a text
        without a word; all before it are stored.
        """
        keys = [parser.tidy(text) for text in texts]
        known = self._known()
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        with tqdm(total=len(missing), desc="parsing", disable=not missing) as bar:
            for start in range(0, len(missing), SHARD):
                part = missing[start : start + SHARD]
                trees = dict(zip(part, self.parser.parse(part), strict=True))
                blocks = (conllu.write(tree, text) for text, tree in trees.items())
                write_text(self.folder / f"{uuid.uuid4().hex}.conllu", "".join(blocks))
                known |= trees
                bar.update(len(part))
                if progress:
                    progress(start + len(part), len(missing))
        return [known[key] for key in keys]

    def _known(self) -> dict[str, Tree]:
        """What is stored, by text; a damaged file counts as missing."""
        found: dict[str, Tree] = {}
        for path in sorted(self.folder.glob("*.conllu")):
            try:
                found |= dict(conllu.read(path.read_text(encoding="utf-8")))
            except (UserError, OSError, UnicodeDecodeError):
                continue
        return found


def relations(trees: Iterable[Tree]) -> Counter[str]:
    """How often each relation stands in the trees, the root's among them."""
    return Counter(label for tree in trees for label in tree.labels)


def frequent(counts: Counter[str], rare: float = RARE) -> tuple[str, ...]:
    """The relations with at least a share of `rare`, most frequent first; the others are pooled
    as `other` (Karpathy 2014 drops below 1%)."""
    total = sum(counts.values())
    return tuple(label for label, n in counts.most_common() if n >= rare * total)


def pooled(label: str, kept: Sequence[str]) -> str:
    """The relation itself where it is kept, otherwise `other`."""
    return label if label in kept else OTHER
