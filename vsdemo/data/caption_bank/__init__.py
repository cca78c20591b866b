"""A bank of captions: what everyday photos show, in sentences of vsdemo's own writing.

They describe photos that come without captions. A photo that a visitor brings is matched with all
of them, so they are spread over what people photograph: `plan.toml` says how many each topic has,
`words.toml` holds the people and words that topics share, and each topic has a file of phrases
from which `grammar` makes sentences, the same ones every time.
"""

from __future__ import annotations

import random
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from vsdemo.data.caption_bank.grammar import Dealer, open_book

__all__ = ["sentences", "topics"]

FOLDER = Path(__file__).parent
SEED = 0


def read(name: str) -> dict[str, Any]:
    """One of the bank's files."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def topics() -> dict[str, tuple[str, ...]]:
    """The sentences of each topic. Who does what is told once in the whole bank, whatever the
    clothes and the place; a topic deals its own cards, so that a change to it leaves the others."""
    shared, seen = read("words"), set()
    told = {}
    for counts in read("plan").values():
        for topic, count in counts.items():
            dealer = Dealer(random.Random(f"{SEED} {topic}"))
            told[topic] = tuple(open_book(read(topic), shared, dealer, seen).tell(count))
    return told


def sentences() -> tuple[str, ...]:
    """All sentences, topic by topic."""
    return tuple(text for told in topics().values() for text in told)
