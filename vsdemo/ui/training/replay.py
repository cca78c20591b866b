"""The panel that replays a recorded training: that of a checkpoint that ships."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from vsdemo.core.event_reader import reader_for
from vsdemo.core.events import Event
from vsdemo.data import datasets
from vsdemo.models import checkpoint, checkpoint_names
from vsdemo.plots.curves import curves
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import LATEST, NEWEST, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.widgets import chip, clickable_html, note_html
from vsdemo.ui.library import Library
from vsdemo.ui.training import watched
from vsdemo.ui.training.curves import curves_widget, to_json

LABEL = "Replay a recorded training"
ABOUT = (
    "The trainings of models that ship, as they were recorded: the curves, and the photos that the "
    "model found for the same sentences after each evaluation."
)
DRAWING = "Drawing the pictures of this training"
PLAY, PAUSE = "Play", "Pause"
SECONDS = 1.0  # between two evaluations
FEWEST = 3  # evaluations of a training that is worth a replay
MAX_WATCHED = 100  # sentences


class ReplayPanel:
    """The panel, collapsed by default.

    Args:
        library: Models and galleries.
    """

    def __init__(self, library: Library) -> None:
        self.library, self.recorded = library, recorded()
        names = list(self.recorded)
        with gr.Accordion(LABEL, open=False, elem_id="replay", elem_classes="tree") as self.panel:
            gr.HTML(html.note(ABOUT))
            with gr.Row(elem_classes="replay-row"):
                self.choice = gr.Dropdown(
                    names, value=names[0] if names else None, label="Training", elem_id="replay-run"
                )
                self.place = gr.Slider(0, 1, 0, step=1, label="Evaluation", elem_id="replay-place")
                self.play = chip(PLAY, elem_id="replay-play")
            self.note = note_html(html.note(""))
            with gr.Row(elem_classes="watching"):
                with gr.Column(scale=6, min_width=320):
                    self.results = clickable_html("replay-results")
                with gr.Column(scale=7, min_width=320):
                    self.curves = curves_widget("Curves of the recorded training", "replay-curves")
        self.sentence = gr.State(0)
        self.timer = gr.Timer(SECONDS, active=False)

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change."""
        shown = [self.place, self.play, self.note, self.results, self.curves]
        return [*shown, self.sentence, self.timer]

    def connect(self) -> None:
        """Connect the events of the panel."""
        guard = callbacks.report_errors(self.note, "replay")
        inputs, outputs = [self.choice, self.place, self.sentence], self.outputs
        for event in (self.panel.expand, self.choice.input):
            event(guard(self.begin), [self.choice], outputs, **NEWEST)
        self.place.input(guard(self.show), inputs, outputs, **LATEST)
        self.play.click(guard(self.toggle), [self.choice, self.place, self.play], outputs, **NEWEST)
        self.timer.tick(guard(self.advance), inputs, outputs, **LATEST)
        self.results.select(guard(self.choose_sentence), inputs[:2], outputs, **NEWEST)

    def begin(self, name: str | None) -> Updates:
        """Show a training as it was before its first step."""
        if name in self.recorded:
            events = self._events(name)
            last = len(watched.evaluations(events)) - 1
            yield {
                **self._shown(events, name, 0, 0),
                self.place: gr.update(value=0, maximum=last),
                self.sentence: 0,
                **self._buttons(is_playing=False),
            }
            yield from self._draw(events, name, 0)

    def show(self, name: str | None, place: int, sentence: int) -> Updates:
        """Show a training at an evaluation."""
        if name in self.recorded:
            events = self._events(name)
            yield self._shown(events, name, place, sentence)
            yield from self._draw(events, name, sentence)

    def toggle(self, name: str | None, place: int, label: str) -> Updates:
        """Play, from the beginning if it is at its end, or pause."""
        if name not in self.recorded:
            return
        last = len(watched.evaluations(self._events(name))) - 1
        is_playing = label == PLAY
        update = self._buttons(is_playing=is_playing)
        if is_playing and place >= last:
            update[self.place] = 0
        yield update

    def advance(self, name: str | None, place: int, sentence: int) -> Updates:
        """Go to the next evaluation; stop at the last."""
        if name not in self.recorded:
            return
        events = self._events(name)
        last = len(watched.evaluations(events)) - 1
        if place >= last:
            yield self._buttons(is_playing=False)
            return
        yield {self.place: place + 1, **self._shown(events, name, place + 1, sentence)}

    def choose_sentence(self, name: str | None, place: int, event: gr.EventData) -> Updates:
        """Show the photos of another watched sentence."""
        number = callbacks.clicked_number(event, MAX_WATCHED)
        yield {self.sentence: number}
        yield from self.show(name, place, number)

    def _events(self, name: str) -> list[Event]:
        return list(reader_for(self.recorded[name] / "events.jsonl").read())

    def _draw(self, events: Sequence[Event], name: str, sentence: int) -> Updates:
        """Draw what is missing of the photos that will be shown."""
        gallery = self.library.dev(checkpoint.read_spec(self.recorded[name]).dataset)
        if gallery is None:
            return
        paths = [gallery.photos[number] for number in watched.photos(events, sentence)]
        if not all(path.exists() for path in paths):
            yield {self.note: html.progress(DRAWING)}
            datasets.find(gallery.name).generate(paths)
            yield {self.note: ""}

    def _shown(self, events: list[Event], name: str, place: int, sentence: int) -> Update:
        """Return the curves and photos of a training up to an evaluation."""
        ends = watched.evaluations(events)
        until = events[: ends[min(place, len(ends) - 1)] + 1]
        gallery = self.library.dev(checkpoint.read_spec(self.recorded[name]).dataset)
        address = images.addresses(gallery.token if gallery else "")
        return {
            self.note: "",
            self.curves: to_json(curves({name: until})),
            self.results: watched.results(until, sentence, address, is_alive=False),
        }

    def _buttons(self, *, is_playing: bool) -> Update:
        label = PAUSE if is_playing else PLAY
        return {self.play: gr.update(value=label), self.timer: gr.Timer(active=is_playing)}


def recorded() -> dict[str, Path]:
    """Return the checkpoints that ship with a record worth a replay, by name.

    They are those over pictures that are always available.
    """
    trainings = {}
    for name, folder in checkpoint_names.shipped().items():
        events = folder / "events.jsonl"
        if not events.is_file() or events.read_text("utf-8").count('"watched"') < FEWEST:
            continue
        if datasets.is_generated(checkpoint.read_spec(folder).dataset):
            trainings[name] = folder
    return trainings
