"""A checkpoint is found by its name, its folder or where it lies."""

import shutil
from pathlib import Path

import pytest

from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.models import checkpoint_names


def test_a_shipped_checkpoint_is_found_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = checkpoint_names.find("storybook/gru")
    assert folder == ROOT / "checkpoints" / "storybook" / "gru"


def test_shipped_checkpoints_are_those_of_the_environment(toy_checkpoint, tmp_path, monkeypatch):
    shutil.copytree(toy_checkpoint, tmp_path / "own" / "model")
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path))
    assert checkpoint_names.find("own/model") == tmp_path / "own" / "model"
    with pytest.raises(UserError, match=r"no checkpoint 'storybook/gru'; .*one of own/model\.$"):
        checkpoint_names.find("storybook/gru")


def test_a_folder_is_given_as_text_or_as_a_path(toy_checkpoint):
    assert checkpoint_names.find(toy_checkpoint) == toy_checkpoint
    assert checkpoint_names.find(str(toy_checkpoint)) == toy_checkpoint


def test_a_folder_that_is_called_like_a_shipped_checkpoint(tmp_path, monkeypatch):
    (tmp_path / "storybook" / "gru").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert checkpoint_names.find("storybook/gru").is_relative_to(ROOT)
    assert checkpoint_names.find("./storybook/gru") == Path("storybook/gru")


@pytest.mark.parametrize("name", ["flickr8k/gruu", "a\0b", "x" * 5000, Path("nowhere")])
def test_a_missing_one_lists_those_that_ship(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"^There is no checkpoint .* storybook/gru, ") as caught:
        checkpoint_names.find(name)
    assert "\n" not in str(caught.value)


def test_another_way_to_call_checkpoints_is_one_line(monkeypatch):
    monkeypatch.setitem(checkpoint_names.SCHEMES, "mine:", "pathlib:Path")
    assert checkpoint_names.find("mine:runs/gru") == Path("runs/gru")
