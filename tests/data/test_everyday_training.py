"""The photos that a model can learn from beside those of a data set."""

import shutil

import pytest

from vsdemo.core.errors import UserError
from vsdemo.data import datasets, everyday_photos
from vsdemo.data.everyday_photos import training

SAMPLES = "photos_unlabelled/imagenet_samples"


@pytest.fixture
def captions(real_data):
    """Return the captions of each photo, by the name of its file."""
    more = training.load()
    return {photo.name: more.own_captions(number) for number, photo in enumerate(more.photos)}


def test_no_measured_photo_is_among_them(captions):
    measured = {photo.file.rpartition("/")[2] for photo in everyday_photos.described_photos()}
    assert len(captions) == 800 + 1000 - 20
    assert not captions.keys() & measured
    test = {photo.name for photo in datasets.load("pascal1k", "test").photos}
    assert not captions.keys() & test


@pytest.mark.parametrize(
    ("file", "expected", "wrong"),
    [
        ("n04228054_ski.jpg", {"a ski"}, set()),
        ("n02606052_rock_beauty.jpg", {"a rock beauty", "a fish", "an animal"}, {"a beauty"}),
        ("n02113186_Cardigan.jpg", {"a cardigan", "a dog", "an animal"}, {"a jacket"}),
        ("n04487081_trolleybus.jpg", {"a trolleybus", "a bus"}, {"a thing", "an object"}),
    ],
)
def test_photos_of_imagenet_have_the_names_of_what_they_show(captions, file, expected, wrong):
    assert expected <= set(captions[file])
    assert not wrong & set(captions[file])


def test_each_photo_has_a_caption_and_none_twice(captions):
    assert all(captions.values())
    assert all(len(set(own)) == len(own) for file, own in captions.items() if file[0] == "n")


def test_another_file_among_the_samples_is_one_sentence(real_data, monkeypatch, tmp_path):
    for name in ("pascal1k", "wordnet3.0-nouns.tar.xz"):
        (tmp_path / name).symlink_to(real_data / name)
    (tmp_path / SAMPLES).mkdir(parents=True)
    photo = next((real_data / SAMPLES).iterdir())
    shutil.copy(photo, tmp_path / SAMPLES / "holiday.jpg")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    with pytest.raises(UserError, match=r"holiday\.jpg is not the name of a sample of ImageNet"):
        training.load()
