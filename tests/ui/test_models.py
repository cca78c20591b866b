"""Which model the app offers first."""

import json
import shutil

import pytest

from vsdemo.ui.library.models import by_merit, knows_photos

NOBODY = "torchvision/resnet50"  # an image network that is not here


@pytest.fixture
def shelf(toy_checkpoint, tmp_path, monkeypatch):
    """Adds a checkpoint: its name, data set, sum of recalls on dev, image network and views."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("torch.hub.get_dir", lambda: str(tmp_path / "hub"))

    def add(name, dataset, rsum, backbone=None, crops="center"):
        folder = shutil.copytree(toy_checkpoint, tmp_path / dataset / name)
        spec = json.loads((folder / "config.json").read_text())
        spec["dataset"] = dataset
        spec["config"]["backbone"] = backbone or spec["config"]["backbone"]
        spec["config"]["crops"] = crops
        (folder / "config.json").write_text(json.dumps(spec))
        (folder / "metrics.json").write_text(json.dumps({"dev": {"rsum": rsum}}))
        return folder

    return add


def test_of_what_is_shown_the_better_one(shelf):
    shelf("a", "flickr8k", 250)
    shelf("b", "flickr8k", 300)
    shelf("c", "storybook", 400)
    assert list(by_merit("flickr8k")) == ["b", "a", "c"]
    assert list(by_merit("storybook")) == ["c", "b", "a"]


def test_what_can_be_used_at_once_comes_before_what_is_better(shelf):
    shelf("better", "flickr8k", 300, NOBODY)
    shelf("here", "flickr8k", 200)
    shelf("drawn", "storybook", 400)
    assert list(by_merit("flickr8k")) == ["here", "better", "drawn"]
    assert list(by_merit(None)) == ["here", "drawn", "better"]


def test_one_look_at_a_photo_comes_before_ten(shelf):
    shelf("slow", "flickr8k", 300, crops="ten")
    shelf("quick", "flickr8k", 200)
    assert list(by_merit("flickr8k")) == ["quick", "slow"]


def test_sums_of_recalls_of_different_sets_are_not_compared(shelf):
    shelf("few", "pascal1k", 450)
    shelf("many", "flickr8k", 200)
    shelf("own", "somewhere", 500)
    assert list(by_merit(None)) == ["many", "few", "own"]


def test_what_is_damaged_comes_last(shelf):
    folder = shelf("damaged", "flickr8k", 300)
    (folder / "metrics.json").write_text("{")
    shelf("own", "somewhere", 1)
    assert list(by_merit("flickr8k")) == ["own", "damaged"]


def test_who_has_seen_photos(shelf):
    assert knows_photos(shelf("a", "flickr8k", 1))
    assert not knows_photos(shelf("b", "storybook", 1))


def test_equal_names_say_their_folder(shelf):
    shelf("gru", "flickr8k", 2)
    shelf("gru", "storybook", 1)
    assert list(by_merit("flickr8k")) == ["flickr8k gru", "storybook gru"]
