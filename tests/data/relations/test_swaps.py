"""Exchanged roles and attributes: examples, and what is left alone."""

import pytest

from tests.data.text.test_rewrites import caption as parsed
from vsdemo.core.sentences import Sentence
from vsdemo.data.relations.swaps import swapped

BITES = "A/DET/2/det dog/NOUN/3/nsubj bites/VERB/0/root a/DET/5/det man/NOUN/3/obj ./PUNCT/3/punct"
PAIR = (
    "A/DET/3/det black/ADJ/3/amod dog/NOUN/0/root and/CCONJ/7/cc an/DET/7/det orange/ADJ/7/amod "
    "cat/NOUN/3/conj"
)


def test_roles_and_attributes_are_exchanged():
    assert swapped(parsed(BITES)) == ["a man bites a dog"]
    assert swapped(parsed(PAIR)) == ["an orange dog and a black cat"]


@pytest.mark.parametrize(
    ("rows", "word", "replacement"),
    [
        (BITES, "bites", "hugs"),  # so does the man
        (BITES, "man", "dog"),  # the same sentence
        (PAIR, "cat", "dog"),
        (PAIR, "orange/ADJ", "large/ADJ"),  # of another kind: "a large dog" may be as true
        (PAIR, "orange", "black"),
    ],
)
def test_what_may_be_true_is_no_false_sentence(rows, word, replacement):
    assert swapped(parsed(rows.replace(word, replacement))) == []


def test_sizes_that_say_the_same_stay():
    rows = PAIR.replace("black", "small")
    assert swapped(parsed(rows.replace("orange", "little"))) == []
    assert swapped(parsed(rows.replace("orange", "large"))) == ["a large dog and a small cat"]


def test_a_sentence_without_a_tree_has_none():
    assert swapped(Sentence("a dog bites a man")) == []
