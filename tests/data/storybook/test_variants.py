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
    told = (result.voice, result.swapped, result.synonyms, result.hypernyms)
    return [caption and caption.text for caption in told]


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
def test_twins(message, groups, expected):
    assert texts(message, *groups) == expected


def test_a_plain_name_has_none():
    hat = realize(Message((Mention(0, Thing("hat"), "hat"),)))
    assert set(vars(variants_of(hat, scene(group("hat")))).values()) == {None}


@given(scenes, st.integers(0, 9))
def test_twins_mean_what_they_should(result, seed):
    truth = facts_of(result)
    for caption in write_captions(result, Random(seed)):
        twin = variants_of(caption, result)
        for same in (twin.voice, twin.synonyms):
            assert not same or (same.facts == caption.facts and same.text != caption.text)
        if twin.swapped:
            assert not entails(truth, twin.swapped.facts)
            assert not entails(caption.facts, twin.swapped.facts)
        assert not twin.hypernyms or entails(caption.facts, twin.hypernyms.facts)
