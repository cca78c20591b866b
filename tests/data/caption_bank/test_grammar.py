import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.data.caption_bank.english import PERSONS, clause, participle, present, sentence
from vsdemo.data.caption_bank.grammar import LONGEST, Dealer, Scene, breadth, open_book, repeats

WORDS = st.text("abdehkmost", min_size=1, max_size=6)


def dealer():
    return Dealer(random.Random(0))


def book(says=(), scenes=(), words=None, **people):
    tables = {"says": says, "scenes": scenes, **people}
    return open_book(tables, {"words": words or {}}, dealer(), set())


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
    assert present(verb) == does
    assert participle(verb) == doing


@pytest.mark.parametrize(
    ("predicate", "form", "person", "told"),
    [
        ("sit and ~read a book", "simple", "she", "sits and reads a book"),
        ("sit and ~read a book", "simple", "they", "sit and read a book"),
        ("sit and ~read a book", "simple", "group", "sits and reads a book"),
        ("sit and ~read a book", "progressive", "he", "is sitting and reading a book"),
        ("sit and ~read a book", "progressive", "they", "are sitting and reading a book"),
        ("sit and ~read a book", "reduced", "they", "sitting and reading a book"),
        ("be covered in snow", "progressive", "it", "is covered in snow"),
        ("be covered in snow", "simple", "they", "are covered in snow"),
        ("be covered in snow", "reduced", "it", "covered in snow"),
        ("have a stick", "progressive", "it", "has a stick"),
        ("have a stick", "reduced", "it", "with a stick"),
    ],
)
def test_clauses(predicate, form, person, told):
    assert clause(predicate, form, PERSONS[person]) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a  old man on a bench", "An old man on a bench."),
        ("a boy on a unicycle under a umbrella", "A boy on a unicycle under an umbrella."),
        ("a hour", "An hour."),
        ("two dogs.", "Two dogs."),
    ],
)
def test_a_sentence_is_finished(text, told):
    assert sentence(text) == told


@given(st.lists(WORDS, min_size=1, max_size=8))
def test_a_finished_sentence_stays_as_it_is(words):
    told = sentence(" ".join(words))
    assert sentence(told) == told


@given(st.lists(st.integers(), min_size=1, max_size=9, unique=True), st.integers(1, 40))
def test_a_hand_is_dealt_evenly(cards, times):
    hands = dealer()
    dealt = Counter(hands.deal(cards) for _ in range(times))
    counts = [dealt[card] for card in cards]
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == times


@given(st.lists(st.integers(), min_size=2, max_size=9, unique=True), st.data())
def test_what_is_put_back_comes_again_and_what_is_played_does_not(cards, data):
    hands, played = dealer(), data.draw(st.integers(0, len(cards) - 2))
    kept = [hands.deal(cards) for _ in range(played)]
    hands.keep()
    for _ in range(data.draw(st.integers(1, len(cards) - played - 1))):
        hands.deal(cards)
    hands.put_back()
    rest = {hands.deal(cards) for _ in range(len(cards) - played)}
    assert rest == set(cards) - set(kept)


def test_a_last_card_that_is_put_back_waits_for_a_new_hand():
    hands = dealer()
    hands.deal("ab")
    hands.keep()
    hands.deal("ab")
    hands.put_back()
    assert {hands.deal("ab"), hands.deal("ab")} == {"a", "b"}


@given(st.lists(WORDS, min_size=2, max_size=5, unique=True), st.integers(1, 12))
def test_choices_are_filled_from_the_template(words, times):
    told = book()
    filled = {told.fill(f"on [{'|'.join(words)}] here") for _ in range(times)}
    assert filled <= {f"on {word} here" for word in words}
    assert len(filled) == min(times, len(words))


def test_slots_follow_the_person():
    told = book(words={"hat": ["<a red [cap]/red [caps]>"]})
    template = "wave {its} <hand/hands> in {hat}"
    assert told.fill(template, PERSONS["she"]) == "wave her hand in a red cap"
    assert told.fill(template, PERSONS["group"]) == "wave their hands in red caps"


def test_a_name_may_be_of_several_persons():
    scene = {"who": ["dog"], "does": ["bark [here|there]"]}
    told = book(scenes=[scene], it={"dog": ["a dog"]}, they={"dog": ["two dogs"]}).tell(4)
    assert {text.split(" ")[0] for text in told} == {"A", "Two"}


def test_a_scene_joins_its_parts():
    scene = {"who": ["dog"], "does": ["run"], "where": ["in a park"], "still": True}
    told = book(scenes=[scene], it={"dog": ["a [brown|black] dog"]}).tell(2)
    beginnings, endings = zip(*(text.split(" dog ") for text in told), strict=True)
    assert set(beginnings) == {"A brown", "A black"}
    assert set(endings) <= {"runs in a park.", "running in a park."}


def test_a_predicate_with_its_place_gets_no_other():
    scene = {"who": ["man"], "does": ["sleep in [bed|a car]."], "where": ["on Mars"]}
    told = book(scenes=[scene], he={"man": ["a [|tall] man"]}).tell(4)
    assert not any("Mars" in text for text in told)


def test_nobody_is_dressed_twice():
    scene = {"who": ["man"], "does": ["wait [here|there|outside]"], "wears": ["in red"]}
    people = {"man": ["a man in [blue|green|white]", "a boy with a [hat|cap]"]}
    told = book(scenes=[scene], he=people).tell(10)
    assert not any("in red" in text for text in told)


def test_a_book_tells_nothing_twice():
    with pytest.raises(ValueError, match="2 sentences, not 3"):
        book(says=["A [red|blue] car.", "The red car."]).tell(3)


def test_all_choices_are_told_before_the_rest():
    says = ["A [red|blue|green] car.", "A [big|small] house."]
    assert set(book(says=says).tell(5)) == {
        *("A red car.", "A blue car.", "A green car."),
        *("A big house.", "A small house."),
    }


def test_a_long_sentence_is_not_told():
    with pytest.raises(ValueError, match="0 sentences"):
        book(says=["A " + "very " * LONGEST + "long road."]).tell(1)


def test_what_is_told_elsewhere_is_not_told_again():
    told = book(says=["A [red|blue] car."])
    told.seen.add(("red", "car"))
    assert told.tell(1) == ["A blue car."]


def test_other_clothes_or_another_place_make_no_other_sentence():
    scene = {"who": ["dog"], "does": ["run"], "where": ["here", "there"], "wears": ["in red"]}
    with pytest.raises(ValueError, match="1 sentences, not 2"):
        book(scenes=[scene], it={"dog": ["a dog"]}).tell(2)


def test_repeats_are_seen_across_parts_only():
    assert repeats(["a dog", "chase another dog", ""])
    assert repeats(["two girls", "play", "with a girl"])
    assert not repeats(["a dog and a dog", "run in a park", "on a hill"])
    assert not repeats(["a man in his car", "wave his hat", "in a yard"])


def test_breadth_counts_the_widest_choice():
    assert breadth("a dog") == 1
    assert breadth("a {colour} dog") == 1
    assert breadth("a [red|blue] dog on [a|b|c|c]") == 3


def test_a_scene_has_no_unknown_key():
    with pytest.raises(TypeError, match="wher"):
        Scene(who=["dog"], does=["run"], wher=["here"])


def test_unknown_words_are_an_error():
    with pytest.raises(KeyError):
        book(says=["A {nothing} car."]).tell(1)
