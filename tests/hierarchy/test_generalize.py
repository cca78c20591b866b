"""Sentences above a sentence: by hand, by Storybook's facts, and what must hold of any tree."""

from random import Random

import pytest
from hypothesis import given

from tests.data.text.test_rewrites import caption
from tests.support.random_trees import random_trees
from vsdemo.data.storybook.captions import write_captions
from vsdemo.data.storybook.facts import Facts, Thing, entails, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.phrases import article
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.hierarchy.generalize import above, closure, key

RUNS = caption(
    "A/DET/3/det brown/ADJ/3/amod elephant/NOUN/4/nsubj runs/VERB/0/root in/ADP/7/case "
    "the/DET/7/det park/NOUN/4/obl ./PUNCT/4/punct"
)
TWO = caption("two/NUM/2/nummod dogs/NOUN/0/root")
BREAD = caption(
    "a/DET/2/det loaf/NOUN/0/root of/ADP/4/case bread/NOUN/2/nmod in/ADP/7/case the/DET/7/det "
    "kitchen/NOUN/2/nmod"
)
JOINED = caption(
    "a/DET/2/det man/NOUN/6/nsubj and/CCONJ/5/cc a/DET/5/det lamp/NOUN/2/conj are/AUX/7/aux "
    "here/ADV/0/root"
)
LEFT = caption(
    "a/DET/2/det lamp/NOUN/0/root to/ADP/5/case the/DET/5/det left/NOUN/2/nmod of/ADP/8/case "
    "a/DET/8/det rock/NOUN/5/nmod"
)
WITHOUT = caption("a/DET/2/det man/NOUN/0/root without/ADP/5/case a/DET/5/det hat/NOUN/2/nmod")


@pytest.mark.parametrize(
    ("sentence", "higher"),
    [
        (
            RUNS,
            {
                *("an elephant runs in the park", "a brown elephant runs", "an elephant runs"),
                *("a brown elephant", "an elephant", "an animal", "the park"),
            },
        ),
        (TWO, {"dogs", "animals", "a dog", "an animal"}),
        (BREAD, {"a loaf of bread", "some food", "the kitchen"}),
        (JOINED, {"a man and a lamp", "a man", "an adult", "a person", "a lamp"}),
        (LEFT, {"a lamp", "a rock"}),
        (WITHOUT, set()),
    ],
    ids=lambda value: value.text if hasattr(value, "text") else "",
)
def test_all_that_follows(sentence, higher):
    assert closure([sentence.tree])[key(sentence.text)] == higher


def test_one_step_at_a_time():
    steps = [" ".join(tree.words) for tree in above(RUNS.tree)]
    assert steps == ["an elephant runs in the park .", "a brown elephant runs .", *steps[2:]]
    assert steps[2:] == ["a brown elephant", "the park"]


def test_concepts_above_captions_are_there_by_storybooks_facts():
    words, seen = load_lexicon(), 0
    named = {
        f"{article('a', c.nouns[0])} {c.nouns[0]}": name
        for name, c in words.concepts.items()
        if c.nouns and not c.mass
    }
    for number in range(40):
        scene = generate_picture(number, False).scene
        for told in write_captions(scene, Random(number)):
            for text in closure([told.tree])[key(told.text)] & named.keys():
                seen += 1
                assert entails(facts_of(scene), Facts((Thing(named[text]),))), (told.text, text)
    assert seen > 300


@given(random_trees())
def test_what_lies_above_lies_above_all_below(tree):
    found = closure([tree])
    for own, higher in found.items():
        assert own not in higher
        for text in higher:
            assert found[text] - {own} <= higher


def test_a_tree_without_tags_has_nothing_above():
    assert above(type(TWO.tree)(("two", "dogs"), (2, 0), ("nummod", "root"))) == []
