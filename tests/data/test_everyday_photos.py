"""The photos as visitors have them: how they were chosen, and which sentences are right."""

import re

import pytest

from vsdemo.core.errors import UserError
from vsdemo.data import caption_bank, everyday_photos
from vsdemo.data.everyday_photos import described_photos

DUCK = "voc2008/2008_005649.jpg"
TWO_DOGS = "voc2008/2008_003497.jpg"


@pytest.fixture
def photo():
    return {photo.file: photo for photo in described_photos()}.__getitem__


def test_half_of_the_forty_photos_are_of_each_set():
    files = [photo.file for photo in described_photos()]
    assert len(files) == len(set(files)) == 40
    assert sum(file.startswith("voc2008/") for file in files) == 20
    assert sum(file.startswith("imagenet_samples/") for file in files) == 20


@pytest.mark.parametrize(
    ("file", "text", "right"),
    [
        (DUCK, "A duck.", True),
        (DUCK, "A brown duck drinks from a pond.", True),
        (DUCK, "A bird is standing in the water.", True),
        (DUCK, "Two ducks.", False),
        (DUCK, "A duck on the grass.", False),
        (DUCK, "A swan in the water.", False),
        (DUCK, "Green water.", False),  # nothing that the photo shows
        (DUCK, "In the water.", False),
        (DUCK, "", False),
        (TWO_DOGS, "Two dogs running along the beach.", True),
        (TWO_DOGS, "A wet white dog is running through the water at the beach.", True),
        (TWO_DOGS, "Three dogs on the beach.", False),
        (TWO_DOGS, "A dog catches a ball in the water.", False),
    ],
)
def test_a_sentence_is_right_if_all_of_it_is(photo, file, text, right):
    assert photo(file).is_described_by(text) == right


def test_each_photo_can_be_described_and_no_sentence_of_the_bank_is_right_everywhere():
    photos = described_photos()
    assert all(photo.is_described_by(f"A {word}.") for photo in photos for word in photo.shows)
    right = [
        sum(photo.is_described_by(text) for photo in photos) for text in caption_bank.sentences()
    ]
    assert 0 < max(right) <= 8


def test_words_are_plain():
    words = {word for photo in described_photos() for word in photo.fits}
    assert all(re.fullmatch("[a-zé]+", word) for word in words)


def test_the_photos_are_read_where_the_data_are(real_data):
    photos = everyday_photos.load().photos
    assert len(photos) == 40
    assert all(photo.is_file() for photo in photos)


def test_missing_photos_are_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    with pytest.raises(UserError, match="photos_unlabelled"):
        everyday_photos.load()
    (tmp_path / "photos_unlabelled").mkdir()
    with pytest.raises(UserError, match=r"2008_005649.jpg is missing; put it there"):
        everyday_photos.load()
