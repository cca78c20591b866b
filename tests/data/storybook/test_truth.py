"""Entailment of many facts at once, and labels, equal those of each pair."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.storybook_scenes import group, random_scene, scene
from vsdemo.data import storybook
from vsdemo.data.storybook.facts import Facts, Thing, entails, facts_of
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.scene import Link
from vsdemo.data.storybook.training_sentences import sentences_about
from vsdemo.data.storybook.truth import (
    FALSE,
    TRUE,
    UNDECIDED,
    entailed,
    fact_table,
    labels,
    sentence_table,
)
from vsdemo.data.storybook.typed import TypedSentence
from vsdemo.data.storybook.visible_facts import visible_facts


def plain(specific, general):
    return np.array([[entails(s, g) for s in specific] for g in general])


@pytest.fixture(scope="module")
def world():
    """The facts of some scenes and of their captions."""
    scenes = [generate_picture(number).scene for number in range(4500, 4530)]
    captions = [caption.facts for scene in scenes for caption in storybook.captions_of(scene)]
    return [facts_of(scene) for scene in scenes], captions


def test_all_pairs_are_those_of_the_plain_function(world):
    scenes, captions = world
    for specific in (scenes, captions):
        expected = plain(specific, captions)
        result = entailed(fact_table(specific), fact_table(captions))
        assert (result == expected).all()
        assert 0.005 < expected.mean() < 0.5
    diagonal = entailed(fact_table(captions), fact_table(captions)).diagonal()
    assert diagonal.all()


def test_blocks_and_rows_change_nothing(world, monkeypatch):
    scenes, captions = world
    table, photos = fact_table(captions), fact_table(scenes)
    whole = entailed(photos, table)
    monkeypatch.setattr("vsdemo.data.storybook.truth.BLOCK", 100)
    assert (entailed(photos, table) == whole).all()
    rows = np.array([7, 3, 90])
    assert (entailed(photos, table.rows(rows)) == whole[rows]).all()
    assert len(table.rows(rows)) == 3


@pytest.mark.parametrize(
    ("specific", "general", "expected"),
    [
        (Thing("dog", 2), Thing("dog"), True),
        (Thing("dog"), Thing("dog", 2), False),
        (Thing("dog", colour="brown"), Thing("animal", colour="brown"), True),
        (Thing("dog", size="small"), Thing("animal", size="small"), False),
        (Thing("dog"), Thing("dog", colour="brown"), False),
    ],
)
def test_one_thing(specific, general, expected):
    tables = [fact_table([Facts((thing,))]) for thing in (specific, general)]
    assert entailed(*tables).tolist() == [[expected]]


def test_two_alike_need_two(world):
    two, one = Facts((Thing("dog"), Thing("animal"))), Facts((Thing("dog"),))
    assert entailed(fact_table([one, two]), fact_table([two])).tolist() == [[False, True]]
    nothing = Facts((), place="outdoors")
    beach = Facts((Thing("dog"),), place="beach")
    assert entailed(fact_table([one, beach]), fact_table([nothing])).tolist() == [[False, True]]


def test_a_general_sentence_names_two_things_at_most():
    three = fact_table([Facts((Thing("dog"), Thing("cat"), Thing("bear")))])
    with pytest.raises(ValueError, match="at most 2 things"):
        entailed(three, three)
    assert entailed(three, fact_table([])).shape == (0, 1)


def plain_label(sentence, facts, shown):
    if entails(facts, sentence.facts) and not any(entails(shown, f) for f in sentence.absent):
        return TRUE
    if not entails(shown, sentence.facts) or any(entails(facts, f) for f in sentence.absent):
        return FALSE
    return UNDECIDED


def facts_and_shown(scenes):
    return [facts_of(each) for each in scenes], [visible_facts(each) for each in scenes]


def assert_labels_are_plain(sentences, scenes):
    pictures = facts_and_shown(scenes)
    result = labels(sentence_table(sentences), *map(fact_table, pictures))
    pairs = [*zip(*pictures, strict=True)]
    plain = [[plain_label(each, *pair) for pair in pairs] for each in sentences]
    assert result.dtype == np.int8
    assert result.tolist() == plain
    return result


def test_labels_of_pictures_are_those_of_the_plain_function():
    pictures = [generate_picture(number).scene for number in range(20)]
    sentences = [each for s in pictures for each in sentences_about(s, Random(s.number))]
    denials = [TypedSentence("", Facts(()), (each.facts,)) for each in sentences]
    for some in (sentences, denials):
        result = assert_labels_are_plain(some, pictures)
        assert all((result == label).sum() > 50 for label in (TRUE, FALSE, UNDECIDED))


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=4))
def test_labels_of_random_scenes_are_those_of_the_plain_function(seeds):
    scenes = [random_scene(seed) for seed in seeds]
    sentences = sentences_about(scenes[0], Random(seeds[0]))
    assert_labels_are_plain(sentences, scenes)


@pytest.mark.parametrize(
    ("stated", "denied", "expected"),
    [
        (Facts((Thing("dog"),)), None, TRUE),
        (Facts((Thing("cat"),)), None, FALSE),
        (Facts((Thing("tree"),)), None, UNDECIDED),  # may be in the background
        (Facts((Thing("dog"), Thing("tree")), (Link("with", 0, 1),)), None, FALSE),
        (Facts((Thing("dog"),)), Facts((Thing("cat"),)), TRUE),
        (Facts((Thing("dog"),)), Facts((Thing("dog", colour="brown"),)), FALSE),
        (Facts((Thing("dog"),)), Facts((Thing("tree"),)), UNDECIDED),
        (Facts((Thing("tree"),)), Facts((Thing("dog"),)), FALSE),
        (Facts((Thing("cat"),)), Facts((Thing("tree"),)), FALSE),
        (Facts((), place="forest"), Facts((), time="night"), TRUE),
    ],
)
def test_a_label(stated, denied, expected):
    any_scene = scene(group("dog", colour="brown"), setting="forest")
    sentence = TypedSentence("", stated, (denied,) if denied else ())
    photos = map(fact_table, facts_and_shown([any_scene]))
    assert labels(sentence_table([sentence]), *photos).tolist() == [[expected]]


def test_labels_of_some_sentences():
    any_scene = generate_picture(0).scene
    sentences = sentences_about(any_scene, Random(0))
    table, photos = sentence_table(sentences), [*map(fact_table, facts_and_shown([any_scene]))]
    rows = np.array([len(sentences) - 1, 3, 20])
    assert len(table.rows(rows)) == 3
    assert (labels(table.rows(rows), *photos) == labels(table, *photos)[rows]).all()
    assert labels(sentence_table([]), *photos).shape == (0, 1)


def test_a_sentence_denies_one_fact_at_most():
    cat, dog = Facts((Thing("cat"),)), Facts((Thing("dog"),))
    with pytest.raises(ValueError, match="one fact at most"):
        sentence_table([TypedSentence("neither cats nor dogs", Facts(()), (cat, dog))])
