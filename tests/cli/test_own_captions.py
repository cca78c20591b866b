"""Training on a folder of one's own photos with captions, and on its index."""

import json

import pytest

from tests.conftest import BACKBONE
from tests.support.captioned_folder import write_photos, write_table

SETTINGS = (
    f"backbone={BACKBONE}", "crops=center", "dim=16", "word_dim=8", "min_count=1", "batch_size=8",
    "epochs=2", "evaluate_sts=false",
)  # fmt: skip


@pytest.fixture
def folder(own_home, tmp_path):
    folder = tmp_path / "mine"
    write_table(folder, write_photos(folder, 80), ("gone.png", "A lost bar."))
    return folder


def train(run, data, out):
    options = [word for setting in SETTINGS for word in ("--set", setting)]
    return run("train", "bow", "--data", data, "--out", out, *options)


def test_a_folder_with_captions_is_trained_on_and_searched(run, folder, tmp_path, monkeypatch):
    (folder / "001.png").write_bytes(b"no photo, but captions")
    out = tmp_path / "run"
    monkeypatch.chdir(tmp_path)
    code, printed, errors = train(run, "mine", out)  # a relative path
    assert code == 0, errors
    assert "| dev |" in printed
    assert "| test |" in printed
    assert f"line 162: there is no photo gone.png in {folder}" in errors
    assert "Photos left out: 1, such as: 001.png is not a readable photo" in errors
    assert json.loads((out / "config.json").read_text())["dataset"] == str(folder)
    monkeypatch.chdir("/")
    code, found, errors = run("search", out, "a red bar", "--split", "all", "-k", 3, "--json")
    assert code == 0, errors
    assert len(json.loads(found)["hits"]) == 3


def test_an_index_is_trained_on_by_its_name(run, folder, tmp_path, toy_checkpoint):
    assert run("index", folder, "--name", "mine", "--model", toy_checkpoint)[0] == 0
    code, _, errors = train(run, "mine", tmp_path / "run")
    assert code == 0, errors
    assert json.loads((tmp_path / "run" / "config.json").read_text())["dataset"] == "mine"


def test_a_check_lists_what_is_left_out(run, folder):
    code, printed, _ = run("data", "check", folder)
    assert code == 1
    assert "80 photos, 80 of them with captions, 160 captions" in printed
    assert "! captions.csv, line 162: there is no photo gone.png" in printed
    assert printed.endswith(f"{folder}: 1 problem\n")


@pytest.mark.parametrize(
    ("captions", "reason"),
    [
        (None, "has no captions to learn from"),
        ({"001.png": "A bar."}, "has too few photos with captions"),
        ({"../001.png": "A bar."}, "leads out of the folder"),
    ],
)
def test_a_training_that_cannot_work_does_not_start(run, folder, tmp_path, captions, reason):
    (folder / "captions.csv").unlink()
    if captions:
        write_table(folder, captions)
    code, _, errors = train(run, folder, tmp_path / "run")
    assert code == 2
    assert reason in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "run").exists()
