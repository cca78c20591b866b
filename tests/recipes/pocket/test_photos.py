"""The photos that Pocket learns from, and their pixels."""

import shutil
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data import datasets, everyday_photos, storybook
from vsdemo.data.storybook import store
from vsdemo.recipes.pocket import photos
from vsdemo.vision.features import photo_key


@given(st.integers(8, 900), st.integers(8, 900))
def test_shrink_keeps_the_shape(width, height):
    kept = photos.shrink(Image.new("RGB", (width, height), "red"))
    high, wide = kept.shape[1:]
    assert kept.dtype == torch.uint8
    assert min(high, wide) == min(photos.SHORT_SIDE, width, height)
    assert max(high, wide) <= photos.MAX_ASPECT * min(high, wide) + 1
    if max(width, height) <= photos.MAX_ASPECT * min(width, height):
        assert abs(wide / high - width / height) < 0.1 * width / height + 1 / min(high, wide)


def test_shrink_keeps_the_middle_of_a_long_photo():
    photo = Image.new("RGB", (900, 100), "red")
    photo.paste("blue", (350, 0, 550, 100))
    blue = torch.tensor([0, 0, 255], dtype=torch.uint8)[:, None, None]
    assert torch.equal(photos.shrink(photo), blue.expand(3, 100, 200))


def test_photos_are_read_in_order(tmp_path):
    paths = [tmp_path / f"{i}.png" for i in range(5)]
    for i, path in enumerate(paths):
        Image.new("RGB", (20, 20), (10 * i, 0, 0)).save(path)
    assert [int(p[0, 0, 0]) for p in photos.read_all(paths)] == [0, 10, 20, 30, 40]


def test_min_area_depends_on_the_source():
    loaded = photos.PocketPhotos((), (), (), {"storybook": 1, "photos_unlabelled": 2})
    assert loaded.min_area.tolist() == pytest.approx([0.7, 0.2, 0.2])


def test_more_scenes_are_in_no_split():
    assert not set(photos.MORE_SCENES) & set(store.SPLITS["all"])


def test_drawings_come_last():
    loaded = photos.PocketPhotos(tuple("abcde"), (), (), {"flickr8k": 3, "storybook": 2})
    assert loaded.photographs == 3


def test_missing_photos_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    with pytest.raises(UserError, match="Flickr8k"):
        photos.load()


def test_vague_captions_of_drawings_are_dropped(toy_root, tmp_path, monkeypatch):
    """They would be negatives of other drawings that they are true of."""
    (tmp_path / "photos_unlabelled").mkdir()
    shutil.copy(next((toy_root / "toy" / "images").iterdir()), tmp_path / "photos_unlabelled")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    captions = [f"{word} {i}" for i in range(2) for word in ("vague", "short", "a", "b", "c")]
    paths = (tmp_path / "0.png", tmp_path / "1.png")
    drawn = CaptionSet("storybook", "all", paths, tuple(captions), (0,) * 5 + (1,) * 5)
    toy = datasets.load(str(toy_root / "toy" / "captions.json"), "train")
    monkeypatch.setattr(photos.datasets, "load", lambda name, split: replace(toy, name=name))
    monkeypatch.setattr(storybook, "drawn", lambda numbers: drawn)
    nothing = CaptionSet("everyday photos", "test", ())
    monkeypatch.setattr(photos.everyday_photos, "load", lambda: nothing)
    loaded = photos.load()
    assert loaded.counts == {"flickr8k": 24, "pascal1k": 24, "photos_unlabelled": 1, "storybook": 2}
    assert loaded.captions[-6:] == ("a 0", "b 0", "c 0", "a 1", "b 1", "c 1")
    assert loaded.photo_of[-6:] == (49, 49, 49, 50, 50, 50)
    assert loaded.captions[:120] == toy.captions
    assert loaded.photo_of[120:240] == tuple(24 + number for number in toy.photo_of)
    assert loaded.paths[-2:] == paths


def test_no_photo_of_a_dev_or_test_split(real_data, monkeypatch):
    """Photos are compared by content. Splits of Pascal1K with a seed are not checked, as each has
    its own photos for training."""
    empty = CaptionSet("storybook", "train", (), (), ())  # saves drawing its scenes
    monkeypatch.setattr(storybook, "drawn", lambda numbers: empty)
    loaded = photos.load()
    assert sum(loaded.counts.values()) == len(loaded.paths) == len(set(loaded.paths))
    seen = {photo_key(path) for path in loaded.paths}
    assert len(seen) > 10_000
    for name in ("flickr8k", "pascal1k"):
        for split in ("dev", "test"):
            held_out = {photo_key(path) for path in datasets.photos(name, split)}
            assert not seen & held_out
    described = {photo_key(path) for path in everyday_photos.load().photos}
    assert len(described) == 40
    assert not seen & described
