"""Relations are those of the facts, pair by pair."""

from dataclasses import replace

import numpy as np
import pytest

from vsdemo.core.errors import UserError
from vsdemo.data import relations, storybook
from vsdemo.data.relations import TRUE
from vsdemo.data.storybook import store
from vsdemo.data.storybook.concepts import concept_phrases, concepts_above
from vsdemo.data.storybook.facts import Facts, Thing, entails, facts_of

PHOTOS = 6


@pytest.fixture(scope="module")
def split():
    return storybook.drawn(range(4000, 4000 + PHOTOS), "dev")


@pytest.fixture(scope="module")
def known(split):
    return relations.load(split)


def test_concepts_are_those_of_the_lexicon(known):
    assert [known.texts[row] for row in known.concepts] == [*concept_phrases()]


@pytest.fixture(scope="module")
def scenes(split):
    return [store.read_example(photo).scene for photo in split.photos]


@pytest.fixture(scope="module")
def facts(known, scenes):
    """The facts of each text."""
    captions = [caption for scene in scenes for caption in store.captions_of(scene)]
    of_text = {
        concept.text: concept.facts
        for caption in captions
        for mention in caption.message.mentions
        for concept in concepts_above(mention)
    }
    of_text |= {phrase: Facts((Thing(name),)) for phrase, name in concept_phrases().items()}
    rest = [of_text[text] for text in known.texts[len(captions) :]]
    return [caption.facts for caption in captions] + rest


def test_texts_are_the_captions_in_their_order_and_concepts(split, known):
    count = len(split.captions)
    assert known.texts[:count] == split.captions
    others = known.texts[count:]
    assert len(set(others)) == len(others)
    assert set(concept_phrases()) < set(others)
    assert {"Animals.", "An animal."} & set(others)


def test_labels_are_those_of_the_facts(known, facts, scenes):
    general, specific = np.arange(1, len(facts), 11), np.arange(0, len(facts), 13)
    among = known.among_texts(general, specific)
    for row, a in enumerate(general):
        for column, b in enumerate(specific):
            assert among[row, column] == entails(facts[b], facts[a])
    photos = np.array([4, 1])
    above = known.above_photos(general, photos)
    for row, a in enumerate(general):
        for column, photo in enumerate(photos):
            assert above[row, column] == entails(facts_of(scenes[photo]), facts[a])


def test_every_caption_lies_above_itself_and_its_photo(split, known):
    captions = np.arange(len(split.captions))
    assert (known.among_texts(captions, captions).diagonal() == TRUE).all()
    above = known.above_photos(captions, np.arange(PHOTOS))
    assert (above[captions, split.photo_of] == TRUE).all()
    assert (above == TRUE).mean() < 0.5


def test_other_texts_are_different_concepts(split, known):
    assert len(known.common) == 0
    rows = known.others(np.arange(3), 20, np.random.default_rng(0))
    assert len(set(rows.tolist())) == 20
    assert min(rows) >= len(split.captions)
    rest = len(known.texts) - len(split.captions)
    every = known.others(np.arange(3), 10_000, np.random.default_rng(0))
    assert sorted(every - len(split.captions)) == [*range(rest)]


def test_folders_of_photos_have_no_relations(tmp_path):
    assert not relations.has_relations(str(tmp_path))
    assert not relations.is_available(str(tmp_path))


def test_a_data_set_without_known_relations_is_refused(split):
    assert relations.has_relations("storybook")
    assert not relations.has_relations("nothing")
    with pytest.raises(UserError, match=r"^toy has no captions, so no relations can be known"):
        relations.load(replace(split, name="toy", captions=(), photo_of=()))
