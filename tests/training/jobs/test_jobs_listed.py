"""The list of runs: what stands in it and in which order, states, what is deleted and kept."""

import dataclasses
import json
import shutil
import time

import pytest

from tests.support.stand_ins import begun, ended
from vsdemo.core.errors import UserError
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.state import STATE

EVENT = {"kind": "step", "step": 5, "time": 1.5, "loss": 0.25, "grad_norm": 1.0, "learning_rate": 1}


def write_run(name: str, begun: float = 1.0, told=(), **files: str) -> jobs.Run:
    """A run that has ended; told: kinds of events; files: more of them, with their content."""
    folder = jobs.root() / name
    folder.mkdir(parents=True)
    plan = JobSpec("gru", "toy", ("dim=8",), ("a dog",), 2.5, True)
    said = {"plan": dataclasses.asdict(plan), "begun": begun}
    (folder / "run.json").write_text(json.dumps(said))
    events = "".join(json.dumps(EVENT | {"kind": kind}) + "\n" for kind in told)
    (folder / "events.jsonl").write_text(events)
    for file, content in files.items():
        (folder / file.replace("_", ".")).write_text(content)
    return jobs.Run(name, folder, plan, begun)


def test_none(own_home):
    assert jobs.list_runs() == []
    assert jobs.current() is None


def test_fifty_runs_newest_first_at_once(own_home):
    told = ["start", *["step"] * 200]
    made = [write_run(f"gru-{n}", n * 7 % 50, told, exit="0") for n in range(50)]
    started = time.process_time()  # not of other work on the machine
    listed = jobs.list_runs()
    states = {run.state for run in listed}
    assert time.process_time() - started < 0.3
    assert states == {"done"}
    assert listed == sorted(made, key=lambda run: -run.started)


@pytest.mark.parametrize(
    ("told", "files", "state"),
    [
        ((), {}, "killed"),
        (("start", "step"), {}, "killed"),
        (("start", "done"), {}, "killed"),  # before it was measured
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
def test_how_it_ended(own_home, told, files, state):
    run = write_run("gru-1", told=told, **files)
    assert run.state == state
    assert run.state not in jobs.ALIVE
    shutil.rmtree(run.folder)
    assert run.state == "gone"


@pytest.mark.parametrize(
    ("log", "told", "problem"),
    [
        ("a bar\rvsdemo: The disk is full.\n", "another", "The disk is full."),
        ("Traceback\nValueError: odd\n", "ValueError", "ValueError"),
        ("Traceback\nValueError: odd\n", None, "ValueError: odd"),
        (None, "ValueError", "ValueError"),
        (None, None, "It gave no reason."),
    ],
)
def test_why_it_failed(own_home, log, told, problem):
    run = write_run("gru-1", exit="2")
    if log:
        (run.folder / "log.txt").write_text(log)
    if told:
        event = EVENT | {"kind": "error", "message": told}
        (run.folder / "events.jsonl").write_text(json.dumps(event) + "\n")
    assert run.problem == problem


@pytest.mark.parametrize(
    "said",
    [
        *(b"", b"{", b"[]", b"null", b"\xff", b'"x"', b"{}", b'{"plan": {}}', b'{"begun": 1}'),
        *(b'{"plan": [], "begun": 1}', b'{"plan": {"preset": "gru"}, "begun": 1}'),
        b'{"plan": {"preset": "gru", "settings": [], "watched": [], "colour": 1}, "begun": 1}',
        b'{"plan": {"preset": "gru", "settings": 1, "watched": []}, "begun": 1}',
        b'{"plan": {"preset": "gru", "settings": [], "watched": []}, "begun": "x"}',
    ],
)
def test_a_damaged_run_is_none_and_takes_no_others_place(stand_in, said):
    whole = write_run("obey-2")
    (jobs.root() / "obey-1").mkdir()
    (jobs.root() / "obey-1" / "run.json").write_bytes(said)
    assert jobs.list_runs() == [whole]
    with pytest.raises(UserError, match="no run 'obey-1'"):
        jobs.get_run("obey-1")
    assert jobs.start(JobSpec("obey")).name == "obey-3"


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../x", "/", "gru-1/", "./gru-1", "GRU-1", "gru-1\0", "\0", "gru*"),
        *("../runs/gru-1", "../../secret", "x" * 5000, "\udc80", None, 5, ["gru-1"], {"a": 1}),
    ],
)
def test_names_that_a_client_sends(own_home, name):
    """None of them leaves the list, even where there is a folder with a run."""
    whole = write_run("gru-1", model_safetensors="x")
    outside = jobs.root().parent / "x"
    shutil.copytree(whole.folder, outside)
    before = sorted(jobs.root().parent.rglob("*"))
    for verb in (jobs.get_run, jobs.resume, jobs.delete, jobs.keep):
        with pytest.raises(UserError, match="There is no run") as told:
            verb(name)
        assert "\n" not in str(told.value)
    jobs.stop(name)
    assert jobs.list_runs() == [whole]
    after = sorted(jobs.root().parent.rglob("*"))
    assert [path for path in after if path.name != ".starting.lock"] == before


def test_names_of_new_runs(own_home):
    assert jobs.new_folder(JobSpec("gru")).name == "gru-1"
    assert jobs.new_folder(JobSpec("order/entailment")).name == "order-entailment-1"
    write_run("gru-1")
    write_run("gru-3")
    write_run("gru-x")
    assert jobs.new_folder(JobSpec("gru")).name == "gru-2"
    for preset in ("", "../x", "/etc", "*", "a\0b", "[a-z]"):
        assert jobs.new_folder(JobSpec(preset)).parent == jobs.root()


def test_delete(own_home, monkeypatch):
    one, other = write_run("gru-1", 1.0), write_run("gru-2", 2.0)
    jobs.delete("gru-1")
    assert jobs.list_runs() == [other]
    assert sorted(jobs.root().iterdir()) == [other.folder]
    assert not one.folder.exists()
    monkeypatch.setattr(shutil, "rmtree", lambda path, ignore_errors: None)
    jobs.delete("gru-2")  # what is still being removed is out of the list
    assert jobs.list_runs() == []


def test_delete_what_is_trained(stand_in):
    run = begun()
    with pytest.raises(UserError, match="obey-1 is being trained; stop it before you delete it"):
        jobs.delete(run.name)
    assert run.state == "training"
    jobs.stop(run.name)
    ended(run)
    jobs.delete(run.name)
    assert jobs.list_runs() == []


def test_keep(own_home):
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


def test_a_plan_comes_back_as_it_was_given(stand_in):
    plan = JobSpec("obey", "toy", ("a=1", "b= "), ("ä\tdog", "--x"), 2.5, True)
    run = jobs.start(plan)
    assert jobs.list_runs() == [run]
    assert jobs.get_run(run.name).spec == plan
    assert not (run.folder / STATE).exists()
