"""A model, a kind of training data and a task of another package, without a change to vsdemo."""

import json

import pytest

from tests.conftest import TOY_SETTINGS
from vsdemo import models
from vsdemo.evaluation.tasks import TASKS
from vsdemo.training.materials import MATERIALS


@pytest.fixture(autouse=True)
def another_package(monkeypatch):
    """Register the toy model, material and task of tests/support."""
    monkeypatch.setattr(models, "MODELS", dict(models.MODELS))
    models.register("toy", "tests.support.toy_model:TOY")
    monkeypatch.setitem(MATERIALS, "first_captions", "tests.support.toy_material:FirstCaptions")
    monkeypatch.setitem(TASKS, "count", "tests.support.toy_task:CountPhotos")


def test_the_command_line_lists_its_presets(run):
    code, printed, _ = run("models")
    assert code == 0
    assert "toy/first_captions" in printed


def test_a_preset_is_trained_evaluated_and_searched_from_the_command_line(run, tmp_path):
    settings = [f"--set={s}" for s in TOY_SETTINGS]
    code, _, errors = run(
        "train", "toy/first_captions", "--data", "toy", "--out", tmp_path / "run", *settings
    )
    assert code == 0, errors
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["test"]["rsum"] > 0
    code, printed, errors = run("evaluate", tmp_path / "run", "--task", "count", "--json")
    assert code == 0, errors
    assert json.loads(printed)["photos"] == 8
    code, printed, errors = run("search", tmp_path / "run", "a red circle", "-k", 3, "--json")
    assert code == 0, errors
    assert len(json.loads(printed)["hits"]) == 3


def test_an_unknown_name_lists_those_of_the_other_package(run, tmp_path, toy_checkpoint):
    code, _, errors = run("train", "video", "--data", "toy", "--out", tmp_path)
    assert code == 2
    assert "toy/first_captions" in errors
    code, _, errors = run("evaluate", toy_checkpoint, "--task", "captioning")
    assert code == 2
    assert "count" in errors
