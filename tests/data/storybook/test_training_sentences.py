"""Sentences to learn from: what they are about, and which are true."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.storybook_scenes import group, joins_held_out_pair, scene, scenes
from vsdemo.core.errors import UserError
from vsdemo.data.storybook.facts import Facts, entails, facts_of
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.scene import Link
from vsdemo.data.storybook.training_sentences import sentences_about
from vsdemo.data.storybook.visible_facts import visible_facts

PARK = scene(
    group("dog", 2, "brown", pose="run"),
    group("cat", pose="sit"),
    group("horse"),
    links=(Link("runs", 0), Link("behind", 2, 1)),
    setting="park",
    time="night",
    weather="rain",
)


@pytest.fixture(scope="module")
def pictures():
    """Scenes of pictures and the sentences about each of them."""
    scenes = [generate_picture(number).scene for number in range(30)]
    return [(each, sentences_about(each, Random(each.number))) for each in scenes]


def many_about(any_scene, tries: int = 100):
    return [each for n in range(tries) for each in sentences_about(any_scene, Random(n))]


@given(scenes, st.integers(0, 99))
def test_what_is_not_negated_is_true_or_surely_false(any_scene, seed):
    truth, shown = facts_of(any_scene), visible_facts(any_scene)
    sentences = sentences_about(any_scene, Random(seed))
    assert sentences == sentences_about(any_scene, Random(seed))
    assert len({sentence.text for sentence in sentences}) == len(sentences)
    for sentence in sentences:
        if not sentence.absent:
            assert entails(truth, sentence.facts) or not entails(shown, sentence.facts)


def test_a_picture_has_many_sentences_of_each_sort(pictures):
    for any_scene, sentences in pictures:
        plain = [sentence for sentence in sentences if not sentence.absent]
        true = sum(sentence.is_true(facts_of(any_scene)) for sentence in plain)
        assert 30 <= len(sentences) <= 45
        assert true >= 12
        assert len(plain) - true >= 5
        assert len(sentences) - len(plain) >= 2
    count = sum(len(sentences) for _, sentences in pictures)
    assert 30 * len(pictures) <= count
    typed = [s.text for _, sentences in pictures for s in sentences if s.text[0].islower()]
    assert count / 5 < len(typed) < count / 2


def test_every_group_and_link_is_a_topic():
    true = {each for each in many_about(PARK) if each.is_true(facts_of(PARK))}
    texts = {sentence.text for sentence in true}
    assert "Two dogs are running." in texts
    assert "A cat is sitting." in texts
    assert "A horse in the park." in texts
    behind = [s.facts for s in true if Link("behind", 0, 1) in s.facts.links]
    details = {(f.place, f.time, f.weather) for f in behind if f.things[0].concept == "horse"}
    assert details >= {("park", "night", None), ("park", None, "rain")}


def test_surroundings_are_true_and_named_in_several_ways():
    nothing = [each for each in many_about(PARK) if not each.facts.things and not each.absent]
    assert all(each.is_true(facts_of(PARK)) for each in nothing)
    facts = {each.text: each.facts for each in nothing}
    assert facts["The park at night."] == Facts((), place="park", time="night")
    assert facts["In the park in the rain."] == Facts((), place="park", weather="rain")
    assert facts["Outside at night."] == Facts((), place="outdoors", time="night")
    assert facts["In the rain."] == Facts((), weather="rain")
    assert facts["The park."] == Facts((), place="park")


def test_no_sentence_joins_what_training_never_shows_together(pictures):
    for _, sentences in pictures:
        assert not any(joins_held_out_pair(sentence.facts) for sentence in sentences)
        assert not any(joins_held_out_pair(f) for each in sentences for f in each.absent)


def test_a_scene_without_a_group_is_refused():
    with pytest.raises(UserError, match="no group"):
        sentences_about(scene(), Random(0))
