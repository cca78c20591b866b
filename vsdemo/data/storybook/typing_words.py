"""The words of `typing_style.toml`: what can replace what in a typed sentence."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from vsdemo.data import packaged
from vsdemo.data.storybook.lexicon import Lexicon, head_index, load_lexicon
from vsdemo.data.text import inflection
from vsdemo.data.text.participles import past_participle
from vsdemo.data.text.vocab import tokenize

FILE = Path(__file__).with_name("typing_style.toml")
FUNCTION_WORDS = ("another", "any", "do", "does", "other")  # in addition to those of the lexicon
NO_ADJECTIVE = ("snow",)  # settings without rainy or sunny ones


class PhraseTable:
    """Phrases that others can replace.

    Args:
        others: Phrase -> what can replace it.
    """

    def __init__(self, others: Mapping[str, Iterable[str]]) -> None:
        self.others = {phrase: tuple(dict.fromkeys(each)) for phrase, each in others.items()}
        self._starts: dict[str, list[tuple[str, ...]]] = {}
        for phrase in sorted(self.others, key=lambda phrase: -len(phrase.split())):
            words = tuple(phrase.split())
            self._starts.setdefault(words[0], []).append(words)

    def phrases(self) -> Iterator[str]:
        """Yield what can replace any phrase."""
        for others in self.others.values():
            yield from others

    def replace(
        self, words: Sequence[str], chance: float, rng: Random, without: str = ""
    ) -> list[str]:
        """Return words with other phrases for some of those in the table, the longest first.

        Args:
            words: Words in lower case.
            chance: Probability that each phrase is replaced.
            rng: Chooses what replaces a phrase.
            without: A word that replacements must not contain.
        """
        result: list[str] = []
        at = 0
        while at < len(words):
            phrase = self._phrase_at(words, at)
            new = [other for other in self.others.get(phrase, ()) if without not in other.split()]
            if new and rng.random() < chance:
                result += rng.choice(new).split()
            else:
                result += phrase.split()
            at += len(phrase.split())
        return result

    def _phrase_at(self, words: Sequence[str], at: int) -> str:
        """Return the longest phrase of the table that starts at a word, or else the word."""
        for phrase in self._starts.get(words[at], ()):
            if tuple(words[at : at + len(phrase)]) == phrase:
                return " ".join(phrase)
        return words[at]


@dataclass(frozen=True)
class TypingWords:
    """The tables of `typing_style.toml`.

    Args:
        chances: Probability of each change to a sentence.
        shapes: Weights of the shapes of a sentence.
        others: Words and phrases of captions -> others of the same meaning.
        pairs: What can replace `two`.
        weather_adjectives: Place and weather -> place with an adjective.
        keywords: Phrases of place, time and weather -> one or two words.
        requests: Templates by what they take, `noun_phrase` or `sentence`.
        negations: Templates by what they deny.
        misspellings: Word -> frequent misspellings.
        known: All words of captions and of this file, and what mistakes could turn them into.
    """

    chances: Mapping[str, float]
    shapes: Mapping[str, float]
    others: PhraseTable
    pairs: Sequence[str]
    weather_adjectives: PhraseTable
    keywords: PhraseTable
    requests: Mapping[str, Sequence[str]]
    negations: Mapping[str, Sequence[str]]
    misspellings: Mapping[str, Sequence[str]]
    known: frozenset[str]


@cache
def load_typing_words() -> TypingWords:
    """Return the tables of the file, which is read once.

    Raises:
        DamagedFile: If it has changed.
    """
    tables = tomllib.loads(packaged.read_text(FILE))
    lexicon = load_lexicon()
    others = _others(tables, lexicon)
    adjectives = tables["weather_adjectives"]
    return TypingWords(
        chances=tables["chances"],
        shapes=tables["shapes"],
        others=PhraseTable(others),
        pairs=tables["pairs"]["two"],
        weather_adjectives=PhraseTable(_places_with_weather(adjectives, lexicon)),
        keywords=PhraseTable(_place_nouns(lexicon) | tables["keywords"]),
        requests=tables["requests"],
        negations=tables["negations"],
        misspellings=tables["misspellings"],
        known=frozenset((*lexicon.words(), *FUNCTION_WORDS, *_words([tables, [*others.values()]]))),
    )


@cache
def vocabulary() -> tuple[str, ...]:
    """Return all words of captions and of typed sentences, correctly spelt, captions first.

    Raises:
        DamagedFile: If the file of typed words has changed.
    """
    style = load_typing_words()
    tables = (style.others, style.weather_adjectives, style.keywords)
    phrases = [*style.pairs, *(phrase for table in tables for phrase in table.phrases())]
    for templates in (style.requests, style.negations):
        phrases += [template for options in templates.values() for template in options]
    texts = (re.sub(r"{\w*}", " ", phrase) for phrase in phrases)
    words = (word for text in texts for word in tokenize(text))
    return tuple(dict.fromkeys((*load_lexicon().words(), *FUNCTION_WORDS, *words)))


def _others(tables: Mapping[str, Any], lexicon: Lexicon) -> dict[str, list[str]]:
    """Return what can replace the words and phrases of captions."""
    result: dict[str, list[str]] = {}
    for phrase, others in (
        *_nouns(tables, lexicon),
        *_verbs(tables["verbs"], lexicon),
        *_clothes(tables, lexicon),
        *(item for name in ("adjectives", "phrases", "places") for item in tables[name].items()),
        *tables["times"].items(),
        *tables["weathers"].items(),
    ):
        result.setdefault(phrase, []).extend(other for other in others if other != phrase)
    return result


def _nouns(tables: Mapping[str, Any], lexicon: Lexicon) -> Iterator[tuple[str, list[str]]]:
    """Yield the nouns of each concept, singular and plural, and all the others of the concept."""
    for name, concept in lexicon.concepts.items():
        singulars = [*concept.nouns, *tables["nouns"].get(name, ())]
        plurals = [*map(plural, singulars), *tables["more_plurals"].get(name, ())]
        for noun in concept.nouns:
            yield noun, singulars
            yield plural(noun), plurals


def plural(noun: str) -> str:
    """Return the plural of a noun of the lexicon or of a typed one."""
    words = noun.split()
    at = head_index(words)
    return " ".join([*words[:at], inflection.plural(words[at]), *words[at + 1 :]])


def _verbs(table: Mapping[str, Sequence[str]], lexicon: Lexicon) -> Iterator[tuple[str, list[str]]]:
    """Yield the forms of each verb, and the same form of the others."""
    known = {
        wording.verb[0]: wording.verb
        for action in lexicon.actions.values()
        for wording in action.wordings
        if wording.verb
    }
    for phrase, others in table.items():
        own = _forms(phrase, known)
        forms = [_forms(other, known) for other in others]
        for number, form in enumerate(own):
            yield form, [other[number] for other in forms if len(other) > number]


def _forms(phrase: str, known: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the forms chase, chases, chasing, chased; not the last if words follow the verb."""
    verb, *rest = phrase.split()
    forms = [*known.get(verb, inflection.conjugate(verb))[:3]]
    if rest:
        return [" ".join((form, *rest)) for form in forms]
    participle = known[verb][3] if verb in known else past_participle(verb)
    return [*forms, participle] if participle else forms


def _clothes(tables: Mapping[str, Any], lexicon: Lexicon) -> Iterator[tuple[str, list[str]]]:
    """Yield "in red" with "wearing red" and others."""
    for colour in lexicon.colours:
        names = [colour, *tables["adjectives"].get(colour, ())]
        forms = product(tables["clothes"]["forms"], names)
        yield f"in {colour}", [form.format(name) for form, name in forms]


def _places_with_weather(
    adjectives: Mapping[str, Sequence[str]], lexicon: Lexicon
) -> dict[str, list[str]]:
    """Return "on the beach in the rain" -> "on the rainy beach" for places on the ground."""
    settings = [s for name, s in lexicon.settings.items() if name not in NO_ADJECTIVE]
    places = [phrase for s in settings for phrase in (*s.ground, *s.along)]
    return {
        f"{place} {weather}": [place.replace(" the ", f" the {adjective} ") for adjective in words]
        for place, (weather, words) in product(places, adjectives.items())
    }


def _place_nouns(lexicon: Lexicon) -> dict[str, list[str]]:
    """Return "on the beach" -> "beach" for all phrases of place."""
    phrases = [
        phrase
        for s in lexicon.settings.values()
        for phrase in (*s.ground, *s.air, *s.water, *s.surface, *s.along)
    ]
    return {phrase: [phrase.split(" the ")[1]] for phrase in phrases}


def _words(value: Any) -> Iterator[str]:
    """Yield the words of the keys and of all texts of a table except its misspellings."""
    if isinstance(value, str):
        yield from value.replace("-", " ").split()
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _words(key)
            if key != "misspellings":
                yield from _words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner)
