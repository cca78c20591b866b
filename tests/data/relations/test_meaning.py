"""What sentences say: cases by hand, and properties."""

from functools import partial

import numpy as np
import pytest

from tests.data.relations.test_captions import PHOTO_OF, SPLIT, TEXTS, TREES, small_wordnet
from tests.data.text.test_rewrites import caption as parsed
from vsdemo.data.pairs import wordnet
from vsdemo.data.relations import meaning
from vsdemo.data.relations.caption_nouns import CaptionNouns

__all__ = ["small_wordnet"]

DOG_RUNS = "A/DET/2/det dog/NOUN/3/nsubj runs/VERB/0/root"
DOG_RUNNING = "A/DET/2/det dog/NOUN/0/root running/VERB/2/acl"
PARK = " in/ADP/{0}/case a/DET/{0}/det park/NOUN/{1}/{2}"
BLACK_AND_WHITE = (
    "A/DET/5/det black/ADJ/5/amod and/CCONJ/4/cc white/ADJ/2/conj dog/NOUN/6/nsubj runs/VERB/0/root"
)
TWO_DOGS = (
    "A/DET/3/det black/ADJ/3/amod dog/NOUN/7/nsubj and/CCONJ/6/cc a/DET/6/det cat/NOUN/3/conj "
    "run/VERB/0/root"
)
ABOUT_TO_RUN = (
    "A/DET/2/det dog/NOUN/4/nsubj is/AUX/4/cop about/ADJ/0/root to/PART/6/mark run/VERB/4/xcomp"
)


@pytest.fixture
def read(small_wordnet):
    nouns = CaptionNouns(wordnet.load_nouns(), TREES, PHOTO_OF)
    return lambda text: meaning.read(parsed(text).tree, nouns)


@pytest.mark.parametrize(
    ("general", "specific", "expected"),
    [
        (DOG_RUNS, DOG_RUNS, True),
        (DOG_RUNS, DOG_RUNNING, True),
        (DOG_RUNNING, DOG_RUNS, True),
        (DOG_RUNS, DOG_RUNS + PARK.format(6, 3, "obl"), True),
        (DOG_RUNS + PARK.format(6, 3, "obl"), DOG_RUNS, False),
        (DOG_RUNS + PARK.format(6, 3, "obl"), DOG_RUNNING + PARK.format(6, 3, "obl"), True),
        ("A/DET/2/det dog/NOUN/0/root" + PARK.format(5, 2, "nmod"), DOG_RUNS, False),
        ("A/DET/2/det beast/NOUN/3/nsubj runs/VERB/0/root", DOG_RUNS, True),
        (DOG_RUNS, "A/DET/2/det beast/NOUN/3/nsubj runs/VERB/0/root", False),
        ("A/DET/2/det park/NOUN/0/root", DOG_RUNS + PARK.format(6, 3, "obl"), True),
        ("A/DET/3/det white/ADJ/3/amod dog/NOUN/0/root", BLACK_AND_WHITE, True),
        (BLACK_AND_WHITE, TWO_DOGS, False),
        ("A/DET/2/det cat/NOUN/3/nsubj runs/VERB/0/root", TWO_DOGS, True),  # "and a cat run"
        ("A/DET/3/det black/ADJ/3/amod cat/NOUN/0/root", TWO_DOGS, False),
        ("Dogs/NOUN/2/nsubj run/VERB/0/root", DOG_RUNS, False),
        ("Two/NUM/2/nummod dogs/NOUN/0/root", "Three/NUM/2/nummod dogs/NOUN/0/root", False),
        ("Dogs/NOUN/0/root", "Three/NUM/2/nummod dogs/NOUN/0/root", True),
        ("Another/DET/2/det dog/NOUN/0/root", DOG_RUNS, False),
        ("A/DET/2/det dog/NOUN/0/root", "A/DET/3/det toy/NOUN/3/compound dog/NOUN/0/root", False),
        (DOG_RUNS, ABOUT_TO_RUN, False),
        (ABOUT_TO_RUN, DOG_RUNS, False),
        ("A/DET/2/det dog/NOUN/0/root", "No/DET/2/det dog/NOUN/3/nsubj runs/VERB/0/root", False),
    ],
)
def test_what_follows(read, general, specific, expected):
    assert read(specific).implies(read(general)) == expected


def test_the_one_who_acts_is_not_the_other(read):
    chase = "A/DET/2/det {0}/NOUN/3/nsubj chases/VERB/0/root a/DET/5/det {1}/NOUN/3/obj"
    passive = (
        "A/DET/2/det {1}/NOUN/4/nsubj:pass is/AUX/4/aux:pass chased/VERB/0/root by/ADP/7/case "
        "a/DET/7/det {0}/NOUN/4/obl:agent"
    )
    forward, back = chase.format("dog", "cat"), chase.format("cat", "dog")
    assert not read(forward).implies(read(back))
    assert read(passive.format("dog", "cat")).implies(read(forward))
    assert not read(passive.format("dog", "cat")).implies(read(back))


def test_each_word_needs_one_of_its_own(read):
    both = "A/DET/2/det dog/NOUN/0/root and/CCONJ/5/cc a/DET/5/det dog/NOUN/2/conj"
    assert not read(DOG_RUNS).implies(read(both))
    assert read(both).implies(read("A/DET/2/det dog/NOUN/0/root"))


def test_following_is_reflexive_and_transitive(read):
    texts = [DOG_RUNS, DOG_RUNNING, BLACK_AND_WHITE, TWO_DOGS, DOG_RUNS + PARK.format(6, 3, "obl")]
    meanings = list(map(read, texts))
    follows = [[b.implies(a) for b in meanings] for a in meanings]
    numbers = range(len(meanings))
    assert all(follows[i][i] for i in numbers)
    assert all(
        follows[i][k] or not (follows[i][j] and follows[j][k])
        for i in numbers
        for j in numbers
        for k in numbers
    )


def test_pairs_of_texts(small_wordnet):
    implied = partial(meaning.Meanings(SPLIT).implied, TEXTS)
    assert implied(np.array([[1, 0], [0, 1], [7, 1]])).tolist() == [True, False, True]
