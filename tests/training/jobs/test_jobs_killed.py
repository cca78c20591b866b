"""What happens to a run on its way: with a stand-in that trains nothing, begins at once and is a
process like any other."""

import shutil
import signal
import subprocess
import time

import psutil
import pytest

from tests.support import stand_ins
from tests.support.stand_ins import begun, ended, pid_of, running, wait_for
from vsdemo.core.errors import UserError
from vsdemo.training.jobs import jobs, processes
from vsdemo.training.jobs.spec import JobSpec


@pytest.mark.parametrize(
    ("preset", "state", "code"), [("done", "done", "0\n"), ("fail", "failed", "2\n")]
)
def test_it_ends_by_itself(stand_in, preset, state, code):
    run = jobs.start(JobSpec(preset))
    assert ended(run) == state
    assert (run.folder / "exit").read_text() == code
    assert jobs.current() is None
    if state == "failed":
        assert run.problem == "It broke; mend it."


def test_stop_asks_the_trainer_to_save_and_end(stand_in):
    run = begun()
    assert run.state == "training"
    jobs.stop("another-1")
    assert run.state == "training"
    jobs.stop(run.name)
    assert ended(run) == "stopped"
    assert (run.folder / "exit").read_text() == "0\n"
    jobs.stop(run.name)
    assert run.state == "stopped"
    jobs.resume(run.name)
    assert run.state in ("preparing", "training")
    assert not (run.folder / "exit").exists()


def test_who_waits_for_the_end_of_a_program_is_told_its_code():
    """A code is told once, so that who ends the program must not ask for it."""
    with subprocess.Popen([stand_ins.PYTHON, "-ISc", "import time; time.sleep(60)"]) as child:
        process = psutil.Process(child.pid)
        told = {"pid": child.pid, "born": process.create_time()}
        assert processes.find(told) == process
        processes.end(process, 5)
        wait_for(lambda: not running(child.pid))
        time.sleep(0.3)
        assert processes.find(told) is None  # though nobody has asked for its code yet
        assert child.wait() == -signal.SIGTERM


def test_stop_before_there_is_anything_to_save(stand_in):
    run = begun("early")
    jobs.stop(run.name)
    assert ended(run) == "stopped"
    assert (run.folder / "exit").read_text() == f"-{signal.SIGTERM:d}\n"


def test_a_trainer_that_hears_nothing_is_killed_with_its_children(stand_in, monkeypatch):
    monkeypatch.setattr(jobs, "GRACE", 0.5)
    run = begun("deaf")
    child = int((run.folder / "child").read_text())
    asked = time.monotonic()
    jobs.stop(run.name)
    assert time.monotonic() - asked < 0.3
    assert run.state == "stopping"
    assert running(child)
    assert ended(run) == "stopped"
    assert time.monotonic() - asked >= 0.5
    wait_for(lambda: not running(child), 5)
    assert (run.folder / "exit").read_text() == "-9\n"


def test_a_trainer_that_somebody_kills(stand_in):
    run = begun()
    stand_ins.end(run)
    assert ended(run) == "killed"
    jobs.resume(run.name)
    assert run.alive
    assert run.state == "preparing"  # what the killed one told is over
    wait_for(lambda: run.state == "training")


def test_a_run_whose_folder_is_removed_while_it_trains(stand_in):
    run = begun()
    pid = pid_of(run)
    shutil.rmtree(run.folder)
    live = jobs.current()
    assert live is not None
    assert live.name == run.name
    assert (live.alive, live.state) == (True, "gone")
    assert jobs.list_runs() == []
    with pytest.raises(UserError, match=f"{run.name} is being trained"):
        jobs.start(JobSpec("obey"))
    jobs.stop(run.name)
    wait_for(lambda: not running(pid))
    wait_for(lambda: jobs.current() is None)
    assert live.state == "gone"
    assert not run.folder.exists()
    assert begun().state == "training"
