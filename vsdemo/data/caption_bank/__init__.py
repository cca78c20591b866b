"""The caption bank: sentences about everyday photos, written for vsdemo.

They describe photos that come without captions, such as a visitor's own, so they cover what people
photograph. `plan.toml` has the number of sentences of each topic, `words.toml` the people and words
that topics share, and every topic has a file of phrases. `grammar.py` combines these to sentences,
the same ones every time, with the verb forms of `english.py`.
"""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from vsdemo.data import packaged
from vsdemo.data.caption_bank.grammar import Dealer, parse_topic
from vsdemo.data.text.vocab import tokenize

__all__ = ["sentences", "topics", "words"]

FOLDER = Path(__file__).parent
SEED = 0


def read_file(name: str) -> dict[str, Any]:
    """Return one of the bank's files."""
    return tomllib.loads(packaged.read_text(FOLDER / f"{name}.toml"))


@cache
def topics() -> dict[str, tuple[str, ...]]:
    """Return the sentences of each topic.

    No two sentences of the bank differ only in clothes and place. Each topic has its own random
    numbers, so a change to one leaves the others as they are.
    """
    shared = read_file("words")
    seen: set[tuple[str, ...]] = set()
    result = {}
    for counts in read_file("plan").values():
        for topic, count in counts.items():
            dealer = Dealer(random.Random(f"{SEED} {topic}"))
            result[topic] = tuple(parse_topic(read_file(topic), shared, dealer, seen).write(count))
    return result


@cache
def words() -> tuple[str, ...]:
    """Return the words of all sentences, the most frequent first."""
    counts = Counter(word for text in sentences() for word in tokenize(text))
    return tuple(word for word, _ in counts.most_common())


def sentences() -> tuple[str, ...]:
    """Return all sentences, topic by topic."""
    return tuple(text for texts in topics().values() for text in texts)
