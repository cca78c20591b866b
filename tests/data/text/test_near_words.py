from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.data import caption_bank
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.text.near_words import COUNT, SHORTEST, WordList, stems
from vsdemo.evaluation.tasks.typos import typo

STORYBOOK = WordList(load_lexicon().words())
BANK = WordList(caption_bank.words())
words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=10)


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("elefant", "elephant"),
        ("ELEFANT", "elephant"),
        ("hosre", "horse"),
        ("dgo", "dog"),
        ("chldren", "children"),
        ("zebras", "zebra"),
        ("chased", "chase"),
        ("leaping", "leap"),
    ],
)
def test_the_nearest_word(word, near):
    assert STORYBOOK.near(word)[0] == near


@pytest.mark.parametrize("word", ["wug", "asdf", "submarine", "42", "R2", "x", "犬", ""])
def test_words_without_a_near_one(word):
    assert STORYBOOK.near(word) == ()


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("gallops", "gallop"),
        ("riding", "ride"),
        ("running", "run"),
        ("carried", "carry"),
        ("lying", "lie"),
        ("knives", "knife"),
        ("happily", "happy"),
        ("bigger", "big"),
        ("boxes", "box"),
        ("gallop", "gallops"),
        ("swum", "swum"),
    ],
)
def test_inflections_share_a_stem(word, known):
    assert WordList([known]).inflections(word) == ([known] if word != known else [])
    assert WordList([known, "zzz"]).covers(word)


def test_short_words_have_no_stem_of_two_letters():
    assert stems("red") == {"red"}
    assert stems("is") == {"is"}
    assert stems("bed") == {"bed"}


def test_inflections_come_before_other_spellings_and_frequent_ones_first():
    known = WordList(["cast", "coats", "cat", "catty", "cats"])
    assert known.near("cats") == ("cat", "cast", "coats")
    assert WordList(["runs", "run", "ruin"]).near("running") == ("runs", "run")
    assert WordList(["run", "runs"]).near("running") == ("run", "runs")


@pytest.mark.parametrize("known", [STORYBOOK, BANK], ids=["storybook", "bank"])
def test_the_word_is_offered_for_nearly_every_typo(known):
    rng = Random(0)
    misspelt = {typo(word, rng): word for word in known.words[:150] if len(word) >= 4}
    misspelt = {wrong: word for wrong, word in misspelt.items() if wrong not in known}
    offered = [word in known.near(wrong) for wrong, word in misspelt.items()]
    assert len(offered) > 80
    assert sum(offered) / len(offered) > 0.95


@given(st.lists(words, max_size=30), words, st.integers(0, 5))
def test_near_words_are_others_of_the_list(known, word, count):
    word_list = WordList(known)
    near = word_list.near(word, count)
    assert len(near) == len(set(near)) <= count
    assert word not in near
    assert set(near) <= {w for w in known if len(w) >= SHORTEST}
    assert word_list.near(word)[: min(count, COUNT)] == near[:COUNT]
    assert word_list.covers(word) == (
        len(word) < SHORTEST or word in word_list or bool(word_list.near(word))
    )


@given(words)
def test_stems_are_the_word_or_shorter_but_for_an_ending(word):
    assert word in stems(word)
    assert all(len(stem) >= SHORTEST for stem in stems(word) - {word})
    assert all(len(stem) <= len(word) for stem in stems(word))


def test_a_word_list_has_each_word_once_in_order():
    known = WordList(["the", "dog", "a", "dog", "2dogs", "don't", "über"])
    assert known.words == ("the", "dog", "über")
    assert "DOG" in known
    assert "a" not in known
