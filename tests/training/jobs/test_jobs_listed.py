"""The list of runs: its order, states and problems; deleting and keeping runs."""

import dataclasses
import json
import shutil
import time

import pytest

from tests.support.fake_trainer import final_state, start_run
from vsdemo.core.errors import UserError
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.state import STATE

EVENT = {"kind": "step", "step": 5, "time": 1.5, "loss": 0.25, "grad_norm": 1.0, "learning_rate": 1}


def write_run(name: str, started: float = 1.0, kinds=(), **files: str) -> jobs.Run:
    """Write a run that has ended, with events of these kinds and files of this content."""
    folder = jobs.root() / name
    folder.mkdir(parents=True)
    spec = JobSpec(
        preset="gru",
        dataset="toy",
        settings=("dim=8",),
        watched=("a dog",),
        minutes=2.5,
        tensorboard=True,
    )
    record = {"plan": dataclasses.asdict(spec), "begun": started}
    (folder / "run.json").write_text(json.dumps(record))
    events = "".join(json.dumps(EVENT | {"kind": kind}) + "\n" for kind in kinds)
    (folder / "events.jsonl").write_text(events)
    for file, content in files.items():
        (folder / file.replace("_", ".")).write_text(content)
    return jobs.Run(name, folder, spec, started)


def test_a_new_home_has_no_runs(own_home):
    assert jobs.list_runs() == []
    assert jobs.current() is None


def test_fifty_runs_are_listed_fast_newest_first(own_home):
    kinds = ["start", *["step"] * 200]
    written = [write_run(f"gru-{n}", n * 7 % 50, kinds, exit="0") for n in range(50)]
    started = time.process_time()  # other work on the machine does not count
    listed = jobs.list_runs()
    states = {run.state for run in listed}
    assert time.process_time() - started < 0.3
    assert states == {"done"}
    assert listed == sorted(written, key=lambda run: -run.started)


@pytest.mark.parametrize(
    ("kinds", "files", "state"),
    [
        ((), {}, "killed"),
        (("start", "step"), {}, "killed"),
        (("start", "done"), {}, "killed"),  # killed before the evaluation
        (("start", "done"), {"metrics_json": "{}"}, "done"),
        (("start", "done"), {"exit": "-9"}, "killed"),
        (("start", "done"), {"exit": "0"}, "done"),
        (("start", "stopped"), {"exit": "0"}, "stopped"),
        (("start", "stopped"), {}, "stopped"),
        (("start", "stopped", "start"), {}, "killed"),
        (("start",), {"exit": "-15", "stopping": ""}, "stopped"),
        (("start", "done"), {"exit": "0", "stopping": ""}, "done"),
        ((), {"exit": "2"}, "failed"),
        (("start",), {"exit": "-15"}, "stopped"),
        (("start", "error"), {}, "failed"),
        (("start", "error", "start"), {}, "killed"),
        (("start",), {"exit": "damaged"}, "killed"),
        (("start", "start", "step", "eval", "checkpoint"), {"exit": "1"}, "failed"),
    ],
)
def test_state_of_an_ended_run(own_home, kinds, files, state):
    run = write_run("gru-1", kinds=kinds, **files)
    assert run.state == state
    assert run.state not in jobs.ALIVE
    shutil.rmtree(run.folder)
    assert run.state == "gone"


@pytest.mark.parametrize(
    ("log", "message", "problem"),
    [
        ("a bar\rvsdemo: The disk is full.\n", "another", "The disk is full."),
        ("Traceback\nValueError: odd\n", "ValueError", "ValueError"),
        ("Traceback\nValueError: odd\n", None, "ValueError: odd"),
        (None, "ValueError", "ValueError"),
        (None, None, "It gave no reason."),
    ],
)
def test_problem_of_a_failed_run(own_home, log, message, problem):
    run = write_run("gru-1", exit="2")
    if log:
        (run.folder / "log.txt").write_text(log)
    if message:
        event = EVENT | {"kind": "error", "message": message}
        (run.folder / "events.jsonl").write_text(json.dumps(event) + "\n")
    assert run.problem == problem


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'"x"',
        b"{}",
        b'{"plan": {}}',
        b'{"begun": 1}',
        b'{"plan": [], "begun": 1}',
        b'{"plan": {"preset": "gru"}, "begun": 1}',
        b'{"plan": {"preset": "gru", "settings": [], "watched": [], "colour": 1}, "begun": 1}',
        b'{"plan": {"preset": "gru", "settings": 1, "watched": []}, "begun": 1}',
        b'{"plan": {"preset": "gru", "settings": [], "watched": []}, "begun": "x"}',
    ],
)
def test_a_damaged_run_is_not_listed_and_its_name_not_reused(fake_training, content):
    whole = write_run("obey-2")
    (jobs.root() / "obey-1").mkdir()
    (jobs.root() / "obey-1" / "run.json").write_bytes(content)
    assert jobs.list_runs() == [whole]
    with pytest.raises(UserError, match="no run 'obey-1'"):
        jobs.get_run("obey-1")
    assert jobs.start(JobSpec("obey")).name == "obey-3"


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x",
        "/",
        "gru-1/",
        "./gru-1",
        "GRU-1",
        "gru-1\0",
        "\0",
        "gru*",
        "../runs/gru-1",
        "../../secret",
        "x" * 5000,
        "\udc80",
        None,
        5,
        ["gru-1"],
        {"a": 1},
    ],
)
def test_names_from_a_client_that_are_not_in_the_list_are_refused(own_home, name):
    """They are refused even if there is a folder with a run outside of the list."""
    whole = write_run("gru-1", model_safetensors="x")
    outside = jobs.root().parent / "x"
    shutil.copytree(whole.folder, outside)
    before = sorted(jobs.root().parent.rglob("*"))
    for verb in (jobs.get_run, jobs.resume, jobs.delete, jobs.keep):
        with pytest.raises(UserError, match="There is no run") as error:
            verb(name)
        assert "\n" not in str(error.value)
    jobs.stop(name)
    assert jobs.list_runs() == [whole]
    after = sorted(jobs.root().parent.rglob("*"))
    assert [path for path in after if path.name != ".starting.lock"] == before


def test_a_new_run_gets_a_free_name_in_the_folder_of_runs(own_home):
    assert jobs.new_folder(JobSpec("gru")).name == "gru-1"
    assert jobs.new_folder(JobSpec("order/entailment")).name == "order-entailment-1"
    write_run("gru-1")
    write_run("gru-3")
    write_run("gru-x")
    assert jobs.new_folder(JobSpec("gru")).name == "gru-2"
    for preset in ("", "../x", "/etc", "*", "a\0b", "[a-z]"):
        assert jobs.new_folder(JobSpec(preset)).parent == jobs.root()


def test_delete_removes_the_folder_and_the_list_entry(own_home, monkeypatch):
    one, other = write_run("gru-1", 1.0), write_run("gru-2", 2.0)
    jobs.delete("gru-1")
    assert jobs.list_runs() == [other]
    assert sorted(jobs.root().iterdir()) == [other.folder]
    assert not one.folder.exists()
    monkeypatch.setattr(shutil, "rmtree", lambda path, ignore_errors: None)
    jobs.delete("gru-2")  # not listed while it is being removed
    assert jobs.list_runs() == []


def test_a_live_run_cannot_be_deleted_until_it_is_stopped(fake_training):
    run = start_run()
    with pytest.raises(UserError, match="obey-1 is being trained; stop it before you delete it"):
        jobs.delete(run.name)
    assert run.state == "training"
    jobs.stop(run.name)
    final_state(run)
    jobs.delete(run.name)
    assert jobs.list_runs() == []


def test_keep_marks_a_run_with_a_checkpoint(own_home):
    run = write_run("gru-1")
    with pytest.raises(UserError, match="gru-1 has no checkpoint yet"):
        jobs.keep("gru-1")
    assert not run.kept
    (run.folder / "model.safetensors").touch()
    assert not run.kept
    jobs.keep("gru-1")
    assert run.kept
    (run.folder / "model.safetensors").unlink()
    assert not run.kept
    (run.folder / "model.safetensors").touch()
    jobs.keep("gru-1", kept=False)
    jobs.keep("gru-1", kept=False)
    assert not run.kept


def test_the_spec_of_a_run_is_read_as_it_was_written(fake_training):
    spec = JobSpec(
        preset="obey",
        dataset="toy",
        settings=("a=1", "b= "),
        watched=("ä\tdog", "--x"),
        minutes=2.5,
        tensorboard=True,
    )
    run = jobs.start(spec)
    assert jobs.list_runs() == [run]
    assert jobs.get_run(run.name).spec == spec
    assert not (run.folder / STATE).exists()
