"""The sources of captions: which pairs each has, and that together they are the relations."""

import numpy as np
import pytest

from tests.data.relations.test_captions import SPLIT, TEXTS, TREES, small_wordnet
from vsdemo.data import relations
from vsdemo.data.relations import TRUE, generalize
from vsdemo.data.relations.caption_sources import CaptionSources, captions_above_photos

__all__ = ["small_wordnet"]


@pytest.fixture
def sources(small_wordnet):
    return CaptionSources(SPLIT, TREES)


def pairs(source) -> set[tuple[str, str]]:
    return {(pair.general, pair.specific) for pair in source.sample(10_000, seed=0)}


def test_captions_lie_above_their_own_photos():
    expected = {
        (text, f"{'abcd'[photo]}") for text, photo in zip(TEXTS, SPLIT.photo_of, strict=True)
    }
    assert pairs(captions_above_photos(SPLIT)) == expected


def test_a_shortened_caption_has_only_words_of_its_caption(sources):
    made = pairs(sources.shortened())
    assert ("a brown dog runs", TEXTS[0]) in made
    assert ("a brown dog", TEXTS[0]) in made
    assert not [pair for pair in made if pair[1] == TEXTS[4]]  # a negation


def test_sources_of_captions_are_what_the_relations_label_true(sources, small_wordnet):
    known = relations.load(SPLIT)
    row = {generalize.key(text): n for n, text in reversed(list(enumerate(known.texts)))}
    made = pairs(sources.shortened()) | pairs(sources.replaced()) | pairs(sources.concepts())
    assert made
    for general, specific in made:
        rows = [np.array([row[generalize.key(text)]]) for text in (general, specific)]
        assert known.among_texts(*rows)[0, 0] == TRUE, (general, specific)


def test_siblings_are_below_one_concept_and_not_above_each_other(sources):
    siblings, concepts = sources.siblings(), pairs(sources.concepts())
    assert not siblings.holds
    assert ("a cat", "a dog") in pairs(siblings)
    assert not pairs(siblings) & concepts


def test_exchanged_roles_are_false(sources):
    swapped = sources.swapped()
    assert not swapped.holds
    assert pairs(swapped) == {("a cat chases a dog", TEXTS[6])}
