"""The replay of a recorded training: its callbacks and its page."""

import json
import re

import gradio as gr
import pytest
from playwright.sync_api import expect

from tests.support.pages import PAGE, merged
from vsdemo.core.event_reader import reader_for
from vsdemo.core.paths import ROOT
from vsdemo.data.datasets.storybook import Storybook
from vsdemo.ui import callbacks
from vsdemo.ui.library import Library
from vsdemo.ui.training import watched
from vsdemo.ui.training.replay import PAUSE, PLAY, ReplayPanel

NAME = "storybook/gru"
drawn = []  # pictures that the panel wanted


@pytest.fixture
def panel(monkeypatch, tmp_path):
    """The panel over what ships; nothing is drawn."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(ROOT / "checkpoints"))
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    monkeypatch.setattr(Storybook, "generate", lambda self, photos: drawn.extend(photos))
    drawn.clear()
    with gr.Blocks():
        return ReplayPanel(Library())


def run(panel, callback, *inputs):
    return merged(callbacks.report_errors(panel.note)(callback)(PAGE, *inputs))


def events():
    return list(reader_for(ROOT / "checkpoints" / NAME / "events.jsonl").read())


def test_every_model_of_storybook_with_evaluations_can_be_replayed(panel):
    assert NAME in panel.recorded
    for name in panel.recorded:
        shown = run(panel, panel.begin, name)
        assert "before training" in shown[panel.results]
        assert shown[panel.place]["maximum"] >= 2


def test_it_begins_before_the_first_step_and_draws_what_will_be_shown(panel):
    shown = run(panel, panel.begin, NAME)
    assert shown[panel.place]["value"] == 0
    assert "epoch" not in shown[panel.results]
    assert shown[panel.timer].active is False
    wanted = watched.photos(events(), 0)
    assert [int(path.stem) for path in drawn] == [
        int(Storybook().photos("dev")[number].stem) for number in wanted
    ]


def test_a_dropdown_that_loses_the_focus_does_not_begin_again(panel):
    begun = run(panel, panel.begin, NAME)[panel.begun]
    assert list(panel.begin(NAME, None, begun)) == []
    other = next(name for name in panel.recorded if name != NAME)
    assert run(panel, panel.begin, other, None, begun)[panel.begun] == other


def test_it_advances_to_its_end_and_stops(panel):
    ends = watched.evaluations(events())
    for place in range(len(ends) - 1):
        shown = run(panel, panel.advance, NAME, place, 0)
        assert shown[panel.place] == place + 1
        assert f"epoch {place + 1}" in shown[panel.results]
        steps = json.loads(shown[panel.curves])
        assert steps
    stopped = run(panel, panel.advance, NAME, len(ends) - 1, 0)
    assert stopped[panel.timer].active is False
    assert stopped[panel.play]["value"] == PLAY


def test_the_button_plays_and_pauses(panel):
    last = len(watched.evaluations(events())) - 1
    playing = run(panel, panel.toggle, NAME, 3, 0, None, PLAY)
    assert playing[panel.timer].active is True
    assert playing[panel.play]["value"] == PAUSE
    assert playing[panel.place] == 4
    assert playing[panel.results] == run(panel, panel.show, NAME, 4, 0)[panel.results]
    assert run(panel, panel.toggle, NAME, last, 0, None, PLAY)[panel.place] == 0
    paused = run(panel, panel.toggle, NAME, 3, 0, None, PAUSE)
    assert paused[panel.timer].active is False
    assert panel.place not in paused


def test_beside_another_training_it_is_opened_at_its_end(panel):
    shown = merged(panel.open("8 dimensions", "many pictures"))
    last = len(watched.evaluations(list(reader_for(panel.recorded["8 dimensions"]).read()))) - 1
    assert shown[panel.place]["value"] == shown[panel.place]["maximum"] == last > 0
    assert shown[panel.other] == "many pictures"
    assert merged(panel.open(NAME, None))[panel.place]["value"] == 0


def test_the_other_training_is_shown_up_to_the_same_epoch(panel):
    def evaluations(place):
        curves = json.loads(run(panel, panel.show, "storybook/vse", place, 0, NAME)[panel.curves])
        return [len(shown["dev"]["rsum"]["x"]) for shown in curves["runs"]]

    assert evaluations(1) == [1, 5]  # at epoch 5: one model is evaluated every five epochs
    assert evaluations(6) == [6, 12]  # both are at their end


@pytest.mark.parametrize("name", [None, "", "../x", "flickr8k/gru"])
def test_other_names_change_nothing(panel, name):
    for update in (
        run(panel, panel.begin, name),
        run(panel, panel.show, name, 0, 0),
        run(panel, panel.advance, name, 0, 0),
        run(panel, panel.toggle, name, 0, 0, None, PLAY),
    ):
        assert panel.results not in update
        assert panel.timer not in update


def test_pictures_are_drawn_before_they_are_shown(visit, fresh_app):
    page = visit(fresh_app, "?tab=train")
    page.get_by_role("button", name="Replay a recorded training").click()
    pictures = page.locator("#replay-results img")
    expect(pictures.first).to_be_visible()
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0


def test_the_address_names_what_is_replayed(visit):
    page = visit(path="?tab=train&replay=8+dimensions&beside=many+pictures")
    names = page.locator("#replay-curves .curves .runs li")
    expect(page.locator("#replay-results img").first).to_be_visible()
    page.locator("#replay-curves").scroll_into_view_if_needed()
    expect(names).to_have_count(2)
    expect(page).to_have_url(re.compile(r"replay=8\+dimensions&beside=many\+pictures"))
    page.locator("#replay-other input").click()
    page.get_by_role("option", name="no other training").click()
    expect(names).to_have_count(1)
    expect(page).not_to_have_url(re.compile("beside="))
    expect(page).to_have_url(re.compile(r"replay=8\+dimensions"))
    page.get_by_role("tab", name="Sentences").click()
    expect(page).to_have_url(re.compile("tab=sentences"))
    page.get_by_role("tab", name="Train").click()
    expect(page).to_have_url(re.compile(r"replay=8\+dimensions(?!.*beside)"))
    expect(names).to_have_count(1)
    page.go_back()
    page.go_back()
    page.go_back()
    expect(page).to_have_url(re.compile("beside="))
    expect(names).to_have_count(2)
