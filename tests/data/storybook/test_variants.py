from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.storybook_scenes import group, scene, scenes
from vsdemo.data.storybook.captions import write_captions
from vsdemo.data.storybook.facts import Thing, entails, facts_of
from vsdemo.data.storybook.realization import Mention, Message, realize
from vsdemo.data.storybook.scene import Link
from vsdemo.data.storybook.variants import variants_of

DOG = Mention(0, Thing("dog", 2, "brown", "small"), "dog", "small")
HORSE = Mention(1, Thing("horse"), "horse")
BIKE = Mention(1, Thing("bicycle"), "bicycle")
WOMAN = Mention(0, Thing("woman", 1, "red"), "woman")


def texts(message: Message, *groups) -> list[str | None]:
    result = variants_of(realize(message), scene(*groups, links=(message.link,)))
    variants = (result.voice, result.swapped, result.synonyms, result.hypernyms)
    return [caption and caption.text for caption in variants]


RIDES, BEHIND, NEXT = Link("rides", 0, 1), Link("behind", 0, 1), Link("next_to", 0, 1)
WOMAN_AND_BIKE = (group("woman", colour="red"), group("bicycle"))


@pytest.mark.parametrize(
    ("message", "groups", "expected"),
    [
        (
            Message((WOMAN, BIKE), RIDES, "progressive"),
            WOMAN_AND_BIKE,
            [
                "A bicycle is being ridden by a woman in red.",
                "A bicycle is riding a woman in red.",
                "A lady in red is riding a bike.",
                "An adult in red is riding a vehicle.",
            ],
        ),
        (
            Message((DOG, HORSE), Link("chases", 0, 1), "simple"),
            (group("dog", 2, "brown", "small", "run"), group("horse")),
            [
                "A horse is chased by two small brown dogs.",
                "A horse chases two small brown dogs.",
                "Two little brown dogs run after a horse.",
                "Two brown animals chase an animal.",
            ],
        ),
        (
            Message((WOMAN, BIKE), BEHIND, "copular", definite=True),
            WOMAN_AND_BIKE,
            [
                None,
                "The bicycle is behind the woman in red.",
                "The lady in red is behind the bike.",
                "The adult in red is behind the vehicle.",
            ],
        ),
        (
            Message((WOMAN, BIKE), NEXT, "copular"),
            WOMAN_AND_BIKE,
            [
                None,
                None,  # as true as the caption
                "A lady in red is beside a bike.",
                "An adult in red is next to a vehicle.",
            ],
        ),
    ],
)
def test_variants(message, groups, expected):
    assert texts(message, *groups) == expected


def test_a_single_noun_has_no_variants():
    hat = realize(Message((Mention(0, Thing("hat"), "hat"),)))
    assert set(vars(variants_of(hat, scene(group("hat")))).values()) == {None}


@given(scenes, st.integers(0, 9))
def test_variants_have_the_right_meaning(any_scene, seed):
    truth = facts_of(any_scene)
    for caption in write_captions(any_scene, Random(seed)):
        variants = variants_of(caption, any_scene)
        for same in (variants.voice, variants.synonyms):
            assert not same or (same.facts == caption.facts and same.text != caption.text)
        if variants.swapped:
            assert not entails(truth, variants.swapped.facts)
            assert not entails(caption.facts, variants.swapped.facts)
        assert not variants.hypernyms or entails(caption.facts, variants.hypernyms.facts)
