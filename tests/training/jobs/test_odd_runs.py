"""Runs with damaged and hostile files: each is left out or listed, and the others stay usable."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import odd_runs
from tests.support.odd_runs import GOOD_EVENTS, GOOD_PLAN, good_run, with_value, write_run
from vsdemo.core import event_reader
from vsdemo.core.events import EventLog, read
from vsdemo.training.jobs import jobs

PLAN_KEYS = ("preset", "dataset", "settings", "watched", "minutes", "tensorboard", "other")


@pytest.fixture
def good(own_home):
    """Return the name of a run that nothing is wrong with, the oldest one."""
    lines = [json.dumps(event) for event in GOOD_EVENTS]
    write_run(jobs.root() / "good", good_run(begun="1"), lines)
    return "good"


def use(run):
    """Ask for everything that the page and the command line show of a run."""
    assert run.state in ("done", "failed", "killed", "stopped")
    assert isinstance(run.problem, str)
    assert not run.alive
    event_reader.best_metric(run.events)
    event_reader.seconds_left(run.events, 5.0)
    json.dumps([run.name, run.spec.preset, run.events], ensure_ascii=False).encode()


def test_odd_files_hide_no_other_run(good, run):
    odd_runs.write_odd_files(jobs.root())
    listed = {each.name: each for each in jobs.list_runs()}
    assert good in listed
    assert {name for name in listed if not name.startswith(("odd-", "<img"))} == {good}
    assert not any(name.startswith("odd-run-") or name == "odd-large" for name in listed)
    for each in listed.values():
        use(each)
    assert jobs.current() is None
    code, printed, errors = run("runs")
    assert (code, errors) == (0, "")
    assert f"{good} " in printed
    assert all(character.isprintable() or character == "\n" for character in printed)
    code, printed, _ = run("runs", "--json")
    assert len(json.loads(printed)) == len(listed)
    for name in ("odd-events-0", "odd-events-pipe", "odd-exit-3", "odd-log-folder", good):
        code, printed, errors = run("runs", "follow", name)
        assert (code, "Traceback" in errors) == (0, False)
    jobs.delete("odd-events-3")
    assert "odd-events-3" not in {each.name for each in jobs.list_runs()}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(PLAN_KEYS), odd_runs.odd_values)
def test_an_odd_specification_hides_no_other_run(good, key, value):
    folder = jobs.root() / "odd"
    write_run(folder, good_run(with_value(GOOD_PLAN, key, value)), [])
    listed = [run.name for run in jobs.list_runs()]
    assert good in listed
    for run in jobs.list_runs():
        use(run)
        assert all(text.isprintable() for text in (run.name, run.spec.preset, *run.spec.settings))
        run.spec.command(run.folder).encode()
    jobs.delete("odd") if "odd" in listed else remove(folder)


def remove(folder):
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(odd_runs.odd_values)
def test_an_odd_time_hides_no_other_run(good, value):
    folder = jobs.root() / "odd"
    write_run(folder, good_run(begun=value), [])
    names = [run.name for run in jobs.list_runs()]
    assert names in (["good"], ["odd", "good"], ["good", "odd"])
    remove(folder)


EVENT_KEYS = ("kind", "step", "time", "steps", "epoch", "seconds", "message", "watched", "rsum")
events = st.builds(
    with_value,
    st.sampled_from([*GOOD_EVENTS, {"kind": "error", "step": 1, "time": 1}]),
    st.sampled_from([*EVENT_KEYS, "i2t", "<b>"]),
    odd_runs.odd_values,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(events, max_size=5))
def test_odd_events_are_left_out_and_a_trainer_can_resume(good, lines):
    folder = jobs.root() / "odd"
    write_run(folder, good_run(), lines)
    (run,) = (run for run in jobs.list_runs() if run.name == "odd")
    use(run)
    log = EventLog(folder / "events.jsonl")
    log.rewind(15)
    assert all(event["step"] <= 15 for event in read(folder / "events.jsonl"))
    remove(folder)


def test_only_the_beginning_of_a_huge_file_of_events_is_read(good, monkeypatch):
    monkeypatch.setattr(event_reader, "MAX_BYTES", 1000)
    run = jobs.get_run(good)
    whole = run.folder / "events.jsonl"
    whole.write_text((json.dumps(GOOD_EVENTS[1]) + "\n") * 1000)
    assert 5 < len(run.events) < 20
    assert run.events == run.events
    assert run.state == "done"
