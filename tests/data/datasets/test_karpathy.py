"""The Karpathy format, used by COCO, Flickr30k and captions of users."""

import json

import pytest

from vsdemo.core.errors import UserError
from vsdemo.data.datasets.karpathy import KarpathyFile


def image(name: str, split: str, *texts: str, **more: str) -> dict:
    return {"filename": name, "split": split, "sentences": [{"raw": t} for t in texts], **more}


@pytest.fixture
def file(tmp_path):
    images = [
        image("1.jpg", "train", " A dog runs. ", "A dog."),
        image("2.jpg", "restval", "A cat."),
        image("3.jpg", "val"),
        image("4.jpg", "test", "A cow.", "Two cows.", "Ünd drei.", filepath="val2014"),
        image("5.jpg", "train", "A hen."),
        image("6.jpg", "spare", "An owl."),
    ]
    path = tmp_path / "coco" / "captions.json"
    (path.parent / "images" / "val2014").mkdir(parents=True)
    (path.parent / "images" / "val2014" / "4.jpg").touch()
    path.write_text(json.dumps({"images": images}))
    return path


def test_train_and_restval_are_one_split(file):
    split = KarpathyFile(file).load("train")
    assert [p.name for p in split.photos] == ["1.jpg", "2.jpg", "5.jpg"]
    assert split.captions == ("A dog runs.", "A dog.", "A cat.", "A hen.")
    assert split.photo_of == (0, 0, 1, 2)
    assert (split.name, split.split) == ("coco", "train")


def test_dev_test_and_all(file):
    assert KarpathyFile(file).load("dev").captions == ()
    assert KarpathyFile(file).load("test").captions == ("A cow.", "Two cows.", "Ünd drei.")
    assert len(KarpathyFile(file).load("all").photos) == 6


def test_photos_in_images_take_precedence_over_the_file_s_folder(file):
    assert KarpathyFile(file).load("dev").photos == (file.parent / "3.jpg",)
    photos = KarpathyFile(file).load("test").photos
    assert photos == (file.parent / "images" / "val2014" / "4.jpg",)


def test_a_relative_path_has_its_folder_s_name(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    assert KarpathyFile(file.relative_to(file.parent)).load("train").name == "coco"


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "{",
        "[]",
        "{}",
        "3",
        '"images"',
        '{"images": 3}',
        '{"images": [3]}',
        "\xff",
        '{"images": [{}]}',
        '{"images": [[1]]}',
        '{"images": null}',
        json.dumps({"images": [{"filename": "1.jpg", "split": "train"}]}),
        json.dumps({"images": [{**image("1.jpg", "train"), "sentences": [{"tokens": ["a"]}]}]}),
        json.dumps({"images": [{**image("1.jpg", "train"), "sentences": [{"raw": None}]}]}),
        json.dumps({"images": [{**image("1.jpg", "train"), "split": ["train"]}]}),
        json.dumps({"images": [{**image("1.jpg", "train"), "filename": None}]}),
        json.dumps({"images": [image("1.jpg", "train", filepath=3)]}),
    ],
)
def test_a_malformed_file_is_a_user_error(tmp_path, bad):
    path = tmp_path / "captions.json"
    path.write_bytes(bad.encode("latin-1"))
    with pytest.raises(UserError, match="not in the Karpathy caption format"):
        KarpathyFile(path).load("train")


@pytest.mark.parametrize(
    ("name", "below"),
    [("../1.jpg", ""), ("/etc/passwd", ""), ("1.jpg", "../.."), ("1.jpg", "/etc"), ("a/../b", "")],
)
def test_a_photo_outside_the_folder_is_a_user_error(tmp_path, name, below):
    path = tmp_path / "captions.json"
    path.write_text(json.dumps({"images": [image(name, "train", "A dog.", filepath=below)]}))
    with pytest.raises(UserError, match="leaves its folder"):
        KarpathyFile(path).load("train")


def test_a_missing_file_and_an_empty_split_are_user_errors(tmp_path, file):
    with pytest.raises(UserError, match="FileNotFoundError"):
        KarpathyFile(tmp_path / "gone.json").load("train")
    file.write_text(json.dumps({"images": [image("1.jpg", "train", "A dog.")]}))
    with pytest.raises(UserError, match="no photo in split 'test'"):
        KarpathyFile(file).load("test")
