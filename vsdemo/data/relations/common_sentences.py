"""Common sentences, such as "a dog runs": true of many photos, more specific than concepts.

Each follows from several sentences of the caption bank. `derive` finds them by parsing the bank and
reading WordNet; `common_sentences.txt` stores the result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.data import caption_bank, packaged
from vsdemo.data.relations import generalize
from vsdemo.data.relations.caption_nouns import read_captions
from vsdemo.data.text.trees import TreeCache

FILE = Path(__file__).with_name("common_sentences.txt")
LEAST = 4  # sentences of the bank that a common sentence follows from
# Phrases about a known thing or about one of several, a possessive "s", and a thing that is named
# twice or in words that are too general.
UNUSUAL = re.compile(
    r"^(the|another|other|some|each|its|his|her|their) "
    r"|^(.+) and \2$| s |\b(in|on) its\b"
    r"|\bperson and\b|\band (a person|people|((her|his) (two )?(people|person)))\b"
    r"|\b(drink|drinking|eating|eats|of|and) food\b|^food (is|and)\b"
    r"|^a (close|row|block|line|throw|light|ground|fair|home)$"
)


@cache
def sentences() -> tuple[str, ...]:
    """Return the common sentences, in lower case and without punctuation."""
    return tuple(packaged.read_text(FILE).splitlines())


def derive() -> list[str]:
    """Derive the common sentences from the caption bank, the most common first.

    Raises:
        UserError: WordNet is missing.
    """
    return list(consequences())


def consequences(naming: Sequence[str] = ()) -> dict[str, list[int]]:
    """Return what follows from at least LEAST sentences of the caption bank, the most common first.

    Args:
        naming: Sentences that are read with the bank, so that their nouns are names for kinds.

    Returns:
        Text -> the numbers of the sentences of the bank from which it follows, ascending.

    Raises:
        UserError: WordNet is missing.
    """
    bank = caption_bank.sentences()
    every = [*bank, *naming]
    trees, nouns = read_captions(TreeCache().get(every), range(len(every)))
    follows: dict[str, list[int]] = {}
    for number, tree in enumerate(trees[: len(bank)]):
        try:
            closure = generalize.closure([tree], nouns)
        except UserError:  # too many
            continue
        for text in closure:
            follows.setdefault(text, []).append(number)
    ordered = sorted(follows.items(), key=lambda item: -len(item[1]))
    return {
        text: numbers
        for text, numbers in ordered
        if len(numbers) >= LEAST and not UNUSUAL.search(text)
    }
