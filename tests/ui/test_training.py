"""The tab Train in a browser: training, simultaneous visitors and crashes."""

import json
import os
import re
import shutil
import signal
import time
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.support.model_menu import chosen_model
from tests.support.pages import english
from tests.support.training_app import SLOW, choose, expect_state, ready, serving, train
from tests.ui.conftest import DESKTOP
from vsdemo.core import locks
from vsdemo.serving import access
from vsdemo.serving.training_limits import training_minutes
from vsdemo.ui import build
from vsdemo.ui.components import labels
from vsdemo.ui.library import Library

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
PHONE = {"width": 390, "height": 844}
LONG = {"epochs": 100_000, "patience": 100_000, "evaluate_every": 50}  # until it is stopped


@pytest.fixture(scope="module")
def checkpoints(toy_checkpoint, tmp_path_factory):
    root = tmp_path_factory.mktemp("checkpoints")
    shutil.copytree(toy_checkpoint, root / "toy" / "gru")
    return root


@pytest.fixture(scope="module")
def app(checkpoints, tmp_path_factory):
    with serving(tmp_path_factory.mktemp("home"), checkpoints) as app:
        yield app


@pytest.fixture
def visit(browser):
    """Open the tab; afterwards no script failed and no other host was contacted."""
    contexts, requests, errors = [], [], []

    def visit(app, path="?tab=train", viewport=DESKTOP):
        context = browser.new_context(viewport=viewport)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(app.url + path)
        return page

    yield visit
    for context in contexts:
        context.close()
    local = ("http://127.0.0.1:", "data:", "blob:")
    assert [url for url in requests if not url.startswith(local)] == []
    assert errors == []


def test_a_model_is_trained_and_used_in_search(app, visit):
    page = visit(app)
    ready(page)
    page.get_by_label("A sentence to watch").fill("one red bar")
    page.get_by_label("A sentence to watch").press("Tab")
    expect(page.locator("#command")).to_contain_text("--watch=one red bar")
    train(page)
    expect_state(page, "done", "bow-lesson-1")  # it may have trained between two updates
    rows = page.locator("#watched-results .watched-results > li")
    expect(rows.first.locator("h2")).to_contain_text("epoch 60")
    expect(rows.last.locator("h2")).to_contain_text("before training")
    images = page.locator("#watched-results img")
    expect(images).to_have_count(5 * rows.count())
    assert images.first.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    ranks = page.locator("#watched-results h2 .note")
    assert ranks.count() == 0  # a visitor's own sentence belongs to no photo
    page.locator("#watched-results .chip").nth(1).click()
    expect(ranks.first).to_contain_text("its photo: rank")
    expect(page.locator("#curves .plot svg").first).to_be_visible()
    expect(page.locator("#runs tr")).to_have_count(2)
    csv_text = urllib.request.urlopen(app.url + "runs/bow-lesson-1/events.csv").read().decode()
    assert csv_text.startswith("kind,step,time,")
    assert "\neval," in csv_text
    page.get_by_role("button", name="Use in Search").click()
    expect(chosen_model(page)).to_have_text("bow-lesson-1")
    expect(page.get_by_label("Gallery")).to_have_value(re.compile("^toy test"))
    expect(page.locator("#grid img").first).to_be_visible()
    expect(page).to_have_url(re.compile("model=bow-lesson-1"))
    other = visit(app, "?model=bow-lesson-1")  # every visitor can choose it
    expect(chosen_model(other)).to_have_text("bow-lesson-1")


@pytest.mark.long
def test_two_visitors_start_one_run(app, visit):
    pages = [visit(app), visit(app)]
    for page in pages:
        ready(page, **LONG)
    before = len(list(app.runs.glob("*/run.json")))
    for page in pages:
        page.evaluate("document.querySelector('#train').click()")
    refused = [page.locator(".notes .problem", has_text="one run at a time") for page in pages]
    expect(refused[0].or_(pages[0].locator("#status .training"))).to_be_visible(timeout=SLOW)
    for page in pages:  # both see the running training, also the visitor who was refused
        expect_state(page, "training")
    assert len(list(app.runs.glob("*/run.json"))) == before + 1
    assert sum(problem.count() for problem in refused) == 1
    # The run is still there after a reload; a stop by one visitor is seen by the other.
    pages[0].reload()
    expect_state(pages[0], "training")
    pages[0].get_by_role("button", name="Stop").click()
    for page in pages:
        expect_state(page, "stopped")
    pages[1].get_by_role("button", name="Resume").click()
    expect_state(pages[1], "training")
    expect_state(pages[0], "training")  # the other page follows within seconds
    app.trainer().send_signal(signal.SIGKILL)
    expect_state(pages[0], "stopped unexpectedly")
    expect(pages[0].get_by_role("button", name="Resume")).to_be_visible()


@pytest.mark.long
def test_a_run_outlives_the_app(checkpoints, visit, tmp_path):
    with serving(tmp_path, checkpoints) as app:
        page = visit(app)
        ready(page, **LONG)
        train(page)
        expect_state(page, "training")
        app.kill()
        log = app.runs / "bow-lesson-1" / "events.jsonl"
        size = log.stat().st_size
        app.begin()
        page = visit(app)
        expect_state(page, "training", "bow-lesson-1")
        assert log.stat().st_size > size
        trainer = app.trainer()
        # The page reports that the folder was removed, and the trainer ends by itself.
        shutil.rmtree(app.runs / "bow-lesson-1", ignore_errors=True)
        removed = page.get_by_text("No longer available: bow-lesson-1")
        expect(removed.or_(page.get_by_text("folder removed"))).to_be_visible(timeout=SLOW)
        if trainer:
            trainer.wait(30)
        train(page)
        expect_state(page, "preparing|training")


@pytest.mark.long
def test_events_appear_on_the_page_within_two_seconds(app, visit):
    """The process of the run is this one, and the test writes its events."""
    folder = app.runs / "by-hand-1"
    folder.mkdir(parents=True)
    plan = {"preset": "bow", "dataset": "toy", "settings": [], "watched": []}
    (folder / "run.json").write_text(json.dumps({"plan": plan, "begun": time.time()}))
    log = (folder / "events.jsonl").open("a", buffering=1)
    with locks.holding(folder / "pid"), log:
        start = {"kind": "start", "step": 0, "time": time.time(), "steps": 1000}
        log.write(json.dumps(start) + "\n")
        page = visit(app)
        expect_state(page, "training", "by-hand-1")
        waits = []
        for step in range(10, 60, 10):
            event = {"kind": "step", "step": step, "time": time.time(), "loss": 1 / step}
            log.write(json.dumps(event) + "\n")
            began = time.monotonic()
            expect(page.locator("#status")).to_contain_text(f"step {step} of 1,000")
            waits.append(time.monotonic() - began)
            time.sleep(0.3)
    shutil.rmtree(folder)
    assert sorted(waits)[2] < 2, waits  # the median, since other tests may slow the machine down


def test_fifty_runs_are_listed_compared_and_deleted(app, visit):
    here = len(list(app.runs.glob("*/run.json")))
    events = [{"kind": "start", "step": 0, "time": 1, "steps": 20}]
    events += [{"kind": "step", "step": n, "time": 1 + n, "loss": 1 / n} for n in range(1, 20)]
    events += [{"kind": "done", "step": 20, "time": 30, "seconds": 29}]
    for number in range(50):
        folder = app.runs / f"old-{number}"
        folder.mkdir(parents=True)
        plan = {"preset": "bow", "dataset": "toy", "settings": [f"seed={number}"], "watched": []}
        (folder / "run.json").write_text(json.dumps({"plan": plan, "begun": 1e9 + number}))
        (folder / "events.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))
        (folder / "exit").write_text("0\n")
    page = visit(app, "?tab=train&run=old-49")
    expect_state(page, "done", "old-49")
    rows = page.locator("#runs tr")
    expect(rows).to_have_count(1 + here + 50)
    expect(rows.nth(1 + here)).to_contain_text("old-49")  # the newest first
    for number in (48, 47):
        page.get_by_label(f"Compare old-{number}", exact=True).click()
        pressed = page.get_by_label(f"Compare old-{number}", exact=True)
        expect(pressed).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#curves .runs li")).to_have_count(3)
    page.get_by_label("Delete old-40", exact=True).click()
    expect(rows).to_have_count(here + 50)
    assert not (app.runs / "old-40").exists()
    assert len(list(app.runs.glob("old-*/run.json"))) == 49


def test_the_form_sets_the_command_and_refuses_bad_values(app, visit):
    page = visit(app)
    ready(page, batch_size=12)
    page.locator("#set-batch_size").fill("1")
    page.locator("#set-batch_size").press("Tab")
    problem = page.locator(".notes .problem")
    expect(problem).to_contain_text("batch_size must be a whole number from 2")
    train(page)
    expect(problem).to_contain_text("is invalid")
    choose(page, "Preset", "hypernyms/toy")
    expect(page.locator("#command")).to_contain_text("train hypernyms/toy")
    expect(page.get_by_label("A sentence to watch")).to_be_disabled()


def test_the_command_follows_a_preset_that_needs_other_data(app, visit):
    page = visit(app)
    ready(page)
    choose(page, "Data", "storybook")
    expect(page.locator("#command")).to_contain_text("--data storybook")
    choose(page, "Preset", "hypernyms/toy")
    expect(page.locator("#command")).to_contain_text(re.compile("train hypernyms/toy .*--data toy"))
    page.wait_for_timeout(1000)
    expect(page.locator(".notes .problem")).to_have_count(0)


@pytest.mark.parametrize("allowed", [False, True])
def test_a_public_server_trains_only_if_allowed(checkpoints, monkeypatch, tmp_path, allowed):
    for name, value in (("VSDEMO_CHECKPOINTS", checkpoints), ("VSDEMO_HOME", tmp_path)):
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("SPACE_ID", "somebody/vsdemo")
    monkeypatch.setenv("VSDEMO_ALLOW_TRAINING", "1" if allowed else "")
    demo, page = build(Library())
    callbacks = [fn.name for fn in demo.fns.values()]
    assert [name in callbacks for name in ("train", "delete", "toggle_run")] == [allowed] * 3
    texts = labels.translations().translations["en"]
    note = texts.get(english(page.tabs["train"].note.value), "")
    assert ("Training is disabled on this public server" in note) != allowed


def test_a_public_server_limits_the_time_of_a_training(monkeypatch):
    monkeypatch.setattr(os, "environ", {"SPACE_ID": "x", "VSDEMO_ALLOW_TRAINING": "1"})
    assert access.training_allowed()
    assert training_minutes() == 10
    monkeypatch.setitem(os.environ, "VSDEMO_TRAINING_MINUTES", "3")
    assert training_minutes() == 3
    monkeypatch.setattr(os, "environ", {})
    assert (access.training_allowed(), training_minutes()) == (True, None)


def test_a_run_name_is_never_a_path(app):
    for name in ("../home", "..", "%2e%2e", "bow-lesson-1%00", "."):
        with pytest.raises((urllib.error.HTTPError, ValueError)):
            urllib.request.urlopen(f"{app.url}runs/{name}/events.csv")


def test_every_tab_fits_on_a_phone(app, visit):
    page = visit(app, viewport=PHONE)
    for name in ("Search", "Describe", "Align", "Sentences", "Compare", "Hierarchy", "Train"):
        expect(page.get_by_role("tab", name=name, exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
