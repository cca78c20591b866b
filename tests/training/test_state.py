"""What interrupts a run: another process in its folder, a time limit, errors."""

import errno
import itertools
import os
import signal
import subprocess
import time
from types import SimpleNamespace

import pytest

from tests.support.small_runs import SETTINGS, logged, trainer
from tests.support.stand_ins import PYTHON
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
    with ExitStack() as held:
        try:
            held.enter_context(resume.exclusive_run(Path(line.strip())))
            print("held", flush=True)
        except ValueError as error:
            print(error, flush=True)
        sys.stdin.readline()
    print("free", flush=True)
"""


@pytest.fixture
def other(own_home):
    """Another process, which trains in the folder of a line, as far as others can tell, until it is
    given one more."""
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    with subprocess.Popen([PYTHON, "-c", OTHER], text=True, bufsize=1, **pipes) as process:
        yield process
        process.kill()


def told(other, line: object) -> str:
    """What the other process answers to a line."""
    other.stdin.write(f"{line}\n")
    return other.stdout.readline().strip()


def test_alone_in_a_folder(other, tmp_path):
    (out := tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to(out)
    with resume.exclusive_run(out):
        with resume.exclusive_run(out):  # entered again by the same process
            pass
        assert told(other, out).startswith(f"Another process trains in {out};")
        told(other, "")
    with pytest.raises(ZeroDivisionError), resume.exclusive_run(out):
        raise ZeroDivisionError
    assert told(other, out) == "held"
    for same in (out, tmp_path / "x" / ".." / "run", tmp_path / "link"):
        with pytest.raises(UserError, match=r"Another process trains in .*choose another --out"):
            resume.exclusive_run(same).__enter__()
    with pytest.raises(UserError, match="Another process trains"):
        trainer(out, "epochs=1").run()
    assert logged(out, "start") == []
    with resume.exclusive_run(tmp_path / "other"):
        pass
    assert told(other, "") == "free"
    with resume.exclusive_run(out):
        pass
    assert told(other, out) == "held"
    other.kill()
    other.wait()
    with resume.exclusive_run(out):  # the lock of one that was killed is free
        pass
    assert list(out.iterdir()) == []


@pytest.fixture
def heard():
    """The SIGTERMs that nobody else takes, which would end the tests."""
    numbers = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: numbers.append(number))
    yield numbers
    signal.signal(signal.SIGTERM, before)


def test_at_most_so_many_minutes(tmp_path, heard):
    made, begun = trainer(tmp_path, "epochs=5000", "patience=5000"), time.monotonic()
    with resume.time_limit(0.03):
        assert made.run() == "stopped"
    assert time.monotonic() - begun >= 1.8
    first, *_, last = read(tmp_path / "events.jsonl")
    assert last["kind"] == "stopped"
    assert last["time"] - first["time"] < 30
    assert heard == []


@pytest.mark.parametrize("minutes", [None, 0, 0.002])
def test_nothing_is_sent_once_the_block_is_over(heard, minutes):
    with resume.time_limit(minutes):
        pass
    time.sleep(0.2)
    assert heard == []


def test_minutes_end_a_training_and_not_what_is_measured_after_it(
    run, tmp_path, monkeypatch, heard
):
    """The training is over at once; what comes after it outlasts the minutes."""
    done = SimpleNamespace(run=lambda: "done")
    monkeypatch.setattr(cards, "finish", lambda out: time.sleep(0.8))
    monkeypatch.setattr(cards, "table", lambda spec, metrics: "measured")
    monkeypatch.setattr(checkpoint, "read_spec", lambda out: None)
    monkeypatch.setattr("vsdemo.training.trainer.Trainer", lambda out, material: done)
    material = SimpleNamespace(uses_photos=False)
    monkeypatch.setattr(materials, "create", lambda *args, **options: material)
    told = run("train", "gru", "--out", tmp_path, "--minutes", "0.01")
    assert (told, heard) == ((0, "measured\n", ""), [])


def test_minutes_by_the_command_line(run, tmp_path, heard):
    settings = [f"--set={s}" for s in (*SETTINGS, "epochs=5000", "patience=5000")]
    words = ["train", "gru", "--data=toy", "--out", tmp_path, *settings]
    code, printed, _ = run(*words, "--minutes=0.1")
    assert code == 0
    assert printed == f"Training stopped and saved in {tmp_path}; run the same command to resume.\n"
    assert [e["kind"] for e in read(tmp_path / "events.jsonl")][-1] == "stopped"
    assert heard == []
    assert run(*words, "--minutes=0")[0] == 2


def raising(error: Exception, log: EventLog) -> None:
    with resume.report_errors(log, lambda: 7):
        raise error


@pytest.mark.parametrize("number", resume.DISK_FULL)
def test_a_full_disk_is_told(tmp_path, number):
    log = EventLog(tmp_path / "events.jsonl")
    with pytest.raises(UserError, match=r"^The disk is full, .* at step 7; free some space, .*\.$"):
        raising(OSError(number, os.strerror(number)), log)
    (event,) = logged(tmp_path, "error")
    assert event == {"kind": "error", "step": 7, "message": "The disk is full."}


def test_a_loss_that_is_no_number_is_told(tmp_path):
    log = EventLog(tmp_path / "events.jsonl")
    with pytest.raises(UserError, match=r"failed at step 7: loss is nan; try a lower learning_"):
        raising(FloatingPointError("loss is nan"), log)
    assert logged(tmp_path, "error")[0]["message"] == "loss is nan"


@pytest.mark.parametrize(
    "error", [ValueError("odd"), OSError(errno.EACCES, "denied"), MemoryError()]
)
def test_whatever_else_breaks_it_off_is_told_and_raised(tmp_path, error):
    log = EventLog(tmp_path / "events.jsonl")
    with pytest.raises(type(error)) as caught:
        raising(error, log)
    assert caught.value is error
    assert logged(tmp_path, "error")[0]["message"] == f"{type(error).__name__}: {error}"


def test_what_is_no_breakdown_is_not_told(tmp_path):
    log = EventLog(tmp_path / "events.jsonl")
    with pytest.raises(UserError, match="another configuration"):
        raising(UserError("another configuration"), log)
    assert logged(tmp_path, "error") == []


def test_a_disk_that_takes_no_event_either(tmp_path, monkeypatch):
    def full(self, kind, step, **values):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(EventLog, "write", full)
    with pytest.raises(UserError, match="The disk is full"):
        raising(OSError(errno.ENOSPC, "No space left on device"), EventLog(tmp_path / "e.jsonl"))


def test_the_disk_gets_full_while_it_trains(tmp_path, monkeypatch):
    """What was saved last is whole; the same command goes on to the same end."""
    whole, save, number = tmp_path / "whole", resume.save, itertools.count()
    assert trainer(whole, "epochs=3").run() == "done"

    def full(*told):
        if next(number) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(*told)

    with monkeypatch.context() as patch:
        patch.setattr(resume, "save", full)
        with pytest.raises(UserError, match="The disk is full"):
            trainer(tmp_path / "run", "epochs=3").run()
    assert resume.read(tmp_path / "run")[0]["step"] == 15
    assert trainer(tmp_path / "run", "epochs=3").run() == "done"
    for name in ("model.safetensors", "vocab.json"):
        assert (tmp_path / "run" / name).read_bytes() == (whole / name).read_bytes()
    assert logged(tmp_path / "run", "step") == logged(whole, "step")
    assert logged(tmp_path / "run", "error") == []  # it lay after what was saved last


def test_nothing_is_known_of_an_empty_folder(tmp_path):
    made = trainer(tmp_path, "epochs=1")
    assert resume.find(tmp_path, made.material.matches) is None
    made.run()
    progress, state = resume.find(tmp_path, made.material.matches)
    assert progress["step"] == 15
    assert "model.image.linear.weight" in state
