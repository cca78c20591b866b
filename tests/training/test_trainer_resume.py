"""A run that was killed, stopped or crashed resumes exactly."""

import itertools
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
import torch
from safetensors.torch import load_file

from tests.support.small_runs import EPOCH, SETTINGS, logged, stopped_at, trainer
from vsdemo.core import events
from vsdemo.core.errors import UserError
from vsdemo.training.state import STATE
from vsdemo.training.trainer import Trainer


def assert_same_run(a, b) -> None:
    """Check that weights, optimizer, generator, checkpoint and metrics are equal bit by bit."""
    last, other = load_file(a / STATE), load_file(b / STATE)
    assert last.keys() == other.keys()
    assert any(k.startswith("adam.") for k in last)
    assert [k for k, t in last.items() if not torch.equal(t, other[k])] == []
    for name in ("model.safetensors", "config.json", "vocab.json"):
        assert (a / name).read_bytes() == (b / name).read_bytes()
    for kind in ("step", "eval", "checkpoint", "done"):
        assert logged(a, kind) == logged(b, kind)


@pytest.fixture(scope="module")
def uninterrupted(own_folders, tmp_path_factory):
    """Train 30 epochs, enough to be killed before the end."""
    out = tmp_path_factory.mktemp("run") / "whole"
    assert trainer(out, "epochs=30", "patience=30").run() == "done"
    return out


@pytest.fixture(scope="module")
def three_epochs(own_folders, tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "three"
    assert trainer(out, "epochs=3").run() == "done"
    return out


def start(out) -> subprocess.Popen:
    """Start the same run as `uninterrupted` in a process, and wait for two evaluations."""
    settings = [f"--set={s}" for s in (*SETTINGS, "epochs=30", "patience=30")]
    command = [sys.executable, "-m", "vsdemo", "train", "gru", "--data=toy", f"--out={out}"]
    process = subprocess.Popen(
        command + settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    while process.poll() is None and len(logged(out, "eval")) < 2:
        time.sleep(0.005)
    assert process.poll() is None, process.communicate()
    return process


@pytest.mark.long
def test_a_killed_run_resumes_exactly(tmp_path, uninterrupted):
    process = start(tmp_path / "run")
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert logged(tmp_path / "run", "done") == []
    assert trainer(tmp_path / "run", "epochs=30", "patience=30").run() == "done"
    assert_same_run(tmp_path / "run", uninterrupted)


@pytest.mark.long  # the quick test is test_a_run_stopped_at_any_step_resumes_exactly
def test_a_stopped_run_resumes_exactly(tmp_path, uninterrupted):
    process = start(tmp_path / "run")
    process.terminate()
    printed, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "run the same command to resume" in printed
    assert "Traceback" not in errors
    *_, last = events.read(tmp_path / "run" / "events.jsonl")
    assert last["kind"] == "stopped"
    assert 2 * EPOCH <= last["step"] < 30 * EPOCH
    assert trainer(tmp_path / "run", "epochs=30", "patience=30").run() == "done"
    assert_same_run(tmp_path / "run", uninterrupted)


@pytest.mark.parametrize("step", [1, EPOCH - 1, EPOCH, EPOCH + 1, 2 * EPOCH, 3 * EPOCH])
def test_a_run_stopped_at_any_step_resumes_exactly(tmp_path, three_epochs, step):
    handler = signal.getsignal(signal.SIGTERM)
    with stopped_at(step):
        assert trainer(tmp_path, "epochs=3").run() == "stopped"
    assert signal.getsignal(signal.SIGTERM) == handler
    assert logged(tmp_path, "stopped") == [{"kind": "stopped", "step": step}]
    torch.manual_seed(99)  # other work in between has no effect
    assert trainer(tmp_path, "epochs=3").run() == "done"
    assert_same_run(tmp_path, three_epochs)


def test_a_taught_run_resumes_exactly(tmp_path, toy_checkpoint):
    settings = ("epochs=2", f"teacher={toy_checkpoint}")
    assert trainer(tmp_path / "whole", *settings).run() == "done"
    with stopped_at(EPOCH + 1):
        assert trainer(tmp_path / "stopped", *settings).run() == "stopped"
    assert trainer(tmp_path / "stopped", *settings).run() == "done"
    assert_same_run(tmp_path / "stopped", tmp_path / "whole")


@pytest.mark.long
@pytest.mark.parametrize("saves", [1, 2, 3])
def test_a_run_killed_before_a_save_resumes_exactly(tmp_path, three_epochs, saves, monkeypatch):
    """Also if it is killed between the first checkpoint and its state."""
    number, save = itertools.count(), Trainer._save

    def die(self):
        if next(number) == saves:
            raise KeyboardInterrupt
        save(self)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_save", die)
        with pytest.raises(KeyboardInterrupt):
            trainer(tmp_path, "epochs=3").run()
    assert trainer(tmp_path, "epochs=3").run() == "done"
    assert_same_run(tmp_path, three_epochs)


def test_a_finished_run_is_not_changed(tmp_path, three_epochs, monkeypatch):
    copy = shutil.copytree(three_epochs, tmp_path / "copy")
    before = {f.name: f.read_bytes() for f in copy.iterdir()}
    monkeypatch.setattr(Trainer, "_train_step", None)
    assert trainer(copy, "epochs=3").run() == "done"
    assert {f.name: f.read_bytes() for f in copy.iterdir()} == before


@pytest.mark.parametrize("change", ["dim=8", "seed=1", "epochs=4"])
def test_another_configuration_in_the_same_folder_is_refused(three_epochs, change):
    with pytest.raises(UserError, match="another configuration; choose another --out"):
        trainer(three_epochs, "epochs=3", change).run()


def test_a_checkpoint_without_its_run_is_not_overwritten(tmp_path, three_epochs):
    copy = shutil.copytree(three_epochs, tmp_path / "copy")
    (copy / STATE).unlink()
    with pytest.raises(UserError, match="already holds a checkpoint"):
        trainer(copy, "epochs=3").run()


@pytest.mark.parametrize("content", [b"", b"<html>" * 50, None])
def test_a_damaged_state_is_a_user_error(tmp_path, three_epochs, content):
    copy = shutil.copytree(three_epochs, tmp_path / "copy")
    state = (copy / STATE).read_bytes()
    (copy / STATE).write_bytes(state[: len(state) // 2] if content is None else content)
    with pytest.raises(UserError, match=r"last\.safetensors is damaged .* delete") as error:
        trainer(copy, "epochs=3").run()
    assert "\n" not in str(error.value)
