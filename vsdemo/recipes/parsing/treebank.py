"""UD English EWT (Silveira et al. 2014) in the form that Stanza's training code needs.

A sentence is a list of CoNLL-U rows of ten columns. Rows of multi-word tokens are kept, empty nodes
are dropped.
"""

from __future__ import annotations

import random
import re
import tarfile
from collections.abc import Iterable
from pathlib import Path

from vsdemo.core.paths import require_data, write_text

Rows = list[list[str]]
LONGEST = 24  # characters of a word that are kept; only web addresses are longer
FOLD = 40  # neighboring sentences that stay together when the treebank is halved


def read(split: str) -> str:
    """Return the CoNLL-U text of train, dev or test.

    Raises:
        UserError: If the treebank is missing.
    """
    archive = require_data("ud_english_ewt.tar.xz", what="UD English EWT")
    with tarfile.open(archive) as tar:
        file = tar.extractfile(f"ud_english_ewt/en_ewt-ud-{split}.conllu")
        assert file is not None
        return file.read().decode()


def sentences(conllu: str) -> list[Rows]:
    """Return the sentences of a CoNLL-U text, without comments and empty nodes."""
    trees = []
    for block in re.split(r"\n\s*\n", conllu.strip()):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        trees.append([row for row in rows if "." not in row[0]])
    return trees


def clean(rows: Rows) -> Rows:
    """Keep only what the models learn: word, UPOS, XPOS, head and relation."""
    return [[r[0], r[1][:LONGEST], "_", *r[3:5], "_", *r[6:8], "_", r[9]] for r in rows]


def write(path: Path, trees: Iterable[Rows]) -> None:
    """Write sentences as CoNLL-U, atomically."""
    blocks = ("\n".join("\t".join(row) for row in rows) for rows in trees)
    write_text(path, "".join(f"{block}\n\n" for block in blocks))


def halves(trees: list[Rows], seed: int = 0) -> tuple[list[Rows], list[Rows]]:
    """Return two halves in blocks of neighbors, so that one can tag the other as unseen text."""
    blocks = [trees[i : i + FOLD] for i in range(0, len(trees), FOLD)]
    random.Random(seed).shuffle(blocks)
    first, second = ([t for block in blocks[i::2] for t in block] for i in (0, 1))
    return first, second


def plain_text(conllu: str) -> str:
    """Return the raw text of a treebank, with an empty line between paragraphs."""
    paragraphs: list[list[str]] = []
    for line in conllu.split("\n"):
        if line.startswith(("# newpar", "# newdoc")) or not paragraphs:
            paragraphs.append([])
        if line.startswith("# text = "):
            paragraphs[-1].append(line.removeprefix("# text = "))
    return "\n\n".join(" ".join(p) for p in paragraphs if p) + "\n"
