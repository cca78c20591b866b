"""Strangers who train on a public server: each sees and changes only the runs that are theirs."""

import json
import shutil
import sys
import time

import pytest

from tests.support import fake_trainer
from tests.support.event_client import Visitor
from tests.support.fake_trainer import wait_for
from tests.support.serving import collect_sockets, free_port
from vsdemo import ui
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
SENTENCE = "one red bar"
PLAN = ("bow/lesson", "toy", SENTENCE, False)
WATCHED = [{"sentence": SENTENCE, "photos": [0], "own": None}]
LIMITS = {"RUNS_A_DAY": "4", "RUNS_KEPT": "2", "MINUTES": "7"}


@pytest.fixture(scope="module")
def server(toy_checkpoint, tmp_path_factory):
    """Serve the app to strangers who may train, with a fake trainer; yield it with its address."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copytree(toy_checkpoint, folder / "checkpoints" / "toy" / "gru")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_HOME", str(folder / "home"))
        patch.setenv("VSDEMO_CHECKPOINTS", str(folder / "checkpoints"))
        patch.setenv("GRADIO_SERVER_NAME", "127.0.0.1")
        patch.setenv("VSDEMO_ALLOW_TRAINING", "1")
        for name, value in LIMITS.items():
            patch.setenv(f"VSDEMO_TRAINING_{name}", value)
        patch.setattr(sys, "executable", fake_trainer.program(folder / "programs"))
        port = free_port()
        demo = ui.launch(port, prevent_thread_lock=True, quiet=True)
        yield demo, f"http://127.0.0.1:{port}/"
        demo.close()
    collect_sockets()


@pytest.fixture
def visitors(server):
    """Return a function that makes a visitor; afterwards no run is left."""
    made = []

    def visitor(*, has_cookie=True):
        made.append(Visitor(*server, has_cookie=has_cookie))
        return made[-1]

    yield visitor
    for each in made:
        each.http.close()
    if run := jobs.current():
        fake_trainer.kill(run)
    shutil.rmtree(jobs.root(), ignore_errors=True)


def train(visitor):
    """Start a run that searches photos for a sentence, and return it."""
    visitor.send("train", None, None, *PLAN)
    run = jobs.current()
    assert run is not None
    wait_for(lambda: run.events)
    searched = {"kind": "eval", "step": 1, "time": time.time(), "watched": WATCHED}
    with (run.folder / "events.jsonl").open("a") as file:
        file.write(json.dumps(searched) + "\n")
    return run


@pytest.mark.parametrize("has_cookie", [True, False])
def test_only_the_owner_of_a_run_sees_stops_resumes_and_deletes_it(visitors, has_cookie):
    owner, other = visitors(has_cookie=has_cookie), visitors(has_cookie=has_cookie)
    run = train(owner)
    assert run.spec.minutes == 7
    files = [path.read_bytes() for path in run.folder.iterdir()]
    assert ("." in owner.token) is has_cookie
    assert not any(owner.token.encode() in content for content in files)
    look_from_afar(other, run)
    forge(other, run)
    assert run.state == "training"
    page = owner.send("show_run", name=run.name)
    assert SENTENCE in page
    assert 'data-event=\\"stop\\"' in page
    page = owner.send("stop")
    wait_for(lambda: not run.alive)
    assert run.state == "stopped"
    assert 'data-event=\\"play\\"' in page + owner.send("show_run", name=run.name)
    forge(other, run)
    assert run.state == "stopped"
    assert run.folder.is_dir()
    assert not (run.folder / "kept").exists()
    owner.send("resume")
    assert run.alive
    owner.send("stop")
    wait_for(lambda: not run.alive)
    owner.send("delete", name=run.name)
    assert jobs.list_runs() == []


def look_from_afar(other, run):
    """Check that another visitor gets nothing of a run."""
    for page in (
        other.send("tick"),
        other.send("show_run", name=run.name),
        other.send("toggle_run", name=run.name),
        open_run(other, run),
    ):
        assert SENTENCE not in page
        assert "training</span>" not in page
        assert 'data-event=\\"stop\\"' not in page
    assert other.http.get(f"runs/{run.name}/events.csv").status_code == 404


def open_run(visitor, run):
    """Open the address of a run, which is from then on the one that the page shows."""
    visitor.send("load", "", 12, query=f"?tab=train&run={run.name}")
    visitor.send("open_tab", 0, None, None, "toy-test", 12)  # Train is the last tab
    plan = ("bow/lesson", "toy", "another sentence", False)
    return visitor.send("show", None, None, None, *plan, widget="status")


def forge(other, run):
    """Send what the buttons of the owner's page send; each is refused in one sentence."""
    open_run(other, run)
    stopped = other.send("stop")
    if run.alive:
        assert f"Only the visitor who started {run.name} can stop it." in stopped
    for name in ("resume", "use"):
        assert f"There is no run &#39;{run.name}&#39;" in other.send(name)
    assert "There is no run" in other.send("delete", name=run.name)


def test_a_visitor_cannot_be_refused_by_a_stolen_session_name(visitors):
    """The session of a page is known to more people than the cookie, so the cookie counts."""
    owner, thief = visitors(), visitors(has_cookie=False)
    run = train(owner)
    thief.session = owner.session
    thief.send("stop")
    assert run.state == "training"


def test_runs_of_the_machines_owner_are_shown_without_buttons(visitors):
    run = jobs.start(JobSpec("obey", "toy"))
    wait_for(lambda: run.events)
    stranger = visitors()
    page = stranger.send("show_run", name=run.name)
    assert "training</span>" in page
    assert 'data-event=\\"stop\\"' not in page
    assert 'data-event=\\"delete\\"' not in page
    refused = stranger.send("stop")
    assert f"Only the visitor who started {run.name} can stop it." in refused
    assert "Another visitor is training" in stranger.send("train", None, None, *PLAN)
    fake_trainer.kill(run)
    for name, verb in (("resume", "resume"), ("use", "offer")):
        assert f"Only the visitor who started {run.name} can {verb} it." in stranger.send(name)
    assert "can delete it." in stranger.send("delete", name=run.name)
    assert stranger.http.get(f"runs/{run.name}/events.csv").status_code == 200
    assert jobs.list_runs() == [run]


def test_a_visitor_trains_a_few_times_a_day_and_few_runs_are_kept(visitors):
    one, two = visitors(), visitors()
    for _ in range(4):
        fake_trainer.kill(train(one))
    assert "This server allows 4 trainings a day" in one.send("train", None, None, *PLAN)
    assert "This server allows 4 trainings a day" in one.send("resume")
    started = [run.started for run in jobs.list_runs()]
    assert len(started) == 2
    fake_trainer.kill(train(two))
    left = jobs.list_runs()
    assert [run.started for run in left[1:]] == started[:1]  # the oldest one had to go
    assert len({run.owner for run in left}) == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dim": "1000000000"}, "GB of memory"),
        ({"word_dim": "1000000000"}, "GB of memory"),
        ({"dim": "200000"}, "This server allows 3.0 GB of memory; about "),
        ({"epochs": "1000000000", "snapshot_every": "1"}, "This server allows 1.0 GB on the disk"),
    ],
)
def test_trainings_that_are_too_large_are_refused(visitors, settings, message):
    visitor = visitors()
    visitor.send("change_form", *PLAN, settings=settings)
    page = visitor.send("train", None, None, *PLAN)
    assert message in page
    assert "are needed: choose a smaller" in page
    assert jobs.list_runs() == []


@pytest.mark.parametrize("sentence", ["x" * 2_000, "a\0b", "\ud800", "-", "--out=/tmp/x", "a\nb"])
def test_an_odd_sentence_to_watch_changes_no_other_option(visitors, sentence):
    page = visitors().send("train", None, None, "bow/lesson", "toy", sentence, False)
    assert "Something went wrong" not in page
    if run := jobs.current():
        assert [sentence.strip()] == list(run.spec.watched)


def test_odd_requests_are_answered_in_one_sentence(visitors):
    visitor = visitors()
    for name in ("../x", "", None, 5, ["bow-1"], {"a": 1}, "\ud800", "x" * 5000, "%2e%2e"):
        for event in ("show_run", "toggle_run", "delete"):
            page = json.dumps(visitor.send(event, name=name))
            assert "There is no run" in page
            assert "Traceback" not in page
