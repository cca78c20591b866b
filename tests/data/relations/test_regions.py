"""Regions and phrases: a small Flickr30k Entities, and Storybook by its facts."""

import numpy as np
import pytest

from tests.support import small_entities
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data import storybook
from vsdemo.data.relations import regions
from vsdemo.data.storybook import store

PHOTOS = 4


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    small_entities.write(tmp_path)
    captions = [text for own in small_entities.CAPTIONS.values() for text in own]
    photo_of = [n for n, own in enumerate(small_entities.CAPTIONS.values()) for _ in own]
    photos = tuple(tmp_path / name for name in small_entities.CAPTIONS)
    return CaptionSet("flickr8k", "train", photos, tuple(captions), tuple(photo_of))


def phrases(matrix, known, row: int) -> set[str]:
    return {known.texts[column] for column in matrix[row].indices}


def test_phrases_lie_above_their_caption_and_regions_of_all_captions(small):
    known = regions.load(small)
    above = [phrases(known.above_captions, known, row) for row in range(len(small.captions))]
    assert above == [
        {"the red haired man"},
        {"a man in his car"},
        {"a man", "two balls"},  # "a gray t-shirt" has another spelling in the caption
        {"two dogs"},
    ]
    assert known.photo.tolist() == [0, 0, 1]
    assert phrases(known.above, known, 0) == {"a man", "a man in his car", "the red haired man"}
    assert phrases(known.above, known, 1) == {"two balls"}
    assert known.boxes[1].tolist() == pytest.approx([0.2, 0.5, 0.8, 0.6])  # around both balls


def test_rows_of_regions_and_their_phrases(small):
    known = regions.load(small)
    assert known.of_photos(np.array([1, 0])).tolist() == [2, 0, 1]
    texts = np.array([known.texts.index(text) for text in ("two balls", "a man")])
    expected = [[False, True, False], [True, False, False]]
    assert known.above_regions(texts, np.arange(3)).tolist() == expected


def test_regions_of_storybook_are_those_of_its_mentions():
    split = storybook.drawn(range(4000, 4000 + PHOTOS), "dev")
    known = regions.load(split)
    scenes = [store.read_example(photo).scene for photo in split.photos]
    assert set(known.photo.tolist()) == set(range(PHOTOS))
    for region, photo in enumerate(known.photo):
        edges = {edge for group in scenes[photo].groups for box in group.boxes for edge in box}
        assert {round(float(edge), 5) for edge in known.boxes[region]} <= {
            round(edge, 5) for edge in edges
        }
        assert known.above[region].nnz
    for caption, text in enumerate(split.captions):
        for phrase in phrases(known.above_captions, known, caption):
            assert phrase.split()[-1] in text.lower()


def test_other_data_sets_have_no_regions(small):
    assert not regions.is_available("pascal1k")
    assert regions.is_available("flickr8k")
    with pytest.raises(UserError, match="regions of toy are not known"):
        regions.load(CaptionSet("toy", "train", (), (), ()))
