import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.data.caption_bank.english import PERSONS, conjugate, participle, sentence, third_person
from vsdemo.data.caption_bank.grammar import (
    MAX_WORDS,
    Dealer,
    Scene,
    largest_choice,
    parse_topic,
    repeats_words,
)

WORDS = st.text("abdehkmost", min_size=1, max_size=6)


def dealer():
    return Dealer(random.Random(0))


def topic(says=(), scenes=(), words=None, **people):
    tables = {"says": says, "scenes": scenes, **people}
    return parse_topic(tables, {"words": words or {}}, dealer(), set())


@pytest.mark.parametrize(
    ("verb", "does", "doing"),
    [
        ("ride", "rides", "riding"),
        ("run", "runs", "running"),
        ("lie", "lies", "lying"),
        ("carry", "carries", "carrying"),
        ("play", "plays", "playing"),
        ("catch", "catches", "catching"),
        ("kiss", "kisses", "kissing"),
        ("see", "sees", "seeing"),
        ("row", "rows", "rowing"),
        ("sleep", "sleeps", "sleeping"),
        ("have", "has", "with"),
        ("be", "is", ""),
    ],
)
def test_verb_forms(verb, does, doing):
    assert third_person(verb) == does
    assert participle(verb) == doing


@pytest.mark.parametrize(
    ("predicate", "form", "person", "result"),
    [
        ("sit and ~read a topic", "simple", "she", "sits and reads a topic"),
        ("sit and ~read a topic", "simple", "they", "sit and read a topic"),
        ("sit and ~read a topic", "simple", "group", "sits and reads a topic"),
        ("sit and ~read a topic", "progressive", "he", "is sitting and reading a topic"),
        ("sit and ~read a topic", "progressive", "they", "are sitting and reading a topic"),
        ("sit and ~read a topic", "reduced", "they", "sitting and reading a topic"),
        ("be covered in snow", "progressive", "it", "is covered in snow"),
        ("be covered in snow", "simple", "they", "are covered in snow"),
        ("be covered in snow", "reduced", "it", "covered in snow"),
        ("have a stick", "progressive", "it", "has a stick"),
        ("have a stick", "reduced", "it", "with a stick"),
    ],
)
def test_conjugate(predicate, form, person, result):
    assert conjugate(predicate, form, PERSONS[person]) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("a  old man on a bench", "An old man on a bench."),
        ("a boy on a unicycle under a umbrella", "A boy on a unicycle under an umbrella."),
        ("a hour", "An hour."),
        ("two dogs.", "Two dogs."),
    ],
)
def test_sentence_adds_capital_article_and_full_stop(text, result):
    assert sentence(text) == result


@given(st.lists(WORDS, min_size=1, max_size=8))
def test_sentence_is_idempotent(words):
    result = sentence(" ".join(words))
    assert sentence(result) == result


@given(st.lists(st.integers(), min_size=1, max_size=9, unique=True), st.integers(1, 40))
def test_a_hand_is_dealt_evenly(cards, times):
    hands = dealer()
    dealt = Counter(hands.deal(cards) for _ in range(times))
    counts = [dealt[card] for card in cards]
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == times


@given(st.lists(st.integers(), min_size=2, max_size=9, unique=True), st.data())
def test_cards_put_back_come_again_and_kept_ones_do_not(cards, data):
    hands, kept_count = dealer(), data.draw(st.integers(0, len(cards) - 2))
    kept = [hands.deal(cards) for _ in range(kept_count)]
    hands.keep()
    for _ in range(data.draw(st.integers(1, len(cards) - kept_count - 1))):
        hands.deal(cards)
    hands.put_back()
    rest = {hands.deal(cards) for _ in range(len(cards) - kept_count)}
    assert rest == set(cards) - set(kept)


def test_a_last_card_put_back_waits_for_a_new_hand():
    hands = dealer()
    hands.deal("ab")
    hands.keep()
    hands.deal("ab")
    hands.put_back()
    assert {hands.deal("ab"), hands.deal("ab")} == {"a", "b"}


@given(st.lists(WORDS, min_size=2, max_size=5, unique=True), st.integers(1, 12))
def test_fill_makes_all_choices(words, times):
    result = topic()
    filled = {result.fill(f"on [{'|'.join(words)}] here") for _ in range(times)}
    assert filled <= {f"on {word} here" for word in words}
    assert len(filled) == min(times, len(words))


def test_fill_agrees_with_the_person():
    result = topic(words={"hat": ["<a red [cap]/red [caps]>"]})
    template = "wave {its} <hand/hands> in {hat}"
    assert result.fill(template, PERSONS["she"]) == "wave her hand in a red cap"
    assert result.fill(template, PERSONS["group"]) == "wave their hands in red caps"


def test_a_subject_may_have_several_persons():
    scene = {"who": ["dog"], "does": ["bark [here|there]"]}
    result = topic(scenes=[scene], it={"dog": ["a dog"]}, they={"dog": ["two dogs"]}).write(4)
    assert {text.split(" ")[0] for text in result} == {"A", "Two"}


def test_a_scene_combines_its_parts():
    scene = {"who": ["dog"], "does": ["run"], "where": ["in a park"], "still": True}
    result = topic(scenes=[scene], it={"dog": ["a [brown|black] dog"]}).write(2)
    beginnings, endings = zip(*(text.split(" dog ") for text in result), strict=True)
    assert set(beginnings) == {"A brown", "A black"}
    assert set(endings) <= {"runs in a park.", "running in a park."}


def test_a_predicate_with_a_place_gets_no_other():
    scene = {"who": ["man"], "does": ["sleep in [bed|a car]."], "where": ["on Mars"]}
    result = topic(scenes=[scene], he={"man": ["a [|tall] man"]}).write(4)
    assert not any("Mars" in text for text in result)


def test_subjects_with_clothes_get_no_others():
    scene = {"who": ["man"], "does": ["wait [here|there|outside]"], "wears": ["in red"]}
    people = {"man": ["a man in [blue|green|white]", "a boy with a [hat|cap]"]}
    result = topic(scenes=[scene], he=people).write(10)
    assert not any("in red" in text for text in result)


def test_sentences_of_a_topic_differ():
    with pytest.raises(ValueError, match="2 sentences, not 3"):
        topic(says=["A [red|blue] car.", "The red car."]).write(3)


def test_all_choices_are_used_first():
    says = ["A [red|blue|green] car.", "A [big|small] house."]
    assert set(topic(says=says).write(5)) == {
        "A red car.",
        "A blue car.",
        "A green car.",
        "A big house.",
        "A small house.",
    }


def test_long_sentences_are_left_out():
    with pytest.raises(ValueError, match="0 sentences"):
        topic(says=["A " + "very " * MAX_WORDS + "long road."]).write(1)


def test_sentences_of_other_topics_are_left_out():
    result = topic(says=["A [red|blue] car."])
    result.seen.add(("red", "car"))
    assert result.write(1) == ["A blue car."]


def test_other_clothes_or_places_make_no_new_sentence():
    scene = {"who": ["dog"], "does": ["run"], "where": ["here", "there"], "wears": ["in red"]}
    with pytest.raises(ValueError, match="1 sentences, not 2"):
        topic(scenes=[scene], it={"dog": ["a dog"]}).write(2)


def test_repeats_words_compares_parts():
    assert repeats_words(["a dog", "chase another dog", ""])
    assert repeats_words(["two girls", "play", "with a girl"])
    assert not repeats_words(["a dog and a dog", "run in a park", "on a hill"])
    assert not repeats_words(["a man in his car", "wave his hat", "in a yard"])


def test_largest_choice():
    assert largest_choice("a dog") == 1
    assert largest_choice("a {colour} dog") == 1
    assert largest_choice("a [red|blue] dog on [a|b|c|c]") == 3


def test_an_unknown_key_of_a_scene_raises():
    with pytest.raises(TypeError, match="wher"):
        Scene(who=["dog"], does=["run"], wher=["here"])


def test_an_unknown_name_raises():
    with pytest.raises(KeyError):
        topic(says=["A {nothing} car."]).write(1)
