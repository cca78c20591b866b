"""Starting runs: one at a time, also with several programs or a damaged job file."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import psutil
import pytest

from tests.support import fake_trainer
from tests.support.fake_trainer import final_state, is_running, start_run, wait_for
from vsdemo.core.errors import UserError
from vsdemo.training.jobs import jobs, processes
from vsdemo.training.jobs.spec import JobSpec

APP = """
import sys
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.core.errors import UserError
sys.executable = sys.argv[1]
print("ready", flush=True)
for line in sys.stdin:
    try:
        print(jobs.start(JobSpec("obey")).name, flush=True)
    except UserError as error:
        print(error, flush=True)
"""


@pytest.fixture
def apps(fake_training):
    """Return a function that starts a program, which starts a run for each line of stdin."""
    with ExitStack() as stack:

        def app() -> subprocess.Popen:
            program = subprocess.Popen(
                [fake_trainer.PYTHON, "-c", APP, sys.executable],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
            )
            stack.callback(program.kill)
            return stack.enter_context(program)

        yield app


def test_one_of_two_programs_starts_a_run_that_outlives_both(apps):
    """The run can be stopped by other programs."""
    both = [apps(), apps()]
    assert [app.stdout.readline() for app in both] == ["ready\n"] * 2
    for number in range(1, 6):
        for app in both:
            app.stdin.write("start\n")
        answers = sorted(app.stdout.readline().strip() for app in both)
        assert answers[0] == f"obey-{number}"
        assert answers[1].startswith(
            f"obey-{number} is being trained, and this machine trains one run at a time"
        )
        live = jobs.current()
        assert live is not None
        if number < 5:
            jobs.stop(live.name)
            assert final_state(live) == "stopped"
    for app in both:
        app.kill()
        app.wait()
    wait_for(lambda: live.events)
    assert jobs.current() == live
    assert live.state == "training"
    jobs.stop(live.name)
    wait_for(lambda: not live.alive)
    assert not (live.folder / "exit").exists()
    assert live.state == "stopped"
    assert [run.name for run in jobs.list_runs()] == [f"obey-{n}" for n in range(5, 0, -1)]


def test_one_of_many_threads_starts_a_run(fake_training):
    gate = threading.Barrier(8)

    def start(_: int) -> str:
        gate.wait()
        try:
            return jobs.start(JobSpec("obey")).name
        except UserError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        answers = sorted(pool.map(start, range(8)))
    assert answers[0] == "obey-1"
    assert all(answer.startswith("obey-1 is being trained") for answer in answers[1:])
    assert len(jobs.list_runs()) == 1


@pytest.mark.parametrize(
    "job",
    [
        None,
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'"obey-1"',
        b"{}",
        b"1",
        b'{"name": "obey-1"}',
        b'{"name": "obey-1", "pid": "x", "born": 1}',
        b'{"name": "obey-1", "pid": -5, "born": 1}',
        b'{"pid": 1e300, "born": NaN}',
        b'{"name": "obey-1", "pid": null, "born": null}',
    ],
)
def test_a_damaged_or_missing_job_file_means_no_run(fake_training, job):
    jobs.root().mkdir(parents=True)
    if job is not None:
        (jobs.root() / jobs.JOB_FILE).write_bytes(job)
    assert jobs.current() is None
    jobs.stop("obey-1")
    run = jobs.start(JobSpec("obey"))
    assert jobs.current() == run


@pytest.mark.parametrize("key", ["name", "born"])
def test_a_job_file_without_a_key_means_no_run(fake_training, key):
    """The process is alive, but cannot be identified."""
    start_run()
    job = json.loads((jobs.root() / jobs.JOB_FILE).read_text())
    del job[key]
    (jobs.root() / jobs.JOB_FILE).write_text(json.dumps(job))
    assert jobs.current() is None
    assert jobs.list_runs()[0].state == "killed"
    os.kill(job["pid"], signal.SIGKILL)


def test_another_process_with_the_id_of_a_job_is_not_stopped(fake_training):
    """The ID is that of this process, so a stop would end the tests."""
    run = start_run("done")
    assert final_state(run) == "done"
    born = psutil.Process().create_time()
    job = {"name": run.name, "pid": os.getpid(), "born": born - 60}
    (jobs.root() / jobs.JOB_FILE).write_text(json.dumps(job))
    assert jobs.current() is None
    assert run.state == "done"
    jobs.stop(run.name)
    assert processes.find(job | {"born": born}) is not None


@pytest.mark.parametrize("file", ["run.json", "pid", jobs.JOB_FILE])
def test_a_full_disk_at_the_start_leaves_no_process_and_no_folder(fake_training, monkeypatch, file):
    """The disk becomes full when this file is written."""
    before = psutil.Process().children()
    children = []

    def write_text(path, text):
        if path.name == file:
            children.extend(p for p in psutil.Process().children() if p not in before)
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        path.write_text(text)

    with monkeypatch.context() as patch:
        for module in (jobs, processes):
            patch.setattr(module, "write_text", write_text)
        with pytest.raises(
            UserError, match=r"The disk is full; free some space on the disk of .*runs\.$"
        ):
            jobs.start(JobSpec("obey"))
    assert bool(children) == (file != "run.json")
    assert not any(is_running(process.pid) for process in children)
    time.sleep(0.1)  # the thread that waits for the process may still be running
    assert [path.name for path in jobs.root().iterdir() if path.is_dir()] == []
    assert jobs.start(JobSpec("obey")).name == "obey-1"
