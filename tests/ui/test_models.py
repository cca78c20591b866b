"""Which model the app offers first."""

import json

import pytest

from tests.support.checkpoint_copies import editable_copy
from tests.support.clips import write_clip
from vsdemo.models import checkpoint_names
from vsdemo.ui.library import Library
from vsdemo.ui.library.models import has_seen_photos, rank_models

MISSING_NETWORK = "torchvision/resnet50"  # its weights are not available


@pytest.fixture
def shelf(toy_checkpoint, tmp_path, monkeypatch):
    """Add a checkpoint by its name, data set, sum of recalls on dev, image network and views."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("torch.hub.get_dir", lambda: str(tmp_path / "hub"))

    def add(name, dataset, rsum, backbone=None, crops="center"):
        folder = editable_copy(toy_checkpoint, tmp_path / dataset / name)
        spec = json.loads((folder / "config.json").read_text())
        spec["dataset"] = dataset
        spec["config"]["backbone"] = backbone or spec["config"]["backbone"]
        spec["config"]["crops"] = crops
        (folder / "config.json").write_text(json.dumps(spec))
        (folder / "metrics.json").write_text(json.dumps({"dev": {"rsum": rsum}}))
        return folder

    return add


def test_the_better_model_of_the_data_set_is_first(shelf):
    shelf("a", "flickr8k", 250)
    shelf("b", "flickr8k", 300)
    shelf("c", "storybook", 400)
    assert list(rank_models("flickr8k")) == ["b", "a", "c"]
    assert list(rank_models("storybook")) == ["c", "b", "a"]


def test_available_networks_come_before_better_models(shelf):
    shelf("better", "flickr8k", 300, MISSING_NETWORK)
    shelf("here", "flickr8k", 200)
    shelf("drawn", "storybook", 400)
    assert list(rank_models("flickr8k")) == ["here", "better", "drawn"]
    assert list(rank_models(None)) == ["here", "drawn", "better"]


def test_one_view_of_a_photo_comes_before_ten(shelf):
    shelf("slow", "flickr8k", 300, crops="ten")
    shelf("quick", "flickr8k", 200)
    assert list(rank_models("flickr8k")) == ["quick", "slow"]


def test_rsums_of_different_data_sets_are_not_compared(shelf):
    shelf("few", "pascal1k", 450)
    shelf("many", "flickr8k", 200)
    shelf("own", "somewhere", 500)
    assert list(rank_models(None)) == ["many", "few", "own"]


def test_damaged_models_come_last(shelf):
    folder = shelf("damaged", "flickr8k", 300)
    (folder / "metrics.json").write_text("{")
    shelf("own", "somewhere", 1)
    assert list(rank_models("flickr8k")) == ["own", "damaged"]


def test_models_of_drawings_have_not_seen_photos(shelf):
    assert has_seen_photos(shelf("a", "flickr8k", 1))
    assert not has_seen_photos(shelf("b", "storybook", 1))


def test_equal_names_have_their_folder(shelf):
    shelf("gru", "flickr8k", 2)
    shelf("gru", "storybook", 1)
    assert list(rank_models("flickr8k")) == ["flickr8k gru", "storybook gru"]


def test_a_model_is_found_by_its_key_and_by_its_folder(shelf):
    shelf("gru", "flickr8k", 2)
    shelf("gru", "storybook", 1)
    shelf("bow", "storybook", 1)
    find = Library().find_model
    assert find("bow") == find("storybook/bow") == "bow"
    assert find("storybook gru") == find("storybook/gru") == "storybook gru"
    assert [find(name) for name in ("", "gru", "flickr8k/bow", "../bow")] == [None] * 4


def test_a_model_of_open_clip_is_first_for_photos_of_ones_own(shelf, tmp_path_factory, monkeypatch):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setenv("VSDEMO_HOME", str(elsewhere / "home"))
    shelf("trained", "flickr8k", 300)
    shelf("drawn", "storybook", 400)
    source = write_clip(elsewhere / "source")
    clip = checkpoint_names.find(f"clip:local-dir:{source}")
    assert list(rank_models("folder")) == [clip.name, "trained", "drawn"]
    assert list(rank_models("flickr8k")) == ["trained", clip.name, "drawn"]
    assert list(rank_models(None)) == [clip.name, "trained", "drawn"]  # for any photo
    assert has_seen_photos(clip)
    (source / "open_clip_model.safetensors").unlink()
    assert list(rank_models("folder")) == ["trained", "drawn"]
