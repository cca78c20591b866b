"""Sentences as people type them, with their meanings, so that answers can be judged by facts.

A meaning is a list of clauses, separated by semicolons:

    2 small brown dog           at least two things that are alike
    woman holds red balloon     an action or a relation of one or two things
    place beach                 a setting or a side; also `time` and `weather`
    no girl with hat            what must not be true

Things that are described by the same words are the same thing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from vsdemo.data import packaged
from vsdemo.data.storybook.facts import Facts, Thing, entails
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.scene import Link

FILE = Path(__file__).with_suffix(".toml")
CIRCUMSTANCES = ("place", "time", "weather")
NOT = "no "


@dataclass(frozen=True)
class TypedSentence:
    """A sentence and its meaning.

    Args:
        text: The sentence.
        facts: What must follow from the facts of a scene.
        absent: What must not follow from them.
    """

    text: str
    facts: Facts
    absent: tuple[Facts, ...] = ()

    def is_true(self, scene: Facts) -> bool:
        """Return whether the sentence is true of a scene."""
        return entails(scene, self.facts) and not any(entails(scene, f) for f in self.absent)


@cache
def typed_sentences(split: str) -> tuple[TypedSentence, ...]:
    """Return the sentences that were written for a split; none but dev and test have any."""
    table: Mapping[str, Mapping[str, str]] = tomllib.loads(packaged.read_text(FILE))
    return tuple(typed_sentence(text, meaning) for text, meaning in table.get(split, {}).items())


def typed_sentence(text: str, meaning: str) -> TypedSentence:
    """Return a sentence with its meaning, which is written as above."""
    clauses = [clause.strip() for clause in meaning.split(";")]
    present = [clause for clause in clauses if not clause.startswith(NOT)]
    absent = [clause.removeprefix(NOT) for clause in clauses if clause.startswith(NOT)]
    return TypedSentence(text, parse(present), tuple(parse([clause]) for clause in absent))


def parse(clauses: Sequence[str]) -> Facts:
    """Return the facts that clauses state.

    Raises:
        ValueError: A word is not in the lexicon, or not at its place.
    """
    lexicon = load_lexicon()
    things: list[Thing] = []
    links: list[Link] = []
    circumstances: dict[str, str] = {}
    for clause in clauses:
        words = clause.split()
        if words[0] in CIRCUMSTANCES:
            circumstances[words[0]] = _circumstance(*words)
            continue
        at = next((i for i, word in enumerate(words) if i and word in lexicon.actions), len(words))
        numbers = []
        for part in (words[:at], words[at + 1 :]):
            if part:
                thing = _thing(part)
                if thing not in things:
                    things.append(thing)
                numbers.append(things.index(thing))
        if at < len(words):
            links.append(Link(words[at], *numbers))
    return Facts(tuple(things), tuple(links), **circumstances)


def _circumstance(kind: str, name: str) -> str:
    lexicon = load_lexicon()
    names = {
        "place": {*lexicon.settings, *lexicon.sides},
        "time": {*lexicon.times},
        "weather": {*lexicon.weathers},
    }
    if name not in names[kind]:
        raise ValueError(f"the lexicon has no {kind} {name!r}")
    return name


def _thing(words: Sequence[str]) -> Thing:
    lexicon, rest = load_lexicon(), list(words)
    count = int(rest.pop(0)) if rest[0].isdigit() else 1
    size = rest.pop(0) if rest[0] in lexicon.sizes else None
    colour = rest.pop(0) if rest[0] in lexicon.colours else None
    if len(rest) != 1 or rest[0] not in lexicon.concepts:
        raise ValueError(f"{' '.join(words)!r} is no thing")
    return Thing(rest[0], count, colour, size)
