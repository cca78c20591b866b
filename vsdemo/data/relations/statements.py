"""What follows from several sentences of the caption bank, and from which: "a dog", "a dog runs".

`derive` finds them by parsing the bank and reading WordNet; `statements.tsv` stores them with the
numbers of these sentences. Unlike the common sentences, which the Hierarchy tab shows, they name
kinds of things that the bank does not name, such as animals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from vsdemo.data import packaged
from vsdemo.data.relations import common_sentences

FILE = Path(__file__).with_name("statements.tsv")
KINDS = ("animal", "vehicle")
ODD = re.compile(r"\bof (animal|vehicle)\b|\bcovered$")  # wording that nobody would choose
NAMING = ("A {}.", "A small {}.", "A {} outside.", "Two {}s.", "{}s.")  # enough uses to be a name


@cache
def texts() -> tuple[str, ...]:
    """Return the K statements, in lower case and without punctuation."""
    return tuple(text for text, _ in _rows())


@cache
def follows_from() -> tuple[tuple[int, ...], ...]:
    """Return for each statement the numbers of the sentences from which it follows, ascending."""
    return tuple(tuple(map(int, numbers.split())) for _, numbers in _rows())


def _rows() -> Iterator[tuple[str, str]]:
    for line in packaged.read_text(FILE).splitlines():
        text, numbers = line.split("\t")
        yield text, numbers


def derive() -> dict[str, list[int]]:
    """Derive the statements from the caption bank, the most common first.

    Returns:
        Statement -> the numbers of the sentences of the bank from which it follows.

    Raises:
        UserError: WordNet is missing.
    """
    naming = [template.format(kind) for kind in KINDS for template in NAMING]
    every = common_sentences.consequences(naming)
    return {text: numbers for text, numbers in every.items() if not ODD.search(text)}
