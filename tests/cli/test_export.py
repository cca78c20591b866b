"""`export`: files of embeddings and ONNX models from the command line."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.support.clips import write_clip
from vsdemo.core.paths import ROOT

FRAGMENTS = ROOT / "checkpoints" / "storybook" / "fragments"
SDT_RNN = ROOT / "checkpoints" / "storybook" / "sdt_rnn"


def test_embeddings_of_a_split_are_written(run, toy_checkpoint, tmp_path):
    to = tmp_path / "new" / "emb.parquet"
    code, printed, errors = run("export", toy_checkpoint, "--split", "dev", "--to", to)
    assert code == 0, errors
    assert printed == f"8 photos, 40 captions, 32 x float32\n{to}\n"
    assert "captions: 100%" in errors
    assert len(pd.read_parquet(to)) == 48


def test_embeddings_of_a_folder_in_half_precision(run, toy_checkpoint, toy_root, tmp_path):
    photos = sorted((toy_root / "toy" / "images").iterdir())
    (tmp_path / "mine").mkdir()
    for photo in photos[:3]:
        shutil.copy(photo, tmp_path / "mine")
    (tmp_path / "mine" / "text.jpg").write_text("no photo")
    to = tmp_path / "emb.npy"
    options = ("--gallery", tmp_path / "mine", "--to", to, "--half", "--json")
    code, printed, errors = run("export", toy_checkpoint, *options)
    assert code == 0, errors
    result = json.loads(printed)
    assert (result["file"], result["photos"], result["captions"]) == (str(to), 3, 0)
    assert "Photos left out: 1" in errors
    assert "captions:" not in errors
    x = np.load(to)
    assert (x.shape, x.dtype) == ((3, 32), np.float16)
    assert [row["photo"] for row in json.loads(Path(f"{to}.json").read_text())["rows"]] == [
        photo.name for photo in photos[:3]
    ]


def test_a_model_of_open_clip_has_embeddings_but_no_onnx_models(run, tmp_path):
    name = f"clip:local-dir:{write_clip(tmp_path / 'model')}"
    to = tmp_path / "emb.parquet"
    code, printed, errors = run("export", name, "--gallery", "toy", "--split", "dev", "--to", to)
    assert code == 0, errors
    assert printed.startswith("8 photos, 40 captions, 24 x float32")
    code, _, errors = run("export", name, "--onnx", tmp_path / "onnx")
    assert code == 2
    assert errors.startswith("vsdemo: clip cannot be exported to ONNX")


def test_the_command_again_replaces_the_file(run, toy_checkpoint, tmp_path):
    to = tmp_path / "emb.npy"
    assert run("export", toy_checkpoint, "--split", "dev", "--to", to)[0] == 0
    assert run("export", toy_checkpoint, "--split", "train", "--to", to)[0] == 0
    assert len(np.load(to)) == len(json.loads(Path(f"{to}.json").read_text())["rows"]) == 144


def test_onnx_models_of_a_checkpoint_are_written(run, toy_checkpoint, tmp_path):
    to = tmp_path / "onnx"
    code, printed, errors = run("export", toy_checkpoint, "--onnx", to)
    assert (code, errors) == (0, "")
    names = ["text.onnx", "image.onnx", "score.onnx", "checkpoint.json"]
    assert [line.split()[2] for line in printed.splitlines()] == [str(to / n) for n in names]
    assert {file.name for file in to.iterdir()} == set(names)


@pytest.mark.long
def test_an_image_network_is_written(run, tmp_path):
    code, printed, errors = run("export", "pocket", "--onnx", tmp_path, "--json")
    assert (code, errors) == (0, "")
    files = [tmp_path / "network.onnx", tmp_path / "network.json"]
    assert json.loads(printed) == {"files": [str(file) for file in files]}
    assert all(file.stat().st_size > 0 for file in files)


@pytest.fixture
def refused(run, monkeypatch):
    """Run `export` without reading a photo, check that it is refused, and return the message."""

    def read(*args, **options):
        raise AssertionError("a photo was read")

    monkeypatch.setattr("vsdemo.vision.features.FeatureCache.get", read)

    def refused(*words: object) -> str:
        code, printed, errors = run("export", *words)
        assert (code, printed) == (2, "")
        assert errors.startswith("vsdemo: ")
        assert errors.count("\n") == 1, errors
        return errors

    return refused


def test_bad_input_is_one_sentence(refused, toy_checkpoint, tmp_path):
    to = ("--to", tmp_path / "emb.npy")
    assert "Give either --to FILE" in refused(toy_checkpoint)
    assert "Give either" in refused(toy_checkpoint, *to, "--onnx", tmp_path)
    for option in (("--gallery", "toy"), ("--split", "dev"), ("--half",)):
        assert "are for embeddings; use --to" in refused(
            toy_checkpoint, "--onnx", tmp_path, *option
        )
    assert "use .parquet or .npy" in refused(toy_checkpoint, "--to", tmp_path / "emb.csv")
    assert "no data set 'imagenet'" in refused(toy_checkpoint, "--gallery", "imagenet", *to)
    assert "no split 'val'" in refused(toy_checkpoint, "--split", "val", *to)
    assert "no checkpoint at" in refused(tmp_path, *to)
    assert "no checkpoint at" in refused(tmp_path, "--onnx", tmp_path / "onnx")
    assert "which a .npy file cannot hold" in refused(FRAGMENTS, *to)
    assert "cannot be exported to ONNX" in refused(SDT_RNN, "--onnx", tmp_path / "onnx")
    assert "already holds a checkpoint" in refused(toy_checkpoint, "--onnx", toy_checkpoint)
    assert "no backbone 'pocket/2'" in refused("pocket/2", "--onnx", tmp_path / "onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["emb.parquet", "emb.npy"])
def test_a_path_that_cannot_be_written_is_one_sentence(run, toy_checkpoint, tmp_path, name):
    (tmp_path / "file").write_text("no folder")
    to = tmp_path / "file" / name
    code, _, errors = run("export", toy_checkpoint, "--split", "dev", "--to", to)
    assert code == 2
    assert errors.splitlines()[-1].startswith(f"vsdemo: {to} cannot be written (")
    (tmp_path / name).mkdir()
    code, _, errors = run("export", toy_checkpoint, "--split", "dev", "--to", tmp_path / name)
    assert (code, "cannot be written" in errors) == (2, True)
    assert {file.name for file in tmp_path.iterdir()} == {"file", name}
