"""Training runs as processes: the real trainer on the data set `toy`.

Stops and kills of a fake trainer are in test_jobs_killed.py.
"""

import itertools
import os
import random
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.support import fake_trainer
from tests.support.fake_trainer import final_state, is_running, wait_for
from tests.support.small_runs import logged
from vsdemo.core.errors import UserError
from vsdemo.models.checkpoint import read_spec
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.state import STATE, read

SETTINGS = (
    "backbone=torchvision/mobilenet_v3_small",
    "crops=center",
    "dim=16",
    "word_dim=8",
    "min_count=1",
    "batch_size=8",
    "epochs=8",
    "patience=8",
    "dropout=0.3",
)  # 15 steps an epoch
SPEC = JobSpec("bow", "toy", SETTINGS, ("a red circle",))
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
    """Return a VSDEMO_HOME for this file, so that features are computed once."""
    return tmp_path_factory.mktemp("runs") / "home"


@pytest.fixture(scope="module")
def trained(home):
    """Run a training, and return the run, its states in order and (command line, session)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_HOME", str(home))
        run = jobs.start(SPEC)
        states, process = [run.state], psutil.Process(fake_trainer.pid_of(run))
        command = wait_for(process.cmdline), os.getsid(process.pid)
        while run.alive:
            states.append(run.state)
            time.sleep(0.01)
        wait_for((run.folder / "exit").exists)
        return run, [state for state, _ in itertools.groupby([*states, run.state])], command


@pytest.fixture
def quick(home, trained, tmp_path, monkeypatch):
    """Let trainers in the same home start faster; at the end, kill the run that is alive."""
    monkeypatch.setenv("VSDEMO_HOME", str(home))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", fake_trainer.program(tmp_path / "programs", "quick"))
        yield
    if run := jobs.current():
        fake_trainer.kill(run)


def wait_for_evaluations(run, times: int = 1) -> None:
    """Wait until the run has been evaluated this many times."""
    wait_for(lambda: not run.alive or len(logged(run.folder, "eval")) >= times)
    assert run.alive, (run.state, run.problem)


def assert_same_end(run, trained) -> None:
    """Check that files and events equal those of the uninterrupted run, bit by bit."""
    other = trained[0].folder
    for name in ("model.safetensors", "config.json", "vocab.json", "metrics.json"):
        assert (run.folder / name).read_bytes() == (other / name).read_bytes()
    for kind in ("step", "eval", "checkpoint", "done"):
        assert logged(run.folder, kind) == logged(other, kind)


def test_a_run_passes_all_states_until_it_is_done(home, trained, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(home))
    run, states, (cmdline, session) = trained
    assert states == ["preparing", "training", "measuring", "done"]
    assert run.folder == home / "runs" / "bow-1"
    files = ("run.json", "log.txt", "events.jsonl", "metrics.json", "model.safetensors")
    assert [name for name in files if not (run.folder / name).is_file()] == []
    pid = int((run.folder / "pid").read_text())
    assert (run.folder / "exit").read_text() == "0\n"
    assert not is_running(pid)
    assert jobs.current() is None
    assert jobs.get_run("bow-1") == run
    assert cmdline[1:] == ["-m", "vsdemo", *SPEC.arguments(run.folder)]
    assert session == pid != os.getsid(0)
    assert [e["kind"] for e in run.events][:2] == ["start", "step"]
    assert run.events[-1]["kind"] == "done"
    assert "rsum" in (run.folder / "log.txt").read_text()


@pytest.mark.long
def test_a_run_can_be_stopped_and_resumed_in_every_state(quick, trained, run):
    live = jobs.start(SPEC)
    time.sleep(0.2)
    jobs.stop(live.name)
    assert live.state in ("stopping", "stopped")
    assert final_state(live) == "stopped"
    assert logged(live.folder, "start") == []
    jobs.resume(live.name)
    assert live.state == "preparing"
    wait_for_evaluations(live)
    assert live.state == "training"
    jobs.stop(live.name)
    assert live.state in ("stopping", "stopped")
    assert final_state(live) == "stopped"
    assert (live.folder / "exit").read_text() == "0\n"
    assert [e["kind"] for e in live.events][-1] == "stopped"
    assert 15 <= live.events[-1]["step"] < 120
    jobs.resume(live.name)
    assert live.state == "preparing"  # although its events are those of the earlier training
    wait_for(lambda: live.state != "preparing")
    assert_no_other_run_can_start(live, run)
    assert final_state(live) == "done"
    assert_same_end(live, trained)


def assert_no_other_run_can_start(live, run) -> None:
    """Check that neither another run nor the command line in the same folder can train."""
    with pytest.raises(UserError, match=f"{live.name} is being trained"):
        jobs.start(SPEC)
    with pytest.raises(UserError, match=f"{live.name} is being trained"):
        jobs.resume("bow-1")
    code, printed, errors = run("train", "bow", "--data=toy", "--out", live.folder)
    assert (code, printed) == (2, "")
    assert f"Another process trains in {live.folder}; stop it first" in errors
    assert errors.count("\n") == 1


@pytest.mark.long  # the quick tests are test_jobs_killed.py and test_trainer_resume.py
def test_a_run_survives_the_end_of_the_app_and_of_its_trainer(quick, trained):
    """The trainer outlives the app, is found and killed, and the run resumes exactly."""
    words = [sys.executable, SPEC.watched[0], *SETTINGS]
    command, pipe = [fake_trainer.PYTHON, "-c", APP, *words], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as app:
        name = app.stdout.readline().strip()
        app.send_signal(signal.SIGKILL)
    live = jobs.current()
    assert live is not None
    assert (live.name, live.spec) == (name, SPEC)
    assert live.state == "preparing"
    wait_for_evaluations(live)
    assert live.state == "training"
    fake_trainer.kill(live)
    assert jobs.current() is None
    assert not (live.folder / "exit").exists()  # no process was left to write it
    assert live.state == "killed"
    assert read(live.folder)[0]["step"] >= 0
    jobs.resume(name)
    assert live.state == "preparing"
    steps = len(logged(live.folder, "eval"))
    wait_for_evaluations(live, steps + 1)
    fake_trainer.kill(live)
    assert final_state(live) == "killed"
    assert (live.folder / "exit").read_text() == "-9\n"
    jobs.resume(name)
    assert final_state(live) == "done"
    assert_same_end(live, trained)


@pytest.mark.long  # the quick test is test_a_run_resumes_after_the_disk_was_full
def test_a_run_resumes_after_a_full_disk(quick, trained, tmp_path, monkeypatch):
    """The last saved state is complete, and the run resumes from it."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", fake_trainer.program(tmp_path / "programs", "full"))
        live = jobs.start(SPEC)
        assert final_state(live) == "failed"
    assert (live.folder / "exit").read_text() == "2\n"
    assert live.events[-1]["kind"] == "error"
    assert live.events[-1]["message"] == "The disk is full."
    assert live.problem.startswith("The disk is full, so training stopped at step 15;")
    assert read(live.folder)[0]["step"] == 0
    assert read_spec(live.folder).preset == "bow"
    assert [path for path in live.folder.iterdir() if path.suffix == ".tmp"] == []
    jobs.resume(live.name)
    assert final_state(live) == "done"
    assert_same_end(live, trained)
    assert (live.folder / STATE).stat().st_size > 150_000


@pytest.mark.long
def test_a_run_that_is_killed_at_random_moments_ends_as_an_undisturbed_one(quick, trained):
    """12 times `kill -9`: while it imports, saves, evaluates or writes its checkpoint."""
    moments, kills = random.Random(24), 0
    started = time.monotonic()
    run = jobs.start(SPEC)
    assert final_state(run) == "done"
    whole = time.monotonic() - started
    assert_same_end(run, trained)
    while kills < 12:
        run = jobs.start(SPEC)
        for _ in range(6):
            time.sleep(moments.uniform(0, whole))
            if not run.alive:
                break
            fake_trainer.kill(run)
            kills += 1
            assert jobs.current() is None
            if final_state(run) == "done":  # it was killed after it had written its metrics
                break
            assert run.state == "killed"
            jobs.resume(run.name)
            assert run.state in ("preparing", "training")
        assert final_state(run) == "done"
        assert_same_end(run, trained)
