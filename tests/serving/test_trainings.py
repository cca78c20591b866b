"""Who owns a run, and how much visitors may train."""

import hashlib
import json
import time

import pytest

from tests.support.serving import free_port
from tests.training.jobs.test_jobs_listed import write_run
from vsdemo import ui
from vsdemo.core.errors import UserError
from vsdemo.serving import trainings, visitors
from vsdemo.serving.training_limits import TrainingLimits, training_limits, training_minutes
from vsdemo.serving.trainings import visitor_id
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec

ANNE, BEN = visitors.fingerprint("anne"), visitors.fingerprint("ben")


@pytest.fixture
def public(own_home, monkeypatch):
    """A public server on which strangers may train."""
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    monkeypatch.setenv("VSDEMO_ALLOW_TRAINING", "1")


def run_of(owner, name="gru-1", started=1.0):
    """Write a run that has ended."""
    run = write_run(name, started, exit="0")
    if owner is not None:
        (run.folder / "owner").write_text(owner)
    return run


def test_a_visitor_is_known_by_the_hash_of_the_cookie_or_the_session():
    token = visitors.new_token()
    digest = hashlib.sha256(token.encode()).hexdigest()
    assert visitor_id({"vsdemo_visitor": token}, "page") == digest
    page = hashlib.sha256(b"page").hexdigest()
    for odd in ("", "made-up", f"{token}x", "ä.ö", "x" * 100_000):
        assert visitor_id({"vsdemo_visitor": odd}, "page") == page
        assert visitor_id({"vsdemo_visitor": odd}, None) == ""
    assert visitor_id({}, "\udc80") == ""


def test_on_a_private_machine_everything_is_allowed(own_home):
    run = run_of(ANNE)
    assert trainings.visible([run], BEN) == [run]
    assert trainings.may_change(run, BEN)
    trainings.delete(run.name, BEN)
    assert jobs.list_runs() == []


@pytest.mark.parametrize(
    ("owner", "seen", "changed"),
    [
        (ANNE, {ANNE}, {ANNE}),
        (ANNE + "\n", {ANNE}, {ANNE}),
        (None, {ANNE, BEN, ""}, set()),  # the owner of the machine
        ("", set(), set()),
        ("ä", set(), set()),
        (ANNE[:-1], set(), set()),
        (ANNE + "x", set(), set()),
        (ANNE * 10, set(), set()),
        ("anne", set(), set()),
    ],
)
def test_who_sees_and_changes_a_run_of_a_public_server(public, owner, seen, changed):
    run = run_of(owner)
    for visitor in (ANNE, BEN, ""):
        assert (trainings.visible([run], visitor) == [run]) is (visitor in seen)
        assert trainings.may_change(run, visitor) is (visitor in changed)
        if visitor not in changed:
            message = "Only the visitor who started" if visitor in seen else "There is no run"
            for verb in (trainings.delete, trainings.keep, trainings.resume):
                with pytest.raises(UserError, match=message):
                    verb(run.name, visitor)
    assert jobs.list_runs() == [run]


def test_the_hash_is_stored_before_the_run_is_listed(public, fake_training, monkeypatch):
    monkeypatch.setattr(trainings, "check", lambda spec: [])
    run = trainings.start(JobSpec("obey"), ANNE, pytest.fail)
    assert run.owner == ANNE
    for path in run.folder.iterdir():
        assert b"anne" not in path.read_bytes()
    with pytest.raises(UserError, match="Only the visitor who started obey-1 can stop it"):
        trainings.stop(run.name, BEN)
    with pytest.raises(UserError, match=r"Another visitor is training.* at most 10 minutes\.$"):
        trainings.start(JobSpec("obey"), BEN, pytest.fail)
    with pytest.raises(UserError, match="obey-1 is being trained"):
        trainings.start(JobSpec("obey"), ANNE, pytest.fail)
    assert run.alive


def test_starts_are_counted_for_a_day(public, fake_training, monkeypatch):
    monkeypatch.setenv("VSDEMO_TRAINING_RUNS_A_DAY", "2")
    monkeypatch.setattr(trainings, "check", lambda spec: [])
    file = jobs.root() / trainings.STARTS_FILE
    now = time.time()
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps([[now - 90_000, ANNE], [now - 10, BEN], [now, ANNE]]))
    trainings.start(JobSpec("done"), ANNE, pytest.fail)
    with pytest.raises(UserError, match=r"This server allows 2 trainings a day; try again tomorr"):
        trainings.start(JobSpec("done"), ANNE, pytest.fail)
    assert [visitor for _, visitor in json.loads(file.read_text())] == [BEN, ANNE, ANNE]
    for odd in ("", "[" * 100_000, "{}", '[[1], [null, "a"], [NaN, "b"], 5]'):
        file.write_text(odd)
        trainings._require_turn(ANNE)


def test_the_oldest_runs_of_strangers_make_room(public, fake_training, monkeypatch):
    monkeypatch.setenv("VSDEMO_TRAINING_RUNS_KEPT", "3")
    monkeypatch.setattr(trainings, "check", lambda spec: [])
    for number in range(6):
        run_of([ANNE, BEN, None][number % 3], f"gru-{number}", float(number))
    forgotten = []
    run = trainings.start(JobSpec("obey"), BEN, forgotten.append)
    assert sorted(forgotten) == ["gru-0", "gru-1"]
    assert [each.name for each in jobs.list_runs()] == [
        run.name,
        *(f"gru-{n}" for n in (5, 4, 3, 2)),
    ]


def test_limits_are_set_by_variables(public, monkeypatch):
    assert training_limits() == TrainingLimits()
    monkeypatch.setenv("VSDEMO_TRAINING_MINUTES", "2.5")
    monkeypatch.setenv("VSDEMO_TRAINING_MEMORY", "1")
    assert training_limits() == TrainingLimits(minutes=2.5, memory=1)
    assert training_minutes() == 2.5
    assert training_limits().size == (1_000_000_000, 1_000_000_000)


@pytest.mark.parametrize(
    ("name", "value"),
    [("DISK", "-1"), ("RUNS_A_DAY", "many"), ("RUNS_KEPT", "1e3")]
    + [("MINUTES", value) for value in ("", "nan", "inf", "0", "-5")],
)
def test_the_app_does_not_start_with_an_invalid_limit(name, value, monkeypatch):
    monkeypatch.setenv(f"VSDEMO_TRAINING_{name}", value)
    with pytest.raises(UserError, match=rf"VSDEMO_TRAINING_{name}=.* is not valid"):
        ui.launch(free_port(), prevent_thread_lock=True, quiet=True)
