"""Starting runs: one at a time, also with several programs or a damaged job file."""

import errno
import json
import os
import shutil
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
from tests.support.fake_trainer import final_state, is_running, pid_of, start_run, wait_for
from vsdemo.core.errors import UserError
from vsdemo.core.locks import HeldFile
from vsdemo.training.jobs import jobs
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


def test_a_run_is_alive_without_the_job_file(fake_training):
    run = start_run()
    (jobs.root() / jobs.JOB_FILE).unlink()
    assert jobs.current() == run
    assert run.state == "training"
    with pytest.raises(UserError, match="obey-1 is being trained"):
        jobs.start(JobSpec("obey"))
    jobs.stop(run.name)
    assert final_state(run) == "stopped"


@pytest.mark.parametrize("content", ["", "{", '{"pid": 1}', '{"name": 5}', "[" * 100_000])
def test_no_run_starts_beside_one_that_cannot_be_identified(fake_training, content):
    """Its folder is removed, and the job file is damaged while the process holds it."""
    run = start_run()
    pid = pid_of(run)
    shutil.rmtree(run.folder)
    (jobs.root() / jobs.JOB_FILE).write_text(content)
    assert jobs.current() is None
    with pytest.raises(UserError, match="Another run is being trained"):
        jobs.start(JobSpec("obey"))
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not is_running(pid))
    assert start_run().state == "training"


def test_another_process_with_the_id_of_a_job_is_not_stopped(fake_training):
    """The ID is that of this process, so a stop would end the tests."""
    run = start_run("done")
    assert final_state(run) == "done"
    (jobs.root() / jobs.JOB_FILE).write_text(json.dumps({"name": run.name, "pid": os.getpid()}))
    (run.folder / "pid").write_text(f"{os.getpid()}\n")
    assert jobs.current() is None
    assert run.state == "done"
    jobs.stop(run.name)


@pytest.mark.parametrize("file", ["run.json", "pid", jobs.JOB_FILE])
def test_a_full_disk_at_the_start_leaves_no_process_and_no_folder(fake_training, monkeypatch, file):
    """The disk becomes full when this file is written."""
    before = psutil.Process().children()
    children = []

    def write_text(path, text):
        fail_if_full(path)
        path.write_text(text)

    def write(held, text):
        fail_if_full(held.path)
        write_held(held, text)

    def fail_if_full(path):
        children.extend(p for p in psutil.Process().children() if p not in before)
        if path.name == file and (children or file == "run.json"):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

    write_held = HeldFile.write
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "write_text", write_text)
        patch.setattr(HeldFile, "write", write)
        with pytest.raises(
            UserError, match=r"The disk is full; free some space on the disk of .*runs\.$"
        ):
            jobs.start(JobSpec("obey"))
    assert bool(children) == (file != "run.json")
    assert not any(is_running(process.pid) for process in children)
    time.sleep(0.1)  # the thread that waits for the process may still be running
    assert [path.name for path in jobs.root().iterdir() if path.is_dir()] == []
    assert jobs.start(JobSpec("obey")).name == "obey-1"


def test_a_trainer_imports_nothing_from_the_working_directory(own_home, tmp_path, monkeypatch):
    """Neither as `python -m` does, nor through an empty entry of PYTHONPATH."""
    here = tmp_path / "here"
    (here / "vsdemo").mkdir(parents=True)
    for file in ("torch.py", "typer.py", "vsdemo/__main__.py"):
        (here / file).write_text("open('imported', 'w'); raise SystemExit(3)")
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", os.pathsep)
    run = jobs.start(JobSpec("no-such-preset"))
    assert final_state(run) == "failed"
    assert run.problem.startswith("There is no preset 'no-such-preset'")
    assert not (here / "imported").exists()
