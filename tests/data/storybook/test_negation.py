"""Negated sentences: examples, and which pictures they are true of."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.storybook_scenes import WORDS, group, scene, scenes
from vsdemo.data.storybook.captions import write_captions
from vsdemo.data.storybook.facts import Facts, Thing, entails, facts_of
from vsdemo.data.storybook.negation import negated, negated_pair
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.scene import Link
from vsdemo.data.storybook.store import captions_of
from vsdemo.data.storybook.typing_style import as_typed
from vsdemo.data.storybook.visible_facts import BACKDROPS, visible_facts

DENIALS = r"\b(no|not|without|nobody)\b"
CAT, GIRL = Facts((Thing("cat"),)), Facts((Thing("girl"),))


def possible(text: str, facts: Facts, shown: Facts | None = None, tries: int = 4000):
    """Return the negated sentences of a sentence, and what is absent in each."""
    sentences = (negated(text, facts, Random(n), shown) for n in range(tries))
    return {sentence.text: sentence.absent[0] for sentence in sentences}


def test_a_thing_a_colour_a_place_a_time_and_weather_are_denied():
    absent = possible("A cat.", CAT)
    assert absent["A cat without any dogs."] == Facts((Thing("dog"),))
    assert absent["A cat with nobody around."] == Facts((Thing("person"),))
    assert absent["A cat but not a black one."] == Facts((Thing("cat", 1, "black"),))
    assert absent["A cat, not in the kitchen."] == Facts((), place="kitchen")
    assert absent["A cat but not at night."] == Facts((), time="night")
    assert absent["A cat but not in the rain."] == Facts((), weather="rain")
    cats = possible("Two cats outside.", Facts((Thing("cat", 2),), place="outdoors"))
    assert cats["Two cats outside but not black ones."].things == (Thing("cat", 2, "black"),)
    assert "Two cats outside, not in the park." in cats
    assert "Two cats outside, not in the kitchen." not in cats


def test_a_person_may_have_nothing():
    absent = possible("A girl.", GIRL)
    held = Facts((Thing("girl"), Thing("umbrella")), (Link("with", 0, 1),))
    assert absent["A girl without an umbrella."] == held
    dogs = {text: facts for text, facts in absent.items() if re.search("dogs?[.]", text)}
    assert set(dogs.values()) == {Facts((Thing("dog"),))}
    assert absent["A girl but not in blue."] == Facts((Thing("girl", 1, "blue"),))
    with_dog = possible("A girl and a dog.", Facts((Thing("girl"), Thing("dog"))))
    umbrellas = {text: facts for text, facts in with_dog.items() if "umbrella" in text}
    assert set(umbrellas.values()) == {Facts((Thing("umbrella"),))}
    assert not any("without" in text for text in umbrellas)


def test_fine_weather_is_not_denied():
    """The weather of a scene in a room is sunny, too."""
    assert not any("sun." in text or "sunny" in text for text in possible("A cat.", CAT))


def test_what_is_stated_is_not_denied():
    facts = Facts((Thing("cat", 1, "black"),), place="beach", time="night", weather="rain")
    for absent in possible("A black cat on the beach at night in the rain.", facts).values():
        (thing,) = absent.things
        assert not WORDS.is_a("cat", thing.concept)


@pytest.mark.parametrize("number", range(4))
def test_half_deny_what_a_picture_shows(number):
    any_scene = generate_picture(number).scene
    caption = captions_of(any_scene)[1]
    shown = visible_facts(any_scene)
    sentences = [negated(caption.text, caption.facts, Random(n), shown) for n in range(200)]
    assert 40 < sum(sentence.is_true(facts_of(any_scene)) for sentence in sentences) < 160


def test_a_picture_with_nothing_else_to_deny_is_no_problem():
    cat = scene(group("cat"), setting="desert", time="day")
    facts = Facts((Thing("cat", 1, "orange"),), place="desert", weather="sunny")
    assert possible("A cat.", facts, visible_facts(cat), tries=50)


@given(scenes, st.integers(0, 99))
def test_a_negated_sentence_has_the_facts_of_both(any_scene, seed):
    backdrop = {thing.concept for things in BACKDROPS.values() for thing in things}
    for caption in write_captions(any_scene, Random(seed)):
        sentence = negated(caption.text, caption.facts, Random(seed), visible_facts(any_scene))
        assert sentence == negated(
            caption.text, caption.facts, Random(seed), visible_facts(any_scene)
        )
        assert sentence.text.startswith(caption.text.rstrip("."))
        assert sentence.text.endswith(".")
        assert len(re.findall(DENIALS, sentence.text)) == 1
        assert sentence.facts == caption.facts
        (absent,) = sentence.absent
        assert not entails(caption.facts, absent)
        stated = {thing.concept for thing in caption.facts.things}
        assert not backdrop & ({thing.concept for thing in absent.things} - stated)
        typed = as_typed(sentence.text, Random(seed)).lower()
        assert len(re.findall(DENIALS, typed)) == 1


def pairs(any_scene, tries: int):
    """Return pairs of negated sentences of the captions of a scene."""
    truth, shown = facts_of(any_scene), visible_facts(any_scene)
    for caption in write_captions(any_scene, Random(0)):
        for n in range(tries):
            pair = negated_pair(caption.text, caption.facts, Random(n), truth, shown)
            if pair:
                yield caption, *pair


@given(scenes)
def test_a_pair_differs_in_what_is_denied(any_scene):
    truth, shown = facts_of(any_scene), visible_facts(any_scene)
    for caption, true, false in pairs(any_scene, tries=3):
        assert true.facts == false.facts == caption.facts
        assert true.is_true(truth)
        assert not entails(shown, true.absent[0])
        assert entails(truth, false.absent[0])
        assert not entails(caption.facts, false.absent[0])


def test_both_of_a_pair_say_no_in_the_same_words():
    park = scene(group("dog", 2, "brown"), group("cat"), setting="park", time="night")
    denials = []
    for caption, true, false in pairs(park, tries=50):
        start = caption.text.rstrip(".")
        first, second = (sentence.text.removeprefix(start) for sentence in (true, false))
        assert first.split()[0] == second.split()[0]
        assert re.findall(DENIALS, first) == re.findall(DENIALS, second)
        denials.append(second)
    for shown in ("night", "brown", "cat"):
        assert any(shown in denial for denial in denials)


def test_the_true_one_of_a_pair_denies_what_could_be_there():
    """Otherwise it would be known without a look at the picture."""
    park = scene(group("dog", 1, "brown"), group("bench"), setting="park", time="night")
    for _, true, _ in pairs(park, tries=50):
        for thing in true.absent[0].things:
            kinds = [kind for kind in WORDS.kinds.values() if WORDS.is_a(kind.name, thing.concept)]
            assert any("park" in kind.settings for kind in kinds)


def test_a_sentence_that_states_all_has_no_pair():
    cat = scene(group("cat"), setting="desert", time="day", weather="sunny")
    text = "A grey cat in the desert."
    facts = Facts((Thing("cat", 1, cat.groups[0].colour),), place="desert")
    assert negated_pair(text, facts, Random(0), facts_of(cat), visible_facts(cat)) is None
