"""A data set in tar files is written once, and learned from as if it were in memory."""

import json

import pytest
import torch

from tests.support.small_runs import SETTINGS, logged, preset_trainer, stopped_at
from tests.training.test_trainer_resume import assert_same_run
from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.evaluation.evaluate import evaluate
from vsdemo.vision import feature_shards
from vsdemo.vision.features import FeatureCache

BACKBONE = "torchvision/mobilenet_v3_small"
SHORT = (*SETTINGS, "epochs=2")


def write(folder):
    return feature_shards.write("toy", folder, FeatureCache(BACKBONE, "center"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return `toy` in tar files, of train three."""
    monkeypatch.setattr(feature_shards, "PHOTOS", 10)
    write(tmp_path / "shards")
    return tmp_path / "shards"


def test_captions_and_features_are_those_of_the_data_set(folder):
    cache = FeatureCache(BACKBONE, "center")
    assert sorted(file.name for file in (folder / "train").iterdir()) == ["0.tar", "1.tar", "2.tar"]
    for split in ("train", "dev", "test", "all"):
        stored, original = datasets.load(folder, split), datasets.load("toy", split)
        assert stored.captions == original.captions
        assert stored.photo_of == original.photo_of
        assert [p.name for p in stored.photos] == [p.name for p in original.photos]
        expected = cache.get(original.photos)
        assert torch.equal(cache.get_readable(stored)[1], expected)
    assert datasets.check(folder).problems == []


def test_a_second_call_writes_what_is_missing(folder):
    files = sorted(folder.glob("*/*.tar"))
    contents = [file.read_bytes() for file in files]
    files[0].unlink()
    files[2].write_bytes(contents[2][:1000])
    times = [file.stat().st_mtime_ns for file in files[3:]]
    write(folder)
    assert [file.read_bytes() for file in files] == contents
    assert [file.stat().st_mtime_ns for file in files[3:]] == times


def test_a_folder_of_another_network_is_not_mixed(folder):
    with pytest.raises(UserError, match=r"shards has features of toy by .* \(center\)"):
        feature_shards.write("toy", folder, FeatureCache(BACKBONE, "whole"))


def test_trainings_are_those_in_memory(folder, tmp_path):
    """With the same losses, also after an interruption, and the same final metrics."""
    runs = {name: tmp_path / name for name in ("memory", "stored", "resumed")}
    assert preset_trainer(runs["memory"], "gru", *SHORT).run() == "done"
    for name in ("stored", "resumed"):
        run = preset_trainer(runs[name], "gru", *SHORT, data=str(folder))
        with stopped_at(20 if name == "resumed" else 0):
            run.run()
    run = preset_trainer(runs["resumed"], "gru", *SHORT, data=str(folder))
    assert run.run() == "done"
    assert_same_run(runs["resumed"], runs["stored"])
    assert logged(runs["stored"], "step") == logged(runs["memory"], "step")
    stored, memory = (evaluate(runs[name]) for name in ("stored", "memory"))
    assert stored["rsum"] == memory["rsum"]


def test_only_dev_is_in_memory(folder):
    from vsdemo.training.preflight import size

    run = preset_trainer(folder.parent / "run", "gru", *SHORT, data=str(folder))
    assert not isinstance(run.material.photos, torch.Tensor)
    config = run.material.config
    assert size("gru", config, str(folder)).memory < size("gru", config, "toy").memory


def test_other_crops_or_weights_are_refused(folder, tmp_path):
    with pytest.raises(UserError, match="train with --set backbone=torchvision/mobilenet_v3_small"):
        preset_trainer(tmp_path / "a", "gru", *SHORT, "crops=whole", data=str(folder))
    about = json.loads((folder / "features.json").read_text())
    (folder / "features.json").write_text(json.dumps(about | {"networks": "other"}))
    with pytest.raises(UserError, match="has features by weights other of"):
        preset_trainer(tmp_path / "a", "gru", *SHORT, data=str(folder))


def test_ranks_compare_the_files(folder, tmp_path):
    """Other features are other content, though captions and settings are the same."""
    contents = []
    for number in range(2):
        run = preset_trainer(tmp_path / str(number), "gru", *SHORT, data=str(folder))
        contents.append(list(run.material._content()))
        path = folder / "train" / "1.tar"
        stored = run.material.photos._files[1]
        values = bytearray(path.read_bytes())
        values[stored.offsets[0] + stored.size - 2] ^= 1
        path.write_bytes(values)
    assert contents[0] != contents[1]


def test_the_command_writes_and_trains(run, tmp_path):
    folder = tmp_path / "shards"
    code, printed, _ = run(
        "data", "shards", "toy", folder, "--backbone", BACKBONE, "--crops", "center"
    )
    assert code == 0
    assert f"train: 1 file in {folder / 'train'}" in printed
    settings = [word for setting in SHORT for word in ("--set", setting)]
    code, printed, errors = run(
        "train", "gru", "--data", folder, "--out", tmp_path / "run", *settings
    )
    assert code == 0, errors
    assert "| test |" in printed
    (folder / "train" / "0.tar").unlink()
    code, _, errors = run("train", "gru", "--data", folder, "--out", tmp_path / "b", *settings)
    assert code == 2
    assert "0.tar is missing; copy it again" in errors
