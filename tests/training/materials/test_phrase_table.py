"""Phrases as a training draws them, from a small copy of Flickr30k Entities."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.support import small_entities
from vsdemo.core.errors import UserError
from vsdemo.training.materials.phrase_table import PhraseTable


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    small_entities.write(tmp_path)
    return PhraseTable(small_entities.load(tmp_path))


def drawn(table, photos, count):
    phrases = table.draw(np.array(photos), count, np.random.default_rng(0))
    return phrases, [table.texts[number] for number in phrases.texts]


def test_texts_are_the_phrases_with_boxes(table):
    assert sorted(table.texts) == [
        "a gray t-shirt",
        "a man",
        "a man in his car",
        "the red-haired man",
        "two balls",
        "two dogs",
    ]


def test_phrases_have_the_frame_of_their_boxes(table):
    phrases, texts = drawn(table, [0, 1], 9)
    boxes = [phrases.boxes[photo, slot] for photo, slot in phrases.places]
    by_text = dict(zip(texts, boxes, strict=True))
    torch.testing.assert_close(by_text["two balls"], torch.tensor([0.2, 0.5, 0.8, 0.6]))
    torch.testing.assert_close(by_text["two dogs"], torch.tensor([0.0, 0.0, 0.8, 1.0]))
    assert phrases.boxes.shape == (2, 9, 4)
    assert (phrases.boxes[1, 1:] == 0).all()  # the second photo has one phrase


def test_a_photo_has_no_more_phrases_than_asked_for(table):
    phrases, texts = drawn(table, [1, 0], 2)
    assert phrases.places.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert texts[0] == "two dogs"
    assert len(set(texts)) == 3


def test_phrases_of_one_region_may_name_the_same(table):
    phrases, texts = drawn(table, [0, 1], 9)
    unknown = {
        (a, b) for i, a in enumerate(texts) for j, b in enumerate(texts) if phrases.unknown[i, j]
    }
    assert ("a man", "the red-haired man") in unknown
    assert ("two balls", "a gray t-shirt") not in unknown
    assert ("a man", "two dogs") not in unknown


def test_things_of_one_kind_in_other_photos_may_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    small_entities.write(tmp_path, **{"22": "[/EN#7/people A tall man] runs .\n"})
    phrases, texts = drawn(PhraseTable(small_entities.load(tmp_path)), [0, 1], 9)
    tall, man = texts.index("a tall man"), texts.index("a man")
    assert phrases.unknown[tall, man]
    assert not phrases.unknown[tall, texts.index("two balls")]


def test_other_data_sets_have_no_phrases(table, tmp_path):
    with pytest.raises(UserError, match="needs Flickr8k or Storybook"):
        PhraseTable(replace(small_entities.load(tmp_path), name="coco"))
