"""`python -m vsdemo runs`, with a fake trainer."""

import json
import subprocess
import threading
import time

import pytest

from tests.support.fake_trainer import PYTHON, final_state, start_run
from vsdemo.cli import runs as cli_runs
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec


@pytest.fixture(autouse=True)
def poll_fast(monkeypatch):
    monkeypatch.setattr(cli_runs, "POLL_SECONDS", 0.02)


def write_event(run, kind: str, step: int, **more) -> None:
    """Append an event to the log of a run."""
    event = {"kind": kind, "step": step, "time": time.time(), **more}
    with (run.folder / "events.jsonl").open("a") as file:
        file.write(json.dumps(event) + "\n")


def test_runs_are_listed(fake_training, run):
    code, printed, _ = run("runs")
    assert code == 0
    assert printed.startswith("There are no runs yet")
    assert run("runs", "--json")[1] == "[]\n"
    first = jobs.start(JobSpec("done", "toy"))
    final_state(first)
    write_event(first, "checkpoint", 5, rsum=212.34)
    write_event(first, "checkpoint", 9, rsum=312.34)
    second = start_run()
    lines = run("runs")[1].splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["obey-1", "training", "obey"],
        ["done-1", "done", "done"],
    ]
    assert lines[1].split()[3:5] == ["toy", "312.3"]
    assert lines[1].endswith(time.strftime("%Y-%m-%d %H:%M", time.localtime(first.started)))
    listed = json.loads(run("runs", "--json")[1])
    assert listed[0] == {
        "name": "obey-1",
        "state": "training",
        "preset": "obey",
        "dataset": None,
        "best": None,
        "started": second.started,
        "folder": str(second.folder),
    }
    assert listed[1]["best"] == 312.34


def test_stop_resume_delete(fake_training, run):
    live = start_run()
    code, _, errors = run("runs", "delete", "obey-1")
    assert (code, live.state) == (2, "training")
    assert "is being trained; stop it" in errors
    assert run("runs", "stop", "obey-1") == (0, "obey-1: stopped.\n", "")
    assert not live.alive
    assert run("runs", "stop", "obey-1") == (0, "obey-1: stopped.\n", "")
    code, printed, _ = run("runs", "resume", "obey-1")
    assert (code, live.alive) == (0, True)
    assert "python -m vsdemo runs follow obey-1" in printed
    code, _, errors = run("runs", "resume", "obey-1")
    assert code == 2
    assert "one run at a time" in errors
    run("runs", "stop", "obey-1")
    assert run("runs", "delete", "obey-1") == (0, "obey-1 deleted.\n", "")
    assert not live.folder.exists()


def test_follow_shows_progress_until_the_end(fake_training, run):
    live, results = start_run(), []
    thread = threading.Timer(0.3, lambda: (write_event(live, "step", 7), jobs.stop(live.name)))
    thread.start()
    results.append(run("runs", "follow", "obey-1"))
    thread.join()
    code, printed, bar = results[0]
    assert code == 0
    assert printed == "obey-1: stopped.\n"
    assert "obey-1 (training):" in bar
    assert "7/10" in bar or "obey-1 (stop" in bar
    failed = jobs.start(JobSpec("fail"))
    final_state(failed)
    assert run("runs", "follow", "fail-1")[1] == "fail-1: failed. It broke; mend it.\n"


def test_progress_bar_shows_the_last_event():
    from io import StringIO

    from tqdm import tqdm

    events = [
        {"kind": "start", "step": 0, "time": 0.0, "steps": 40},
        {"kind": "eval", "step": 10, "time": 1.0, "rsum": 200.0},
        {"kind": "checkpoint", "step": 10, "time": 1.0, "rsum": 200.0},
        {"kind": "step", "step": 20, "time": 2.0},
    ]
    with tqdm(desc="gru-1", unit="step", file=StringIO()) as bar:
        for state in ("preparing", "training"):
            cli_runs._update(bar, events, state)
        assert (bar.n, bar.total) == (20, 40)
        text = str(bar)
    assert text.startswith("gru-1 (training):  50%|")
    assert "20/40" in text
    assert "best_dev_rsum=200" in text


def test_ctrl_c_does_not_stop_the_run(fake_training):
    live = start_run()
    follow = "import signal; signal.signal(2, signal.default_int_handler)\n"  # where it is ignored
    follow += "import sys; sys.argv[1:] = ['runs', 'follow', 'obey-1']\n"
    words = [PYTHON, "-c", follow + "from vsdemo.cli import main; main()"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as follower:
        assert follower.stderr.read(6) == b"\robey-"
        follower.send_signal(2)
        printed, errors = follower.communicate()
    assert b"Traceback" not in errors
    assert (follower.returncode, printed) == (0, b"obey-1 continues.\n")
    time.sleep(0.2)
    assert live.state == "training"


@pytest.mark.parametrize("verb", ["follow", "stop", "resume", "delete"])
@pytest.mark.parametrize("name", ["gru-1", "../x", "", "a\0b"])
def test_unknown_names_are_refused(fake_training, run, verb, name):
    code, printed, errors = run("runs", verb, name)
    assert (code, printed) == (2, "")
    assert errors.startswith("vsdemo: There is no run")
    assert errors.count("\n") == 1


def test_a_run_without_its_folder_can_be_stopped(fake_training, run):
    live = start_run()
    live.folder.rename(fake_training / "elsewhere")
    assert (live.alive, live.state) == (True, "gone")
    code, printed, _ = run("runs", "stop", "obey-1")
    assert (code, printed) == (0, "obey-1: gone.\n")
    assert jobs.current() is None
