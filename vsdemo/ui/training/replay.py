"""The panel that replays a recorded training, beside another one if that is chosen.

Recorded are the trainings of checkpoints that ship, and short ones that answer what-if questions:
they differ from each other in one setting (and, with few pictures, in epochs and dropout).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.event_reader import reader_for
from vsdemo.core.events import Event
from vsdemo.core.language import message, translate
from vsdemo.core.paths import ROOT
from vsdemo.data import datasets
from vsdemo.data.galleries import Gallery
from vsdemo.models import checkpoint, checkpoint_names
from vsdemo.plots.curves import curves
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import LATEST, NEWEST, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import choice, label, static
from vsdemo.ui.components.widgets import chip, clickable_html, note_html
from vsdemo.ui.library import Library
from vsdemo.ui.training import watched
from vsdemo.ui.training.curves import curves_widget, to_json

LABEL = message("Replay a recorded training")
ABOUT = message(
    "Trainings as they were recorded: the curves, and the photos that the model found for the same "
    "sentences after each evaluation. What if the margin, the negatives or the dimensions had been "
    "others? Choose such a training to compare with."
)
NONE = message("no other training")
RECORDINGS = ROOT / "checkpoints" / "recordings"
DRAWING = message("Drawing the pictures of this training")
PLAY, PAUSE = message("Play"), message("Pause")
SECONDS = 1.0  # between two evaluations
FEWEST = 3  # evaluations of a training that is worth a replay


class ReplayPanel:
    """The panel, collapsed by default.

    Args:
        library: Models and galleries.
    """

    def __init__(self, library: Library) -> None:
        self.library, self.recorded = library, recorded()
        names = list(self.recorded)
        choices = [(choice(name), name) for name in names]
        with gr.Accordion(
            label(LABEL), open=False, elem_id="replay", elem_classes="tree"
        ) as self.panel:
            gr.HTML(static(lambda: html.note(translate(ABOUT))))
            with gr.Row(elem_classes="replay-row"):
                self.choice = gr.Dropdown(
                    choices,
                    value=names[0] if names else None,
                    label=label("Training"),
                    elem_id="replay-run",
                )
                self.other = gr.Dropdown(
                    [(choice(NONE), NONE), *choices],
                    value=NONE,
                    label=label("Compare with"),
                    elem_id="replay-other",
                )
                self.place = gr.Slider(
                    0, 1, 0, step=1, label=label("Evaluation"), elem_id="replay-place"
                )
                self.play = chip(PLAY, elem_id="replay-play")
            self.note = note_html(html.note(""))
            with gr.Row(elem_classes="watching"):
                with gr.Column(scale=6, min_width=320):
                    self.results = clickable_html("replay-results")
                with gr.Column(scale=7, min_width=320):
                    self.curves = curves_widget(
                        message("Curves of the recorded training"), "replay-curves"
                    )
        self.sentence = gr.State(0)
        self.begun = gr.State("")  # the training whose replay has begun
        self.timer = gr.Timer(SECONDS, active=False)

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change."""
        shown = [self.place, self.play, self.note, self.results, self.curves]
        return [*shown, self.sentence, self.begun, self.timer]

    def connect(self) -> None:
        """Connect the events of the panel."""
        guard = callbacks.report_errors(self.note, "replay")
        # Ticks have a channel of their own: a late one does not stop the drawing of a new choice.
        tick = callbacks.report_errors(self.note, "replay tick", ended_by=["replay"])
        inputs = [self.choice, self.place, self.sentence, self.other]
        outputs = self.outputs
        choices = [self.choice, self.other]
        for event in (self.panel.expand, self.choice.input):
            event(guard(self.begin), [*choices, self.begun], outputs, **NEWEST)
        for event in (self.place.input, self.other.input):
            event(guard(self.show), inputs, outputs, **LATEST)
        self.play.click(guard(self.toggle), [*inputs, self.play], outputs, **NEWEST)
        self.timer.tick(tick(self.advance), inputs, outputs, **LATEST)
        choosing = [self.choice, self.place, self.other]
        self.results.select(guard(self.choose_sentence), choosing, outputs, **NEWEST)

    @property
    def opened(self) -> list[Any]:
        """Every widget that `open` may change."""
        return [self.panel, self.choice, self.other, *self.outputs]

    def open(self, name: str | None, other: str | None) -> Updates:
        """Open the panel with a training that an address names.

        Beside another one it is shown to its end, as both curves are to be compared.
        """
        if name in self.recorded:
            is_pair = other in self.recorded
            yield {
                self.panel: gr.Accordion(open=True),
                self.choice: name,
                self.other: other if is_pair else NONE,
            }
            yield from self._begin(name, other, self._last(name) if is_pair else 0)

    def begin(self, name: str | None, other: str | None = None, begun: str = "") -> Updates:
        """Show a training as it was before its first step, unless its replay has begun."""
        if name in self.recorded and name != begun:
            yield from self._begin(name, other, 0)

    def _begin(self, name: str, other: str | None, place: int) -> Updates:
        """Show another training, at an evaluation."""
        slider = gr.update(value=place, maximum=self._last(name))
        yield {
            self.place: slider,
            self.sentence: 0,
            self.begun: name,
            **self._buttons(is_playing=False),
        }
        yield from self.show(name, place, 0, other)
        yield {self.place: slider}  # the training before may have played on meanwhile

    def show(
        self, name: str | None, place: int, sentence: int, other: str | None = None
    ) -> Updates:
        """Show a training at an evaluation, beside another one."""
        if name in self.recorded:
            yield from self._draw(self._events(name), sentence)
            yield self._shown(name, place, sentence, other)

    def toggle(
        self, name: str | None, place: int, sentence: int, other: str | None, text: str
    ) -> Updates:
        """Play, from the beginning if it is at its end, or pause if that is the button's text.

        The first step comes at once, not when the timer ticks.
        """
        if name not in self.recorded:
            return
        if text == translate(PAUSE):
            yield self._buttons(is_playing=False)
            return
        place = 0 if place >= self._last(name) else place + 1
        yield from self._draw(self._events(name), sentence)
        yield {
            self.place: place,
            **self._shown(name, place, sentence, other),
            **self._buttons(is_playing=True),
        }

    def advance(
        self, name: str | None, place: int, sentence: int, other: str | None = None
    ) -> Updates:
        """Go to the next evaluation; stop at the last."""
        if name not in self.recorded:
            return
        if place >= self._last(name):
            yield self._buttons(is_playing=False)
            return
        yield {self.place: place + 1, **self._shown(name, place + 1, sentence, other)}

    def choose_sentence(
        self, name: str | None, place: int, other: str | None, event: gr.EventData
    ) -> Updates:
        """Show the photos of another watched sentence."""
        number = callbacks.clicked_number(event, watched.MAX_WATCHED)
        yield {self.sentence: number}
        yield from self.show(name, place, number, other)

    def _last(self, name: str) -> int:
        """Return the number of the last evaluation of a training."""
        return len(watched.evaluations(self._events(name))) - 1

    def _events(self, name: str) -> list[Event]:
        return list(reader_for(self.recorded[name]).read())

    def _until(self, name: str, place: int) -> list[Event]:
        """Return the events of a training up to an evaluation."""
        events = self._events(name)
        ends = watched.evaluations(events)
        return events[: ends[min(place, len(ends) - 1)] + 1]

    def _gallery(self, events: Sequence[Event]) -> Gallery | None:
        """Return the dev photos of a training."""
        dataset = next((str(e["dataset"]) for e in events if "dataset" in e), "")
        return self.library.dev(dataset)

    def _draw(self, events: Sequence[Event], sentence: int) -> Updates:
        """Draw the missing photos of a sentence; browsers do not try again to load an image."""
        gallery = self._gallery(events)
        if gallery is None:
            return
        paths = [gallery.photos[number] for number in watched.photos(events, sentence)]
        if not all(path.exists() for path in paths):
            yield {self.note: html.progress(DRAWING)}
            datasets.find(gallery.name).generate(paths)

    def _shown(self, name: str, place: int, sentence: int, other: str | None) -> Update:
        """Return the curves and photos of a training up to an evaluation."""
        until = self._until(name, place)
        gallery = self._gallery(until)
        address = images.addresses(gallery.token if gallery else "")
        runs = {translate(name): until}
        if other in self.recorded and other != name:
            is_last = place >= self._last(name)
            beside = self._events(other)
            runs[translate(other)] = beside if is_last else _until_epoch(beside, _epoch(until))
        return {
            self.note: "",
            self.curves: to_json(curves(runs)),
            self.results: watched.results(until, sentence, address, is_alive=False),
        }

    def _buttons(self, *, is_playing: bool) -> Update:
        text = translate(PAUSE) if is_playing else translate(PLAY)
        return {self.play: gr.update(value=text), self.timer: gr.Timer(active=is_playing)}


def _epoch(events: Sequence[Event]) -> int:
    """Return the last epoch that was evaluated; 0 before the training."""
    return max((int(event["epoch"]) for event in events if event["kind"] == "eval"), default=0)


def _until_epoch(events: Sequence[Event], epoch: int) -> list[Event]:
    """Return the events up to the evaluation of an epoch, or of the last one before it."""
    ends = [
        number
        for number, event in enumerate(events)
        if event["kind"] == "start" or (event["kind"] == "eval" and event["epoch"] <= epoch)
    ]
    return list(events[: ends[-1] + 1])


def recorded() -> dict[str, Path]:
    """Return the files of events that are worth a replay, by title.

    They are those of checkpoints that ship, over pictures that are always available, and the short
    trainings of RECORDINGS.
    """
    files = {path.stem.replace("_", " "): path for path in sorted(RECORDINGS.glob("*.jsonl"))}
    for name, folder in checkpoint_names.shipped().items():
        events = folder / "events.jsonl"
        with suppress(UserError, OSError, ValueError):  # the model menu says what is damaged
            is_drawn = datasets.is_generated(checkpoint.read_spec(folder).dataset)
            if is_drawn and events.read_text("utf-8").count('"watched"') >= FEWEST:
                files[name] = events
    return files
