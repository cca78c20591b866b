"""The word list of typed sentences: other words mean the same and nothing else."""

import tomllib
from random import Random

import pytest

from tests.support.storybook_scenes import WORDS, phrases_of
from vsdemo.data.storybook.typing_words import (
    FILE,
    PhraseTable,
    load_typing_words,
    plural,
    vocabulary,
)

TABLES = tomllib.loads(FILE.read_text(encoding="utf-8"))
STYLE = load_typing_words()
OTHERS = STYLE.others.others


def test_no_word_names_two_concepts():
    owner: dict[str, str] = {}
    for name, concept in WORDS.concepts.items():
        singulars = [*concept.nouns, *TABLES["nouns"].get(name, ())]
        more = TABLES["more_plurals"].get(name, ())
        for noun in {*singulars, *map(plural, singulars), *more}:
            assert owner.setdefault(noun, name) == name


def test_tables_speak_of_the_lexicon():
    assert set(TABLES["nouns"]) | set(TABLES["more_plurals"]) <= set(WORDS.concepts)
    settings, times, weathers = (
        {phrase for entry in table.values() for phrase in phrases_of(entry)}
        for table in (WORDS.settings, WORDS.times, WORDS.weathers)
    )
    places = settings | {phrase for side in WORDS.sides.values() for phrase in side}
    assert set(TABLES["places"]) == places
    assert set(TABLES["times"]) == times
    assert set(TABLES["weathers"]) == weathers
    assert set(TABLES["weather_adjectives"]) <= weathers
    assert set(TABLES["keywords"]) == times | weathers | {"outside", "inside"}
    words = {*WORDS.words(), *(n for c in WORDS.concepts.values() for n in c.nouns)}
    for name in ("verbs", "adjectives", "phrases"):
        assert {word for phrase in TABLES[name] for word in phrase.split()} <= words | {"there"}


def test_no_place_time_or_weather_is_said_like_another():
    owner: dict[str, str] = {}
    entries = {**WORDS.settings, **WORDS.times, **WORDS.weathers}
    phrases = {name: phrases_of(entry) for name, entry in entries.items()} | {**WORDS.sides}
    for name, own in phrases.items():
        for phrase in own:
            for way in (phrase, *OTHERS.get(phrase, ())):
                assert owner.setdefault(way, name) == name


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("women", {"ladies", "young women"}),
        ("babies", {"infants", "toddlers"}),
        ("loaves of bread", {"loaves", "bread loaves"}),
        ("mice", set()),
        ("chasing", {"running after", "pursuing"}),
        ("chased", {"pursued"}),
        ("carries", set()),
        ("holds", {"carries", "has"}),
        ("rides", {"rides on"}),
        ("ridden", set()),
        ("lying", {"lying down", "resting", "relaxing"}),
        ("in grey", {"wearing gray", "in grey clothes"}),
    ],
)
def test_other_words(word, expected):
    others = set(OTHERS.get(word, ()))
    assert expected <= others
    assert expected or not others


def test_words_never_stand_for_themselves():
    assert all(phrase not in others for phrase, others in OTHERS.items())


def test_misspellings_are_no_words_of_captions():
    wrong = {each for several in STYLE.misspellings.values() for each in several}
    assert set(STYLE.misspellings) <= set(WORDS.words())
    assert not wrong & STYLE.known


def test_the_vocabulary_has_the_words_of_captions_and_typed_ones_and_no_mistakes():
    words = vocabulary()
    assert words[: len(WORDS.words())] == WORDS.words()
    assert {"puppy", "grownup", "pictures", "without", "pursued", "rainy"} <= set(words)
    wrong = {each for several in STYLE.misspellings.values() for each in several}
    assert not wrong & set(words)
    assert all(word == word.lower() and "{" not in word for word in words)


def test_the_longest_phrase_counts():
    table = PhraseTable({"bear": ["grizzly"], "teddy bear": ["toy"], "in the": ["within the"]})
    words = ["a", "teddy", "bear", "and", "a", "bear", "in", "the", "in"]
    assert " ".join(table.replace(words, 1, Random(0))) == "a toy and a grizzly within the in"
    assert table.replace(words, 0, Random(0)) == words
    assert table.replace(["bear"], 1, Random(0), without="grizzly") == ["bear"]
