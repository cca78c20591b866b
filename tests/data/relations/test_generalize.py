"""More general sentences: by hand, by Storybook's facts, and invariants of any tree."""

import re
import time
from random import Random

import pytest
from hypothesis import given

from tests.data.text.test_rewrites import caption as parsed
from tests.support.random_trees import random_trees
from vsdemo.core.errors import UserError
from vsdemo.data.relations.generalize import closure, key, one_step, whole_words
from vsdemo.data.storybook.captions import write_captions
from vsdemo.data.storybook.facts import Facts, Thing, entails, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.phrases import article
from vsdemo.data.storybook.pictures import generate_picture

RUNS = parsed(
    "A/DET/3/det brown/ADJ/3/amod elephant/NOUN/4/nsubj runs/VERB/0/root in/ADP/7/case "
    "the/DET/7/det park/NOUN/4/obl ./PUNCT/4/punct"
)
TWO = parsed("two/NUM/2/nummod dogs/NOUN/0/root")
BREAD = parsed(
    "a/DET/2/det loaf/NOUN/0/root of/ADP/4/case bread/NOUN/2/nmod in/ADP/7/case the/DET/7/det "
    "kitchen/NOUN/2/nmod"
)
JOINED = parsed(
    "a/DET/2/det man/NOUN/6/nsubj and/CCONJ/5/cc a/DET/5/det lamp/NOUN/2/conj are/AUX/7/aux "
    "here/ADV/0/root"
)
LEFT = parsed(
    "a/DET/2/det lamp/NOUN/0/root to/ADP/5/case the/DET/5/det left/NOUN/2/nmod of/ADP/8/case "
    "a/DET/8/det rock/NOUN/5/nmod"
)
WITHOUT = parsed("a/DET/2/det man/NOUN/0/root without/ADP/5/case a/DET/5/det hat/NOUN/2/nmod")
HAIRED = parsed(
    "a/DET/4/det long/ADJ/4/amod haired/ADJ/4/amod man/NOUN/0/root and/CCONJ/9/cc a/DET/9/det "
    "light/ADJ/9/amod brown/ADJ/9/amod dog/NOUN/4/conj"
)


@pytest.mark.parametrize(
    ("sentence", "higher"),
    [
        (
            RUNS,
            {
                "an elephant runs in the park",
                "a brown elephant runs",
                "an elephant runs",
                "a brown elephant",
                "an elephant",
                "an animal",
                "the park",
            },
        ),
        (TWO, {"dogs", "animals", "a dog", "an animal"}),
        (BREAD, {"a loaf of bread", "some food", "the kitchen"}),
        (JOINED, {"a man and a lamp", "a man", "an adult", "a person", "a lamp"}),
        (LEFT, {"a lamp", "a rock"}),
        (WITHOUT, set()),
        (
            HAIRED,
            {
                "a man and a light brown dog",
                "a man and a dog",
                "a long haired man",
                "a light brown dog",
                *("a man", "a dog", "an adult", "a person", "an animal"),
            },
        ),
    ],
    ids=lambda value: value.text if hasattr(value, "text") else "",
)
def test_closure_of_a_sentence(sentence, higher):
    assert closure([sentence.tree])[key(sentence.text)] == higher


ITS = parsed(
    "a/DET/2/det dog/NOUN/3/nsubj runs/VERB/0/root with/ADP/7/mark it/PRON/7/nsubj s/AUX/7/cop "
    "mouth/NOUN/3/advcl open/ADJ/7/amod"
)
WITH = parsed(
    "a/DET/2/det dog/NOUN/3/nsubj runs/VERB/0/root with/ADP/6/case a/DET/6/det stick/NOUN/3/obl "
    "in/ADP/9/case the/DET/9/det mouth/NOUN/3/obl"
)
LISTED = parsed(
    "a/DET/2/det man/NOUN/0/root with/ADP/5/case a/DET/5/det hat/NOUN/2/nmod ,/PUNCT/8/punct "
    "a/DET/8/det scarf/NOUN/5/conj and/CCONJ/11/cc a/DET/11/det coat/NOUN/5/conj"
)
NEXT = parsed(
    "a/DET/2/det man/NOUN/3/nsubj stands/VERB/0/root next/ADV/3/advmod to/ADP/7/case a/DET/7/det "
    "car/NOUN/3/obl"
)
EACH = parsed(
    "dogs/NOUN/2/nsubj face/VERB/0/root each/DET/4/det other/ADJ/2/obj in/ADP/7/case the/DET/7/det "
    "park/NOUN/2/obl"
)


@pytest.mark.parametrize(
    ("sentence", "never"),
    [
        (ITS, r"\bit s\b|mouth$"),
        (WITH, "runs with a stick$"),
        (LISTED, "hat a scarf$"),
        (NEXT, "next$"),
        (EACH, "each$|each in"),
    ],
)
def test_no_sentence_breaks_off(sentence, never):
    higher = closure([sentence.tree])[key(sentence.text).replace("it s", "its")]
    assert not [text for text in higher if re.search(never, text)]
    assert higher & {"a dog runs", "a man", "dogs", "a dog"}


def test_a_tree_with_its_in_two_words_has_it_in_one():
    tree = whole_words(ITS.tree)
    assert tree.words[3:6] == ("with", "its", "mouth")
    assert tree.labels[4] == "nmod:poss"
    assert tree.heads[4] == tree.words.index("mouth") + 1


def test_one_step_removes_one_modifier():
    steps = [" ".join(tree.words) for tree in one_step(RUNS.tree)]
    assert steps == ["an elephant runs in the park .", "a brown elephant runs .", *steps[2:]]
    assert steps[2:] == ["a brown elephant", "the park"]


def test_concepts_of_captions_are_true_of_their_scenes():
    lexicon, checked = load_lexicon(), 0
    concepts = {
        f"{article('a', c.nouns[0])} {c.nouns[0]}": name
        for name, c in lexicon.concepts.items()
        if c.nouns and not c.mass
    }
    for number in range(40):
        scene = generate_picture(number).scene
        for caption in write_captions(scene, Random(number)):
            for text in closure([caption.tree])[key(caption.text)] & concepts.keys():
                checked += 1
                assert entails(facts_of(scene), Facts((Thing(concepts[text]),))), (
                    caption.text,
                    text,
                )
    assert checked > 300


def test_a_sentence_with_too_many_phrases_is_refused_soon():
    phrases = " ".join(
        f"near/ADP/{end}/case a/DET/{end}/det thing{end}/NOUN/1/obl" for end in range(4, 184, 3)
    )
    since = time.monotonic()
    with pytest.raises(UserError, match="shorten it"):
        closure([parsed(f"runs/VERB/0/root {phrases}").tree])
    assert time.monotonic() - since < 2


@given(random_trees())
def test_closure_is_transitive(tree):
    result = closure([tree])
    for own, higher in result.items():
        assert own not in higher
        for text in higher:
            assert result[text] - {own} <= higher


def test_a_tree_without_tags_has_no_steps():
    assert one_step(type(TWO.tree)(("two", "dogs"), (2, 0), ("nummod", "root"))) == []
