"""Runs that end, are stopped or are killed, with a fake trainer that starts at once."""

import shutil
import signal
import subprocess
import time

import psutil
import pytest

from tests.support import fake_trainer
from tests.support.fake_trainer import final_state, is_running, pid_of, start_run, wait_for
from vsdemo.core.errors import UserError
from vsdemo.training.jobs import jobs, processes
from vsdemo.training.jobs.spec import JobSpec


@pytest.mark.parametrize(
    ("preset", "state", "code"), [("done", "done", "0\n"), ("fail", "failed", "2\n")]
)
def test_the_state_of_a_run_that_ends_by_itself(fake_training, preset, state, code):
    run = jobs.start(JobSpec(preset))
    assert final_state(run) == state
    assert (run.folder / "exit").read_text() == code
    assert jobs.current() is None
    if state == "failed":
        assert run.problem == "It broke; mend it."


def test_stop_lets_the_trainer_save_and_exit(fake_training):
    run = start_run()
    assert run.state == "training"
    jobs.stop("another-1")
    assert run.state == "training"
    jobs.stop(run.name)
    assert final_state(run) == "stopped"
    assert (run.folder / "exit").read_text() == "0\n"
    jobs.stop(run.name)
    assert run.state == "stopped"
    jobs.resume(run.name)
    assert run.state in ("preparing", "training")
    assert not (run.folder / "exit").exists()


def test_end_leaves_the_exit_code_to_the_parent():
    """An exit code can be read once, so `processes.end` must not read it."""
    with subprocess.Popen([fake_trainer.PYTHON, "-ISc", "import time; time.sleep(60)"]) as child:
        processes.end(lambda: child.pid if is_running(child.pid) else None, 5)
        wait_for(lambda: not is_running(child.pid))
        time.sleep(0.3)
        assert child.wait() == -signal.SIGTERM


@pytest.mark.parametrize("seconds", [5.5, 3600, -5.5, -3600])
def test_a_run_stays_alive_when_the_clock_steps(fake_training, monkeypatch, seconds):
    """Also the times at which processes were born shift with the clock."""
    run = start_run()
    now, born = time.time, psutil.Process.create_time
    monkeypatch.setattr(time, "time", lambda: now() + seconds)
    monkeypatch.setattr(psutil.Process, "create_time", lambda self: born(self) + seconds)
    assert (run.alive, run.state) == (True, "training")
    assert jobs.current() == run
    jobs.stop(run.name)
    assert final_state(run) == "stopped"
    jobs.resume(run.name)
    wait_for(lambda: run.state == "training", 10)
    fake_trainer.kill(run)
    assert final_state(run) == "killed"


def test_a_live_run_is_known_in_a_moved_folder_and_not_in_a_copy(fake_training):
    run = start_run()
    copy = shutil.copytree(run.folder, jobs.root() / "obey-7")
    assert [(other.name, other.alive) for other in jobs.list_runs()] == [
        *(("obey-1", True), ("obey-7", False))
    ]
    assert jobs.get_run("obey-7").state == "killed"
    shutil.rmtree(copy)
    run.folder.rename(jobs.root() / "obey-8")
    moved = jobs.current()
    assert moved is not None
    assert (moved.name, moved.alive) == ("obey-8", True)
    with pytest.raises(UserError, match="obey-8 is being trained"):
        jobs.start(JobSpec("obey"))
    jobs.stop("obey-8")
    wait_for(lambda: jobs.current() is None)
    assert moved.state == "stopped"


def test_a_run_can_be_stopped_before_its_first_event(fake_training):
    run = start_run("early")
    jobs.stop(run.name)
    assert final_state(run) == "stopped"
    assert (run.folder / "exit").read_text() == f"-{signal.SIGTERM:d}\n"


def test_a_trainer_that_ignores_stop_is_killed_with_its_children(fake_training, monkeypatch):
    monkeypatch.setattr(jobs, "GRACE", 0.5)
    run = start_run("deaf")
    child = int((run.folder / "child").read_text())
    stopped_at = time.monotonic()
    jobs.stop(run.name)
    assert time.monotonic() - stopped_at < 0.3
    assert run.state == "stopping"
    assert is_running(child)
    assert final_state(run) == "stopped"
    assert time.monotonic() - stopped_at >= 0.5
    wait_for(lambda: not is_running(child), 5)
    assert (run.folder / "exit").read_text() == "-9\n"


def test_a_killed_run_can_be_resumed(fake_training):
    run = start_run()
    fake_trainer.kill(run)
    assert final_state(run) == "killed"
    (run.folder / "wait").touch()
    jobs.resume(run.name)
    assert run.alive
    assert run.state == "preparing"  # the events of the killed trainer do not count
    (run.folder / "wait").unlink()
    wait_for(lambda: run.state == "training")


def test_a_run_whose_folder_is_removed_can_be_stopped(fake_training):
    run = start_run()
    pid = pid_of(run)
    shutil.rmtree(run.folder)
    live = jobs.current()
    assert live is not None
    assert live.name == run.name
    assert (live.alive, live.state, live.started) == (True, "gone", 0)
    assert jobs.list_runs() == []
    with pytest.raises(UserError, match=f"{run.name} is being trained"):
        jobs.start(JobSpec("obey"))
    jobs.stop(run.name)
    wait_for(lambda: not is_running(pid))
    wait_for(lambda: jobs.current() is None)
    assert live.state == "gone"
    assert not run.folder.exists()
    assert start_run().state == "training"
