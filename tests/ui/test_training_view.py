"""The HTML of the tab Train: runs, their progress and the photos they retrieve."""

import json
import re
from itertools import count

import pytest

from tests.support.hostile import HOSTILE, check_escaped
from tests.support.pages import PAGE, tab_of, template_html
from vsdemo.training.jobs.jobs import Run
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.requirements import Check
from vsdemo.ui.components.html import duration
from vsdemo.ui.training import view, watched
from vsdemo.ui.training.curves import curves_widget
from vsdemo.ui.training.facts import facts
from vsdemo.ui.training.run_table import run_table
from vsdemo.ui.training.state import TrainState
from vsdemo.ui.training.status import KILLED, log, status
from vsdemo.ui.training.tab import TrainTab

START = {"kind": "start", "step": 0, "time": 0.0, "steps": 2000}
STEP = {"kind": "step", "step": 500, "time": 100.0, "loss": 1.0}
BEST = {"kind": "checkpoint", "step": 500, "time": 100.0, "rsum": 312.44}
DONE = {"kind": "done", "step": 2000, "time": 400.0, "seconds": 400.0}


@pytest.fixture
def make_run(monkeypatch, tmp_path):
    """Return a function that makes a run, whose process is not alive."""
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    numbers = count()

    def make_run(events=(), *, name="bow-1", log_text="", dataset="toy", settings=()):
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        (folder / "events.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))
        (folder / "log.txt").write_text(log_text)
        spec = JobSpec("bow", dataset=dataset, settings=tuple(settings))
        return Run(name, folder, spec, started=1e9)

    return make_run


def test_a_tick_does_not_undo_what_was_chosen_meanwhile(make_run, monkeypatch):
    runs = [make_run(name=name) for name in ("first", "second")]
    monkeypatch.setattr("vsdemo.ui.training.tab.jobs.list_runs", lambda: runs)
    monkeypatch.setattr("vsdemo.ui.training.tab.jobs.current", lambda: None)
    tab = tab_of(TrainTab)
    first = tab.tick(TrainState(), {}, PAGE)
    assert first[tab.state].shown == ("first",)  # without a choice, the newest run
    later = tab.tick(first[tab.state], {}, PAGE)
    assert tab.state not in later
    assert tab.list in later


def address(number, size):
    return f"photo/a/{number}/{size}"


def plain(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).strip()


def evaluation(epoch, *sentences, rank=2):
    items = [
        {"sentence": s, "photos": [7, 3], "own": {"photo": 3, "rank": rank}} for s in sentences
    ]
    return {"kind": "eval", "step": 1, "time": 1.0, "epoch": epoch, "watched": items}


def test_own_photos_are_found_by_their_content():
    event = evaluation(1, "a dog")
    event["watched"][0]["keys"] = ["x", "y"]
    shown = retrieved(event, keys=["new", "y", "x"])
    assert re.findall(r"photo/a/(\d)/small", shown) == ["2", "1"]
    assert re.findall(r"photo/a/(\d)/small", retrieved(event, keys=["y"])) == ["0"]
    assert "Rank 2: a dog" in retrieved(event, keys=["y"])


def retrieved(*events, **options):
    return watched.results(events, 0, address, **{"is_alive": True, **options})


@pytest.mark.parametrize(
    "page",
    [
        view.command,
        lambda text: view.checks([Check(True, text), Check(False, text)]),
        lambda text: retrieved(evaluation(1, text)),
        lambda text: retrieved(evaluation(text, "a dog")),
        lambda text: retrieved(evaluation(1, "a dog", rank=text)),
        lambda text: watched.results(
            [evaluation(1, "a dog")], 0, lambda number, size: text, is_alive=True
        ),
        lambda text: template_html(curves_widget(text)),
    ],
)
def test_html_is_escaped(page):
    check_escaped(page)


def test_runs_are_escaped(make_run):
    def failed(text):
        best = {"kind": "checkpoint", "step": 1, "time": 1.0, text: 1.0}
        error = {"kind": "error", "step": 1, "time": 1.0, "message": text}
        return make_run([START, best, error], name=text, dataset=text, settings=[text])

    def busy(text):
        return make_run(log_text=f"{text}:  50%|#####     | 1/2 [00:01<00:01]")

    check_escaped(lambda text: run_table([failed(text)], [text], [text]))
    check_escaped(lambda text: status(failed(text), "failed", 0.0, is_own=True))
    check_escaped(lambda text: status(busy(text), "preparing", 0.0, is_own=True))
    check_escaped(lambda text: log(make_run(log_text=f"{text}\n{text}")))
    html = status(failed(HOSTILE), "failed", 0.0, is_own=True)
    assert html.count("&lt;img") == 3  # name, reason, metric


def test_the_status_states_progress_and_offers_what_is_possible(make_run):
    run = make_run([START, STEP, BEST])
    training = status(run, "training", 100.0, is_own=True)
    assert '<progress max="2000" value="500" aria-label="steps">' in training
    assert "step 500 of 2,000 · best on dev so far: rsum 312.4 · about 5 min left" in training
    assert 'href="runs/bow-1/events.csv"' in training
    killed = status(run, "killed", 100.0, is_own=True)
    assert KILLED in killed
    assert plain(killed).endswith("best on dev: rsum 312.4 Resume CSV")
    (run.folder / "model.safetensors").touch()
    done = status(run, "done", 100.0, is_own=True)
    assert plain(done).endswith("Use in Search CSV")
    assert "<progress" not in done


def test_the_status_reads_the_progress_bar_of_the_log(make_run):
    run = make_run(log_text="reading photos:  50%|#####     | 1/2 [00:01<00:01]")
    assert "reading photos: 1 of 2" in status(run, "preparing", 0.0, is_own=True)
    assert "Starting …" in status(make_run(), "preparing", 0.0, is_own=True)
    assert "Evaluating …" in status(make_run(), "measuring", 0.0, is_own=True)


def test_the_facts_of_an_ended_run_have_its_duration():
    assert facts([START, BEST, DONE], "done", 999.0) == [
        *("step 2,000 of 2,000", "best on dev: rsum 312.4", "trained for 6 min")
    ]
    assert facts([START], "training", 1.0) == ["step 0 of 2,000", "almost done"]
    assert facts([], "preparing", 1.0) == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (89, "89 s"), (90, "1 min"), (5399, "89 min"), (9000, "2.5 h")],
)
def test_durations_are_rounded_to_a_readable_unit(seconds, text):
    assert duration(seconds) == text


def test_the_log_shows_its_end(make_run):
    lines = [f"line {n}" for n in range(20)]
    html = log(make_run(log_text="\n".join(lines)))
    assert html == '<pre class="log" tabindex="0">{}</pre>'.format("\n".join(lines[-12:]))
    assert log(make_run()) == ""


def test_runs_are_listed_with_what_can_be_done(make_run):
    first = make_run([START, BEST, DONE], name="bow-2", settings=["dim=8", "seed=1"])
    second = make_run(name="bow-1", dataset=None)
    html = run_table([first, second], ["bow-2"], ["bow-1", "bow-2"])
    assert re.findall('aria-pressed="(.*?)"', html) == ["true", "false"]
    assert re.findall("<code>(.*?)</code>", html) == ["dim=8 seed=1", "nothing"]
    assert "<td>toy</td>" in html
    assert "<td>its own</td>" in html
    assert "<td>rsum 312.4</td>" in html
    assert "<td></td>" in html  # no metric yet
    names = re.findall('data-name="(.*?)" class="(?:pick|text-button)" data-event="(.*?)"', html)
    events = ("select", "apply", "delete")
    assert names == [(name, event) for name in ("bow-2", "bow-1") for event in events]
    assert "No runs yet" in run_table([], [], [])


def test_a_live_run_cannot_be_deleted(make_run, monkeypatch):
    monkeypatch.setattr(Run, "state", "training")
    html = run_table([make_run()], [], ["bow-1"])
    assert "Delete" not in html
    assert '<span class="state training">training</span>' in html


def test_retrieved_photos_are_listed_by_evaluation():
    first = {**evaluation(1, "A dog , wet .", "a cat")}
    del first["epoch"]
    html = retrieved(first, {"kind": "step"}, evaluation(1, "A dog , wet .", "a cat"))
    assert re.findall("<h2>([^<]*)<", html) == ["epoch 1", "before training"]
    assert re.findall('aria-pressed="(.*?)">(.*?)<', html) == [
        *(("true", "A dog, wet."), ("false", "a cat"))
    ]
    assert re.findall('src="(.*?)" alt="(.*?)"', html) == 2 * [
        ("photo/a/7/small", "Rank 1: another photo"),
        ("photo/a/3/small", "Rank 2: A dog, wet."),
    ]
    assert html.count('<li class="right">') == 2
    assert html.count("its photo: rank 2") == 2
    assert "its photo" not in retrieved(evaluation(1, "a dog", rank=None))
    assert "after the first evaluation" in retrieved()
    assert retrieved(is_alive=False) == ""


def test_of_many_evaluations_the_early_ones_are_kept():
    assert watched.thin_out(range(3)) == [0, 1, 2]
    assert watched.thin_out(range(40)) == [0, 1, 2, 3, 4, 8, 16, 32, 39]
