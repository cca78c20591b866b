"""Training runs as processes: the trainer itself, over the data set `toy`. What it does to what
starts, stops and kills it is in test_runs_killed.py, with a stand-in for it."""

import itertools
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.support import stand_ins
from tests.support.small_runs import logged
from tests.support.stand_ins import ended, running, wait_for
from vsdemo.core.errors import UserError
from vsdemo.models.checkpoint import read_spec
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.state import STATE, read

SETTINGS = (
    *("backbone=torchvision/mobilenet_v3_small", "crops=center", "dim=16", "word_dim=8"),
    *("min_count=1", "batch_size=8", "epochs=8", "patience=8", "dropout=0.3"),
)  # 15 steps an epoch
PLAN = JobSpec("bow", "toy", SETTINGS, ("a red circle",))
APP = """
import sys
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec
sys.executable = sys.argv[1]
print(jobs.start(JobSpec("bow", "toy", tuple(sys.argv[3:]), (sys.argv[2],))).name, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def home(own_folders, tmp_path_factory):
    """A VSDEMO_HOME for all of this file, so that photos are looked at once."""
    return tmp_path_factory.mktemp("runs") / "home"


@pytest.fixture(scope="module")
def trained(home):
    """(a run from start to end, the states seen in this order, the process that trained it)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_HOME", str(home))
        run = jobs.start(PLAN)
        states, process = [run.state], psutil.Process(stand_ins.pid_of(run))
        told = wait_for(process.cmdline), os.getsid(process.pid)
        while run.alive:
            states.append(run.state)
            time.sleep(0.01)
        wait_for((run.folder / "exit").exists)
        return run, [state for state, _ in itertools.groupby([*states, run.state])], told


@pytest.fixture
def quick(home, trained, tmp_path, monkeypatch):
    """The same home; trainers begin sooner. What is alive in the end is killed."""
    monkeypatch.setenv("VSDEMO_HOME", str(home))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", stand_ins.program(tmp_path / "programs", "quick"))
        yield
    if left := jobs.current():
        stand_ins.end(left)


def evaluated(run, times: int = 1) -> None:
    """Waits until it has been evaluated so often."""
    wait_for(lambda: not run.alive or len(logged(run.folder, "eval")) >= times)
    assert run.alive, (run.state, run.problem)


def assert_same_end(run, trained) -> None:
    """Bit by bit what the run that was never interrupted came to."""
    other = trained[0].folder
    for name in ("model.safetensors", "config.json", "vocab.json", "metrics.json"):
        assert (run.folder / name).read_bytes() == (other / name).read_bytes()
    for kind in ("step", "eval", "checkpoint", "done"):
        assert logged(run.folder, kind) == logged(other, kind)


def test_a_run_from_start_to_done(home, trained, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(home))
    run, states, (cmdline, session) = trained
    assert states == ["preparing", "training", "measuring", "done"]
    assert run.folder == home / "runs" / "bow-1"
    files = ("run.json", "log.txt", "events.jsonl", "metrics.json", "model.safetensors")
    assert [name for name in files if not (run.folder / name).is_file()] == []
    pid = int((run.folder / "pid").read_text())
    assert (run.folder / "exit").read_text() == "0\n"
    assert not running(pid)
    assert jobs.current() is None
    assert jobs.get_run("bow-1") == run
    assert cmdline[1:] == ["-m", "vsdemo", *PLAN.arguments(run.folder)]
    assert session == pid != os.getsid(0)
    assert [e["kind"] for e in run.events][:2] == ["start", "step"]
    assert run.events[-1]["kind"] == "done"
    assert "rsum" in (run.folder / "log.txt").read_text()


def test_stopped_while_it_got_ready_and_while_it_trained(quick, trained, run):
    begun = jobs.start(PLAN)
    time.sleep(0.2)
    jobs.stop(begun.name)
    assert begun.state in ("stopping", "stopped")
    assert ended(begun) == "stopped"
    assert logged(begun.folder, "start") == []
    jobs.resume(begun.name)
    assert begun.state == "preparing"
    evaluated(begun)
    assert begun.state == "training"
    jobs.stop(begun.name)
    assert begun.state in ("stopping", "stopped")
    assert ended(begun) == "stopped"
    assert (begun.folder / "exit").read_text() == "0\n"
    assert [e["kind"] for e in begun.events][-1] == "stopped"
    assert 15 <= begun.events[-1]["step"] < 120
    jobs.resume(begun.name)
    assert begun.state == "preparing"  # though its events tell of the training before
    wait_for(lambda: begun.state != "preparing")
    assert_nobody_else_trains(begun, run)
    assert ended(begun) == "done"
    assert_same_end(begun, trained)


def assert_nobody_else_trains(live, run) -> None:
    """Neither another run, nor the same folder from the command line."""
    with pytest.raises(UserError, match=f"{live.name} is being trained"):
        jobs.start(PLAN)
    with pytest.raises(UserError, match=f"{live.name} is being trained"):
        jobs.resume("bow-1")
    code, printed, told = run("train", "bow", "--data=toy", "--out", live.folder)
    assert (code, printed) == (2, "")
    assert f"Another process trains in {live.folder}; stop it first" in told
    assert told.count("\n") == 1


@pytest.mark.long  # quick: test_jobs_killed.py, test_trainer_resume.py
def test_app_and_trainer_are_killed(quick, trained):
    """The trainer outlives who started it, is found, followed and killed, and goes on."""
    words = [sys.executable, PLAN.watched[0], *SETTINGS]
    command, pipe = [stand_ins.PYTHON, "-c", APP, *words], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as app:
        name = app.stdout.readline().strip()
        app.send_signal(signal.SIGKILL)
    begun = jobs.current()
    assert begun is not None
    assert (begun.name, begun.spec) == (name, PLAN)
    assert begun.state == "preparing"
    evaluated(begun)
    assert begun.state == "training"
    stand_ins.end(begun)
    assert jobs.current() is None
    assert not (begun.folder / "exit").exists()  # nobody lived to see it
    assert begun.state == "killed"
    assert read(begun.folder)[0]["step"] >= 0
    jobs.resume(name)
    assert begun.state == "preparing"
    steps = len(logged(begun.folder, "eval"))
    evaluated(begun, steps + 1)
    stand_ins.end(begun)
    assert ended(begun) == "killed"
    assert (begun.folder / "exit").read_text() == "-9\n"
    jobs.resume(name)
    assert ended(begun) == "done"
    assert_same_end(begun, trained)


@pytest.mark.long  # quick: test_the_disk_gets_full_while_it_trains
def test_a_full_disk(quick, trained, tmp_path, monkeypatch):
    """What was saved last is whole, and goes on once there is room."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", stand_ins.program(tmp_path / "programs", "full"))
        begun = jobs.start(PLAN)
        assert ended(begun) == "failed"
    assert (begun.folder / "exit").read_text() == "2\n"
    assert begun.events[-1]["kind"] == "error"
    assert begun.events[-1]["message"] == "The disk is full."
    assert begun.problem.startswith("The disk is full, so training stopped at step 15;")
    assert read(begun.folder)[0]["step"] == 0
    assert read_spec(begun.folder).preset == "bow"
    assert [path for path in begun.folder.iterdir() if path.suffix == ".tmp"] == []
    jobs.resume(begun.name)
    assert ended(begun) == "done"
    assert_same_end(begun, trained)
    assert (begun.folder / STATE).stat().st_size > 150_000
