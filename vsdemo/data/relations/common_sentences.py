"""Common sentences, such as "a dog runs": true of many photos, more special than concepts.

They are what follows from several sentences of the caption bank. `common_sentences.txt` holds them,
as the bank has to be parsed and WordNet to be read to find them; `derive` does.
"""

from __future__ import annotations

import re
from collections import Counter
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
    bank = caption_bank.sentences()
    trees, nouns = read_captions(TreeCache().get(bank), range(len(bank)))
    counts: Counter[str] = Counter()
    for tree in trees:
        try:
            closure = generalize.closure([tree], nouns)
        except UserError:  # too many
            continue
        counts.update(closure.keys())
    return [text for text, n in counts.most_common() if n >= LEAST and not UNUSUAL.search(text)]
