"""What interrupts a run: another process in its folder, a time limit, errors."""

import errno
import itertools
import os
import shutil
import signal
import subprocess
import time
from types import SimpleNamespace

import pytest
import torch
from safetensors import safe_open

from tests.support.fake_trainer import PYTHON
from tests.support.small_runs import SETTINGS, logged, trainer
from vsdemo.core.errors import UserError
from vsdemo.core.events import EventLog, read
from vsdemo.evaluation import cards
from vsdemo.models import checkpoint
from vsdemo.training import materials
from vsdemo.training import state as resume

OTHER = """
import sys
from contextlib import ExitStack
from pathlib import Path
from vsdemo.evaluation import cards
from vsdemo.models import checkpoint
from vsdemo.training import materials
from vsdemo.training import state as resume
for line in sys.stdin:
    with ExitStack() as stack:
        try:
            stack.enter_context(resume.exclusive_run(Path(line.strip())))
            print("held", flush=True)
        except ValueError as error:
            print(error, flush=True)
        sys.stdin.readline()
    print("free", flush=True)
"""


@pytest.fixture
def other(own_home):
    """Start a process that reads a folder and holds its lock until it gets the next line."""
    with subprocess.Popen(
        [PYTHON, "-c", OTHER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        yield process
        process.kill()


def answer(other, line: object) -> str:
    """Send a line to the other process and return its answer."""
    other.stdin.write(f"{line}\n")
    return other.stdout.readline().strip()


def test_only_one_process_trains_in_a_folder(other, tmp_path):
    (out := tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to(out)
    with resume.exclusive_run(out):
        with resume.exclusive_run(out):  # entered again by the same process
            pass
        assert answer(other, out).startswith(f"Another process trains in {out};")
        answer(other, "")
    with pytest.raises(ZeroDivisionError), resume.exclusive_run(out):
        raise ZeroDivisionError
    assert answer(other, out) == "held"
    for same in (out, tmp_path / "x" / ".." / "run", tmp_path / "link"):
        with pytest.raises(UserError, match=r"Another process trains in .*choose another --out"):
            resume.exclusive_run(same).__enter__()
    with pytest.raises(UserError, match="Another process trains"):
        trainer(out, "epochs=1").run()
    assert logged(out, "start") == []
    with resume.exclusive_run(tmp_path / "other"):
        pass
    assert answer(other, "") == "free"
    with resume.exclusive_run(out):
        pass
    assert answer(other, out) == "held"
    other.kill()
    other.wait()
    with resume.exclusive_run(out):  # the lock of a killed process is released
        pass
    assert list(out.iterdir()) == []


@pytest.fixture
def signals():
    """Record SIGTERMs without another handler, which would end the tests."""
    numbers = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: numbers.append(number))
    yield numbers
    signal.signal(signal.SIGTERM, before)


def test_a_time_limit_stops_the_training(tmp_path, signals):
    run, started = trainer(tmp_path, "epochs=5000", "patience=5000"), time.monotonic()
    with resume.time_limit(0.03):
        assert run.run() == "stopped"
    assert time.monotonic() - started >= 1.8
    first, *_, last = read(tmp_path / "events.jsonl")
    assert last["kind"] == "stopped"
    assert last["time"] - first["time"] < 30
    assert signals == []


@pytest.mark.parametrize("minutes", [None, 0, 0.002])
def test_no_signal_is_sent_after_the_block(signals, minutes):
    with resume.time_limit(minutes):
        pass
    time.sleep(0.2)
    assert signals == []


def test_a_time_limit_does_not_stop_the_final_evaluation(run, tmp_path, monkeypatch, signals):
    """The training ends at once; the evaluation takes longer than the limit."""
    done = SimpleNamespace(run=lambda: "done")
    monkeypatch.setattr(cards, "finish", lambda out: time.sleep(0.8))
    monkeypatch.setattr(cards, "table", lambda spec, metrics: "measured")
    monkeypatch.setattr(checkpoint, "read_spec", lambda out: None)
    monkeypatch.setattr("vsdemo.training.trainer.Trainer", lambda out, material: done)
    monkeypatch.setattr("vsdemo.training.preflight.require_memory", lambda *_: None)
    material = SimpleNamespace(uses_photos=False, unreadable={}, join_ranks=lambda: None)
    monkeypatch.setattr(materials, "create", lambda *args, **options: material)
    result = run("train", "gru", "--set=backbone=pocket", "--out", tmp_path, "--minutes", "0.01")
    assert (result, signals) == ((0, "measured\n", ""), [])


def test_the_option_minutes_stops_and_saves(run, tmp_path, signals):
    settings = [f"--set={s}" for s in (*SETTINGS, "epochs=5000", "patience=5000")]
    words = ["train", "gru", "--data=toy", "--out", tmp_path, *settings]
    code, printed, _ = run(*words, "--minutes=0.1")
    assert code == 0
    assert printed == f"Training stopped and saved in {tmp_path}; run the same command to resume.\n"
    assert [e["kind"] for e in read(tmp_path / "events.jsonl")][-1] == "stopped"
    assert signals == []
    assert run(*words, "--minutes=0")[0] == 2


def report(error: Exception, log: EventLog) -> None:
    with resume.report_errors(log, lambda: 7):
        raise error


@pytest.mark.parametrize("number", resume.DISK_FULL)
def test_a_full_disk_is_reported(tmp_path, number):
    log = EventLog(tmp_path / "events.jsonl")
    with pytest.raises(UserError, match=r"^The disk is full, .* at step 7; free some space, .*\.$"):
        report(OSError(number, os.strerror(number)), log)
    (event,) = logged(tmp_path, "error")
    assert event == {"kind": "error", "step": 7, "message": "The disk is full."}


def test_a_loss_of_nan_is_reported(tmp_path):
    log = EventLog(tmp_path / "events.jsonl")
    with pytest.raises(UserError, match=r"failed at step 7: loss is nan; try a lower learning_"):
        report(FloatingPointError("loss is nan"), log)
    assert logged(tmp_path, "error")[0]["message"] == "loss is nan"


@pytest.mark.parametrize(
    "error", [ValueError("odd"), OSError(errno.EACCES, "denied"), MemoryError()]
)
def test_other_errors_are_reported_and_raised(tmp_path, error):
    log = EventLog(tmp_path / "events.jsonl")
    with pytest.raises(type(error)) as caught:
        report(error, log)
    assert caught.value is error
    assert logged(tmp_path, "error")[0]["message"] == f"{type(error).__name__}: {error}"


def test_user_errors_are_not_reported(tmp_path):
    log = EventLog(tmp_path / "events.jsonl")
    with pytest.raises(UserError, match="another configuration"):
        report(UserError("another configuration"), log)
    assert logged(tmp_path, "error") == []


def test_a_full_disk_is_an_error_even_if_the_event_cannot_be_written(tmp_path, monkeypatch):
    def full(self, kind, step, **values):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(EventLog, "write", full)
    with pytest.raises(UserError, match="The disk is full"):
        report(OSError(errno.ENOSPC, "No space left on device"), EventLog(tmp_path / "e.jsonl"))


def test_a_run_resumes_after_the_disk_was_full(tmp_path, monkeypatch):
    """The last saved state is complete, and the same command resumes to the same files."""
    whole, save, number = tmp_path / "whole", resume.save, itertools.count()
    assert trainer(whole, "epochs=3").run() == "done"

    def full(*args):
        if next(number) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(*args)

    with monkeypatch.context() as patch:
        patch.setattr(resume, "save", full)
        with pytest.raises(UserError, match="The disk is full"):
            trainer(tmp_path / "run", "epochs=3").run()
    assert resume.read(tmp_path / "run")[0]["step"] == 15
    assert trainer(tmp_path / "run", "epochs=3").run() == "done"
    for name in ("model.safetensors", "vocab.json"):
        assert (tmp_path / "run" / name).read_bytes() == (whole / name).read_bytes()
    assert logged(tmp_path / "run", "step") == logged(whole, "step")
    assert logged(tmp_path / "run", "error") == []  # rewound, as it is later than the last save


@pytest.mark.parametrize("fused", [False, True])
def test_weights_of_any_layout_resume_exactly(tmp_path, fused):
    def build():
        torch.manual_seed(0)
        net = torch.nn.Conv2d(4, 5, 3).to(memory_format=torch.channels_last)
        return net, torch.optim.AdamW(net.parameters(), lr=0.1, fused=fused)

    def step(net, optimizer):
        optimizer.zero_grad()
        net(torch.randn(2, 4, 6, 6)).square().sum().backward()
        optimizer.step()

    net, optimizer = build()
    step(net, optimizer)
    resume.save(tmp_path, {"model": net}, optimizer, {"spec": {}})
    again, its_optimizer = build()
    with safe_open(tmp_path / resume.STATE, "pt") as file:
        saved = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    resume.restore(saved, {"model": again}, its_optimizer)
    step(again, its_optimizer)
    torch.set_rng_state(saved["rng"])
    step(net, optimizer)
    assert torch.equal(again.weight, net.weight)


def test_find_returns_nothing_before_the_first_save(tmp_path):
    run = trainer(tmp_path, "epochs=1")
    assert resume.find(tmp_path, run.material.matches) is None
    run.run()
    progress, state = resume.find(tmp_path, run.material.matches)
    assert progress["step"] == 15
    assert "model.image.linear.weight" in state


def test_a_removed_folder_is_reported_to_the_user(tmp_path):
    log = EventLog(tmp_path / "run" / "events.jsonl")
    log.write("start", 0)
    shutil.rmtree(log.path.parent)
    message = "run was removed, so training ended at step 7"
    with pytest.raises(UserError, match=message), resume.report_errors(log, lambda: 7):
        log.write("step", 7)


def test_another_missing_file_is_an_error_of_the_program(tmp_path):
    log = EventLog(tmp_path / "run" / "events.jsonl")
    log.write("start", 0)
    with pytest.raises(FileNotFoundError), resume.report_errors(log, lambda: 7):
        (tmp_path / "absent").read_text()
    *_, last = read(log.path)
    assert last["kind"] == "error"
    assert last["message"].startswith("FileNotFoundError")
