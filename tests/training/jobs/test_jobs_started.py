"""Starting runs: one at a time, whoever starts them, whatever became of the files that tell so."""

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

from tests.support import stand_ins
from tests.support.stand_ins import begun, ended, running, wait_for
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
def apps(stand_in):
    """Starts programs that start a run for each line, told by stdin and answered on stdout."""
    with ExitStack() as open_ones:

        def app() -> subprocess.Popen:
            pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
            words = [stand_ins.PYTHON, "-c", APP, sys.executable]
            program = subprocess.Popen(words, text=True, bufsize=1, **pipes)
            open_ones.callback(program.kill)
            return open_ones.enter_context(program)

        yield app


def test_two_programs_start_at_once_and_are_killed(apps):
    """One of them wins each time; its run outlives it and can be stopped by others."""
    both = [apps(), apps()]
    assert [app.stdout.readline() for app in both] == ["ready\n"] * 2
    for number in range(1, 6):
        for app in both:
            app.stdin.write("start\n")
        told = sorted(app.stdout.readline().strip() for app in both)
        assert told[0] == f"obey-{number}"
        assert told[1].startswith(
            f"obey-{number} is being trained, and this machine trains one run at a time"
        )
        live = jobs.current()
        assert live is not None
        if number < 5:
            jobs.stop(live.name)
            assert ended(live) == "stopped"
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


def test_many_threads_start_at_once(stand_in):
    gate = threading.Barrier(8)

    def start(_: int) -> str:
        gate.wait()
        try:
            return jobs.start(JobSpec("obey")).name
        except UserError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        told = sorted(pool.map(start, range(8)))
    assert told[0] == "obey-1"
    assert all(one.startswith("obey-1 is being trained") for one in told[1:])
    assert len(jobs.list_runs()) == 1


@pytest.mark.parametrize(
    "job",
    [
        *(None, b"", b"{", b"\xff\xfe", b"[]", b"null", b'"obey-1"', b"{}", b"1"),
        *(b'{"name": "obey-1"}', b'{"name": "obey-1", "pid": "x", "born": 1}'),
        *(b'{"name": "obey-1", "pid": -5, "born": 1}', b'{"pid": 1e300, "born": NaN}'),
        *(b'{"name": "obey-1", "pid": null, "born": null}',),
    ],
)
def test_a_job_file_that_is_damaged_or_missing(stand_in, job):
    jobs.root().mkdir(parents=True)
    if job is not None:
        (jobs.root() / jobs.JOB_FILE).write_bytes(job)
    assert jobs.current() is None
    jobs.stop("obey-1")
    run = jobs.start(JobSpec("obey"))
    assert jobs.current() == run


@pytest.mark.parametrize("left", ["name", "born"])
def test_a_job_file_without_a_part(stand_in, left):
    """It tells of a process that is alive, but not enough to be sure of it."""
    begun()
    job = json.loads((jobs.root() / jobs.JOB_FILE).read_text())
    del job[left]
    (jobs.root() / jobs.JOB_FILE).write_text(json.dumps(job))
    assert jobs.current() is None
    assert jobs.list_runs()[0].state == "killed"
    os.kill(job["pid"], signal.SIGKILL)


def test_a_job_file_whose_number_is_that_of_another_process(stand_in):
    """Of this one, for which a stop would be the end."""
    run = begun("done")
    assert ended(run) == "done"
    born = psutil.Process().create_time()
    job = {"name": run.name, "pid": os.getpid(), "born": born - 60}
    (jobs.root() / jobs.JOB_FILE).write_text(json.dumps(job))
    assert jobs.current() is None
    assert run.state == "done"
    jobs.stop(run.name)
    assert processes.find(job | {"born": born}) is not None


@pytest.mark.parametrize("file", ["run.json", "pid", jobs.JOB_FILE])
def test_a_disk_that_is_full_as_a_run_starts(stand_in, monkeypatch, file):
    """One sentence; neither a process nor half a folder is left."""
    born = []

    def write_text(path, text):
        if path.name == file:
            born.extend(psutil.Process().children())
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        path.write_text(text)

    with monkeypatch.context() as patch:
        for module in (jobs, processes):
            patch.setattr(module, "write_text", write_text)
        with pytest.raises(
            UserError, match=r"The disk is full; free some space on the disk of .*runs\.$"
        ):
            jobs.start(JobSpec("obey"))
    assert bool(born) == (file != "run.json")
    assert not any(running(process.pid) for process in born)
    time.sleep(0.1)  # for who waits for its end
    assert [path.name for path in jobs.root().iterdir() if path.is_dir()] == []
    assert jobs.start(JobSpec("obey")).name == "obey-1"
