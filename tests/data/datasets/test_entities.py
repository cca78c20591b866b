from pathlib import Path

import pytest

from tests.support import small_entities
from vsdemo.core.errors import UserError
from vsdemo.data.datasets import entities
from vsdemo.data.datasets.entities import Phrase
from vsdemo.data.datasets.flickr8k import Flickr8k

PHOTO, DOGS, EMPTY = Path("11_a.jpg"), Path("folder/22_b.jpg"), Path("33.jpg")


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    return small_entities.write(tmp_path)


@pytest.mark.usefixtures("small")
def test_read_returns_captions_and_phrases():
    annotation, dogs = entities.read([PHOTO, DOGS])
    assert annotation.captions[0] == "A man in a gray t-shirt holds two balls ."
    assert annotation.phrases[0] == (
        Phrase(("A", "man"), 0, ("people",), "1"),
        Phrase(("a", "gray", "t-shirt"), 3, ("clothing",), "2"),
        Phrase(("two", "balls"), 7, ("other",), "3"),
    )
    assert annotation.phrases[2][1] == Phrase(
        ("a", "man", "in", "his", "car"), 2, ("people", "vehicles"), "1"
    )
    assert (dogs.captions, len(dogs.phrases)) == (("Two dogs run .",), 1)
    for caption, phrases in zip(annotation.captions, annotation.phrases, strict=True):
        for phrase in phrases:
            words = caption.split()[phrase.first :][: len(phrase.words)]
            assert tuple(words) == phrase.words


@pytest.mark.usefixtures("small")
def test_boxes_are_fractions_of_the_photo_by_chain():
    (annotation,) = entities.read([PHOTO])
    assert {chain: rows.tolist() for chain, rows in annotation.boxes.items()} == {
        "1": [pytest.approx([0, 0, 0.25, 1]), pytest.approx([0.05, 0.3, 0.2, 0.6])],
        "2": [pytest.approx([0.05, 0.3, 0.2, 0.6])],
        "3": [pytest.approx([0.2, 0.5, 0.3, 0.6]), pytest.approx([0.7, 0.5, 0.8, 0.6])],
    }


@pytest.mark.usefixtures("small")
def test_boxes_are_clipped_and_inverted_ones_dropped():
    (annotation,) = entities.read([DOGS])
    assert annotation.boxes["7"].tolist() == [
        pytest.approx([0, 0, 0.2, 1]),
        pytest.approx([0.6, 0.2, 0.8, 0.4]),
    ]


@pytest.mark.usefixtures("small")
def test_boxes_returns_each_box_once_the_largest_first():
    boxes = entities.boxes(PHOTO)
    assert boxes[0] == pytest.approx((0, 0, 0.25, 1))
    assert boxes[1] == pytest.approx((0.05, 0.3, 0.2, 0.6))
    assert len(boxes) == 4


@pytest.mark.usefixtures("small")
def test_photos_without_boxes_or_annotation_are_user_errors():
    with pytest.raises(UserError, match=r"33\.jpg has no annotated boxes"):
        entities.boxes(EMPTY)
    with pytest.raises(UserError, match=r"does not contain 44_x\.jpg"):
        entities.read([PHOTO, Path("44_x.jpg")])


def test_a_missing_archive_is_a_user_error(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    with pytest.raises(UserError, match="Flickr30k Entities is missing"):
        entities.read([PHOTO])


@pytest.mark.parametrize("keep", [0, 100, 1000])
def test_a_damaged_archive_is_a_user_error(small, keep):
    small.write_bytes(small.read_bytes()[:keep])
    with pytest.raises(UserError, match=r"annotations\.zip is damaged \(.* at photo 11\)"):
        entities.boxes(PHOTO)


@pytest.mark.parametrize("part", [b"<width>200</width>", b"<xmin>1</xmin>", b"</annotation>"])
def test_damaged_annotations_are_a_user_error(small, part):
    small.write_bytes(small.read_bytes().replace(part, b"#" * len(part)))
    with pytest.raises(UserError, match="is damaged"):
        entities.boxes(PHOTO)


def test_match_captions_prefers_equal_then_similar_sentences():
    sentences = ["A gray dog runs .", "a man", "A boy skips rocks .", "A MAN", "One more"]
    captions = ["A", "A man", "A skips rocks .", "a man .", "A grey dog runs"]
    assert entities.match_captions(captions, sentences) == [4, 1, 2, 3, 0]
    assert entities.match_captions(["b", "a"], ["a"]) == [None, 0]


@pytest.mark.usefixtures("real_data")
def test_real_annotations_match_flickr8k():
    split = Flickr8k().load("test")
    annotations = entities.read(split.photos)
    assert {len(one.captions) for one in annotations} == {5}
    same = 0
    for number, one in enumerate(annotations):
        own = split.own_captions(number)
        places = entities.match_captions(own, one.captions)
        assert sorted(places) == [0, 1, 2, 3, 4]
        same += sum(t == one.captions[p] for t, p in zip(own, places, strict=True))
        for boxes in one.boxes.values():
            assert ((boxes >= 0) & (boxes <= 1)).all()
            assert (boxes[:, :2] < boxes[:, 2:]).all()
    assert same / 5000 > 0.96
    assert len(entities.boxes(split.photos[0])) > 1
