"""Which photos Pocket learns from, and how they are kept."""

import shutil
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data import datasets, storybook
from vsdemo.data.storybook import store
from vsdemo.recipes.pocket import photos
from vsdemo.vision.features import photo_key


@given(st.integers(8, 900), st.integers(8, 900))
def test_photos_in_memory_are_small_and_keep_their_shape(width, height):
    kept = photos.shrunk(Image.new("RGB", (width, height), "red"))
    high, wide = kept.shape[1:]
    assert kept.dtype == torch.uint8
    assert min(high, wide) == min(photos.SHORT, width, height)
    assert max(high, wide) <= photos.WIDEST * min(high, wide) + 1
    if max(width, height) <= photos.WIDEST * min(width, height):
        assert abs(wide / high - width / height) < 0.1 * width / height + 1 / min(high, wide)


def test_of_a_long_photo_the_middle_is_kept():
    photo = Image.new("RGB", (900, 100), "red")
    photo.paste("blue", (350, 0, 550, 100))
    blue = torch.tensor([0, 0, 255], dtype=torch.uint8)[:, None, None]
    assert torch.equal(photos.shrunk(photo), blue.expand(3, 100, 200))


def test_photos_are_read_in_their_order(tmp_path):
    paths = [tmp_path / f"{i}.png" for i in range(5)]
    for i, path in enumerate(paths):
        Image.new("RGB", (20, 20), (10 * i, 0, 0)).save(path)
    assert [int(p[0, 0, 0]) for p in photos.read(paths)] == [0, 10, 20, 30, 40]


def test_how_much_a_crop_shows_depends_on_the_set():
    found = photos.Photos((), (), (), {"storybook": 1, "photos_unlabelled": 2})
    assert found.least.tolist() == pytest.approx([0.7, 0.25, 0.25])


def test_more_drawings_are_of_no_split():
    assert not set(photos.MORE) & set(store.SPLITS["all"])


def test_drawings_come_last():
    found = photos.Photos(tuple("abcde"), (), (), {"flickr8k": 3, "storybook": 2})
    assert found.photographs == 3


def test_missing_photos_are_said(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    with pytest.raises(UserError, match="Flickr8k"):
        photos.training()


def test_vague_captions_of_drawings_are_left_out(toy_root, tmp_path, monkeypatch):
    """They would count as wrong for other drawings that they are true of."""
    (tmp_path / "photos_unlabelled").mkdir()
    shutil.copy(next((toy_root / "toy" / "images").iterdir()), tmp_path / "photos_unlabelled")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    captions = [f"{word} {i}" for i in range(2) for word in ("vague", "short", "a", "b", "c")]
    paths = (tmp_path / "0.png", tmp_path / "1.png")
    drawn = CaptionSet("storybook", "all", paths, tuple(captions), (0,) * 5 + (1,) * 5)
    toy = datasets.load(str(toy_root / "toy" / "captions.json"), "train")
    monkeypatch.setattr(photos.data, "load", lambda name, split: replace(toy, name=name))
    monkeypatch.setattr(storybook, "drawn", lambda numbers: drawn)
    found = photos.training()
    assert found.sets == {"flickr8k": 24, "pascal1k": 24, "photos_unlabelled": 1, "storybook": 2}
    assert found.captions[-6:] == ("a 0", "b 0", "c 0", "a 1", "b 1", "c 1")
    assert found.photo_of[-6:] == (49, 49, 49, 50, 50, 50)
    assert found.captions[:120] == toy.captions
    assert found.photo_of[120:240] == tuple(24 + number for number in toy.photo_of)
    assert found.paths[-2:] == paths


def test_no_photo_of_a_dev_or_test_split(real_data, monkeypatch):
    """By content: a copy under another name would be one too. The splits of Pascal1K that take a
    seed are not meant: each has other photos for training."""
    nothing = CaptionSet("storybook", "train", (), (), ())  # its scenes need not be drawn
    monkeypatch.setattr(storybook, "drawn", lambda numbers: nothing)
    found = photos.training()
    assert sum(found.sets.values()) == len(found.paths) == len(set(found.paths))
    seen = {photo_key(path) for path in found.paths}
    assert len(seen) > 10_000
    for name in ("flickr8k", "pascal1k"):
        for split in ("dev", "test"):
            held_out = {photo_key(path) for path in datasets.photos(name, split)}
            assert not seen & held_out
