"""Twins: examples, and that each differs in the given respect only."""

import re
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.storybook_scenes import (
    WORDS,
    group,
    joins_held_out_pair,
    phrases_of,
    scene,
    scenes,
)
from vsdemo.core.errors import UserError
from vsdemo.data.storybook.captions import write_captions
from vsdemo.data.storybook.facts import Facts, Thing, entails, facts_of
from vsdemo.data.storybook.false_twins import RESPECTS, false_twin, twin, twins
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.realization import Mention, Message
from vsdemo.data.storybook.scene import Link
from vsdemo.data.storybook.store import captions_of
from vsdemo.data.storybook.visible_facts import visible_facts
from vsdemo.data.text.inflection import article

DOG = Mention(0, Thing("dog", 2, "brown", "small"), "dog", "small")
HORSE = Mention(1, Thing("horse"), "horse")
WOMAN = Mention(0, Thing("woman", 1, "red"), "woman")
KITE = Mention(1, Thing("kite"), "kite")
FOOD = Mention(0, Thing("food"), "food")
SOMEONE = Mention(0, Thing("person"), "someone")
ON_BEACH = {"place": "beach", "adverbials": ("along the beach",)}
SUNNY = {
    "place": "beach",
    "weather": "sunny",
    "adverbials": ("on the beach", "in the sun"),
}


def texts(message: Message, respect: str) -> set[str]:
    return {caption.text for caption in twins(message, respect, Random(0))}


def test_twins_of_an_action():
    chase = Message((DOG, HORSE), Link("chases", 0, 1), "progressive", **ON_BEACH)
    assert "Two small black dogs are chasing a horse along the beach." in texts(chase, "colour")
    assert "Two small brown dogs are chasing a black horse along the beach." in texts(
        chase, "colour"
    )
    assert texts(chase, "count") == {
        f"{dogs} small brown dogs are chasing {horses} along the beach."
        for dogs, horses in (
            ("Three", "a horse"),
            ("Four", "a horse"),
            ("Two", "two horses"),
            ("Two", "three horses"),
            ("Two", "four horses"),
        )
    }
    assert texts(chase, "size") == {"Two large brown dogs are chasing a horse along the beach."}
    assert "Two small brown foxes are chasing a horse along the beach." in texts(chase, "kind")
    assert "Two small brown dogs are jumping over a horse along the beach." not in texts(
        chase, "action"
    )
    assert texts(chase, "roles") == {"A horse is chasing two small brown dogs along the beach."}
    assert "Two small brown dogs are chasing a horse through the park." in texts(chase, "place")
    assert "Two small brown dogs are chasing a horse along the beach at night." in texts(
        chase, "time"
    )
    assert "Two small brown dogs are chasing a horse along the beach in the rain." in texts(
        chase, "weather"
    )


def test_a_phrase_of_place_suits_the_action():
    run = Message((DOG,), Link("runs", 0), "simple", **ON_BEACH)
    assert "Two small brown dogs lie on the beach." in texts(run, "action")
    assert not any("lie along" in text for text in texts(run, "action"))
    swim = Message(
        (Mention(0, Thing("duck"), "duck"),),
        form="noun",
        place="lake",
        adverbials=("in the lake",),
    )
    assert texts(swim, "place") == {"A duck in the river.", "A duck in the sea."}
    assert texts(swim, "kind") == {"A fish in the lake."}


def test_a_passive_stays_one():
    ride = Message((WOMAN, HORSE), Link("rides", 0, 1), "simple", passive=True)
    assert texts(ride, "roles") == set()  # "a woman in red is ..." in the simple form
    assert texts(ride, "action") == {"A horse is followed by a woman in red."}
    assert "A donkey is ridden by a woman in red." in texts(ride, "kind")
    assert "A horse is ridden by a woman in blue." in texts(ride, "colour")


def test_a_mass_has_no_plural_and_a_pronoun_no_colour():
    food = Message((FOOD,), form="existential", place="indoors", adverbials=("inside",))
    assert texts(food, "count") == set()
    assert "There is some red food inside." in texts(food, "colour")
    assert "There is a toy inside." in texts(food, "kind")
    assert "There is some furniture inside." in texts(food, "kind")
    assert texts(food, "place") == {"There is some food outside."}
    toys = Message((Mention(0, Thing("toy", 2), "toy", vague=True),))
    assert not texts(toys, "kind") & {"Some food.", "Some furniture."}
    someone = Message((SOMEONE, KITE), Link("flies_up", 0, 1), "progressive")
    assert not any(text.startswith("Someone in") for text in texts(someone, "colour"))
    assert not texts(someone, "count") & {"Two someone are flying a kite."}


def test_what_would_mean_the_same_is_no_twin():
    assert texts(Message((WOMAN, KITE), Link("with", 0, 1)), "roles") == set()
    beside = Message((WOMAN, KITE), Link("next_to", 0, 1), "copular", definite=True)
    assert texts(beside, "roles") == set()
    dogs = (Mention(0, Thing("dog"), "dog"), Mention(1, Thing("dog"), "dog"))
    assert texts(Message(dogs, Link("chases", 0, 1), "simple"), "roles") == set()
    chase = Message((DOG, HORSE), Link("chases", 0, 1), "simple")
    assert not any("follow" in text for text in texts(chase, "action"))


def test_place_weather_and_time_go_together():
    message = Message((DOG,), **SUNNY)
    assert texts(message, "time") == set()  # only by day
    assert not any("kitchen" in text for text in texts(message, "place"))
    assert "Two small brown dogs in the snow in the sun." in texts(message, "place")
    indoors = Message((DOG,), place="bedroom", adverbials=("in the bedroom",))
    assert texts(indoors, "weather") == set()
    assert not any("sunset" in text for text in texts(indoors, "time"))
    behind = Message((DOG, HORSE), Link("behind", 0, 1))
    assert texts(behind, "time") == set()  # "dogs behind a horse at night" could be the horse's


def test_an_unknown_respect_raises():
    with pytest.raises(UserError, match="'mood'; choose one of colour, count"):
        twin(Message((DOG,)), "mood", Random(0))


def changed(one: Facts, other: Facts) -> set[str]:
    """Return the respects in which facts differ."""
    result = {
        name for name in ("place", "time", "weather") if getattr(one, name) != getattr(other, name)
    }
    for mine, theirs in zip(one.things, other.things, strict=True):
        for name, respect in (("concept", "kind"), ("count",) * 2, ("colour",) * 2, ("size",) * 2):
            if getattr(mine, name) != getattr(theirs, name):
                result.add(respect)
    if one.links == other.links:
        return result
    same_ends = {(a.subject, a.object) for a in one.links} == {
        (b.subject, b.object) for b in other.links
    }
    return result | {"action" if same_ends else "roles"}


def assert_text_says(text: str, facts: Facts) -> None:
    """Assert that a sentence has the words of its facts, and is well formed."""
    words = re.sub("[.]", "", text.lower()).split()
    assert sorted(w for w in words if w in WORDS.colours and not _is_fruit(text, w)) == sorted(
        t.colour for t in facts.things if t.colour
    )
    counts = {WORDS.counts[t.count - 1] for t in facts.things if t.count > 1}
    assert {w for w in words if w in WORDS.counts} <= counts
    for name, table in (
        ("place", {**WORDS.settings}),
        ("time", WORDS.times),
        ("weather", WORDS.weathers),
    ):
        if (value := getattr(facts, name)) in table:
            assert any(phrase in text for phrase in phrases_of(table[value]))
    for thing in facts.things:
        concept = WORDS.concepts[thing.concept]
        names = {*concept.nouns, *map(WORDS.plural, concept.nouns), concept.pronoun} - {""}
        assert any(name in text.lower() for name in names)
        if concept.mass:
            assert not any(WORDS.plural(noun) in text.lower() for noun in concept.nouns)
    for word, following in pairwise(words):
        assert word not in ("a", "an") or word == article(word, following)


def _is_fruit(text: str, word: str) -> bool:
    return f"piece of {word}" in text


@given(scenes, st.integers(0, 9))
def test_a_twin_differs_in_one_respect(any_scene, seed):
    truth = facts_of(any_scene)
    for caption in write_captions(any_scene, Random(seed)):
        for respect in RESPECTS:
            other = twin(caption.message, respect, Random(seed))
            assert other == twin(caption.message, respect, Random(seed))
            if other is None:
                continue
            assert changed(caption.facts, other.facts) == {respect}
            assert other.text != caption.text
            assert not entails(caption.facts, other.facts)
            assert_text_says(other.text, other.facts)
            wrong = false_twin(caption.message, respect, visible_facts(any_scene), Random(seed))
            assert wrong is None or not entails(truth, wrong.facts)


def test_most_respects_apply_to_captions_of_pictures():
    pictures = [generate_picture(number).scene for number in range(40)]
    messages = [(caption.message, s) for s in pictures for caption in captions_of(s)]
    for respect in RESPECTS:
        rng = Random(0)
        others = [false_twin(m, respect, visible_facts(s), rng) for m, s in messages]
        assert sum(bool(each) for each in others) > (5 if respect == "size" else 50), respect


def test_no_twin_joins_what_training_never_shows_together():
    pictures = [generate_picture(number).scene for number in range(15)]
    for caption in (caption for s in pictures for caption in captions_of(s)):
        for respect in ("colour", "kind", "action", "roles"):
            for other in twins(caption.message, respect, Random(0)):
                assert not joins_held_out_pair(other.facts)


def test_what_the_picture_shows_is_not_false():
    any_scene = scene(group("dog"), setting="forest")
    dog = Message((Mention(0, Thing("dog"), "dog"),))
    wrong = {false_twin(dog, "kind", visible_facts(any_scene), Random(n)).text for n in range(300)}
    assert "A cat." in wrong
    assert not {"A tree.", "A bush."} & wrong
