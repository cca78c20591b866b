"""The tab Train: starts a training as a process, follows it, and offers its model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.language import message, translate
from vsdemo.plots.curves import curves
from vsdemo.serving import access, trainings
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import LATEST, NEWEST, QUIET, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import label, static
from vsdemo.ui.components.widgets import about_html, clickable_html
from vsdemo.ui.library.pending import Pending
from vsdemo.ui.tabs import Context, Selection, Visit
from vsdemo.ui.training import view, watched
from vsdemo.ui.training.curves import curves_widget, to_json
from vsdemo.ui.training.plan import FIRST_DATASET, FIRST_PRESET, PlanPanel, Request
from vsdemo.ui.training.replay import ReplayPanel
from vsdemo.ui.training.run_table import run_table
from vsdemo.ui.training.state import BESIDE, REPLAY, TrainState
from vsdemo.ui.training.status import log, status

ABOUT = message("Train a model, and watch its search results improve.")
MAX_SHOWN = 6  # runs whose curves are drawn together
FAST_TICK, SLOW_TICK = 1, 5  # seconds between two updates, while a run trains and otherwise
Seen = dict[Any, Any]  # hashes of what a page has drawn, so that nothing is drawn twice


class TrainTab:
    """The widgets of the tab and their callbacks; where training is off, a message."""

    key: ClassVar = "train"
    title: ClassVar = message("Train")

    def __init__(self, context: Context) -> None:
        self.context, self.library = context, context.library
        self.state = gr.State(TrainState())
        self.is_open = access.training_allowed()
        if self.is_open:
            self._build()
        else:
            spec = JobSpec(FIRST_PRESET, FIRST_DATASET)
            command = spec.command(Path("runs/lesson"))
            self.note = gr.HTML(static(lambda: view.closed(command)))
        self.replay = ReplayPanel(self.library)
        self.replay.connect()
        record = context.guard(self, note=self.replay.note, channel="")(self.record_replay)
        chosen = [self.state, self.replay.choice, self.replay.other]
        for event in (self.replay.panel.expand, self.replay.choice.input, self.replay.other.input):
            event(record, chosen, [self.replay.note, self.state, *context.place], **QUIET)
        if self.is_open:
            self._connect()

    def _build(self) -> None:
        """Create the widgets."""
        about_html(ABOUT)
        self.note = gr.HTML("", elem_classes="notes", render=False)
        self.plan = PlanPanel(self.note, self.library.own_datasets)
        self.seen = gr.State({})
        self.status = clickable_html("status")
        with gr.Row(elem_classes="watching"):
            with gr.Column(scale=6, min_width=320):
                self.watched_results = clickable_html("watched-results")
            with gr.Column(scale=7, min_width=320):
                self.curves = curves_widget(
                    message("Training curves of the selected runs"), "curves"
                )
        self.list = clickable_html("runs")
        with gr.Accordion(label("Training log"), open=False, elem_classes="settings"):
            self.log = gr.HTML("", elem_id="log")
        self.timer = gr.Timer(SLOW_TICK, active=False)

    @property
    def updated(self) -> list[Any]:
        """Every widget that an update of the runs may change."""
        widgets = [self.status, self.watched_results, self.curves, self.log, self.list]
        return [*widgets, self.state, self.seen, self.timer]

    @property
    def inputs(self) -> list[Any]:
        """The widgets whose values `show` takes after the visit."""
        return [self.state, self.seen, *self.plan.inputs] if self.is_open else [self.state]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change."""
        shared = [self.note, *self.replay.opened, *self.context.place]
        if not self.is_open:
            return [self.state, *shared]
        return [*self.updated, self.plan.command, self.plan.checks, *shared]

    def begin_loading(self, visit: Visit) -> Sequence[Pending[Any]]:
        """Nothing takes long to load."""
        return []

    def show(self, visit: Visit, state: TrainState | None, *values: Any) -> Updates:
        """Show the runs, first that of the address, and what the next one needs."""
        state = state or TrainState()
        is_new = visit.selection != state.selection
        run, replay, beside = (
            visit.selection.value(name) if is_new else None for name in ("run", REPLAY, BESIDE)
        )
        state = replace(
            state,
            shown=(run,) if run else state.shown,
            model=visit.model,
            gallery=visit.gallery,
            selection=visit.selection,
        )
        if replay in self.replay.recorded:
            state = self._with_replay(state, replay, beside)
            yield from self.replay.open(replay, beside)
        if not self.is_open:
            yield {self.state: state, **self.context.record(state)}
            return
        seen, *plan = values
        yield self._shown(state, seen, _visitor(visit.page))
        yield from self.plan.preview(*plan)

    def record_replay(self, state: TrainState, name: str | None, other: str | None) -> Updates:
        """Let the address name the recorded trainings that are chosen."""
        if name in self.replay.recorded:
            state = self._with_replay(state, name, other)
            state = replace(
                state, selection=replace(state.selection, other=tuple(state.recordings.items()))
            )
            yield {self.state: state, **self.context.record(state)}

    def _with_replay(self, state: TrainState, name: str, other: str | None) -> TrainState:
        beside = other if other in self.replay.recorded else ""
        return replace(state, replay=name, beside=beside)

    def _shown(self, state: TrainState, seen: Seen, visitor: str) -> Update:
        """Return the update of all runs, with the address of what is shown."""
        update = self.update(state, seen, visitor)
        return {**update, **self.context.record(update[self.state])}

    def train(self, state: TrainState, seen: Seen, *inputs: Any, page: gr.Request) -> Updates:
        """Start a training, and show it."""
        visitor = _visitor(page)
        spec = self.plan.spec(Request(*inputs))
        yield {self.note: html.progress(message("Checking the requirements"))}
        try:
            run = trainings.start(spec, visitor, self.library.forget)
        except UserError:
            busy = jobs.current()
            if busy and trainings.may_see(busy, visitor):  # another page was first: show that run
                yield self._shown(replace(state, shown=(busy.name,), sentence=0), seen, visitor)
            raise
        state = replace(state, shown=(run.name,), sentence=0)
        yield {self.note: "", **self._shown(state, seen, visitor)}

    def tick(self, state: TrainState, seen: Seen, page: gr.Request) -> Update:
        """Update the runs each second.

        The timer calls this unguarded: `report_errors` would cost as much again, while a trainer
        needs the machine.
        """
        update = self.update(state, seen, _visitor(page))
        if update[self.state] == state:
            del update[self.state]  # what a visitor has chosen since then remains chosen
        return update

    def update(self, state: TrainState, seen: Seen, visitor: str) -> Update:
        """Return the state of a visitor's runs, without what the page shows already."""
        runs, current = trainings.visible(jobs.list_runs(), visitor), jobs.current()
        if current and not trainings.may_see(current, visitor):
            current = None
        own = {run.name for run in runs if trainings.may_change(run, visitor)}
        by_name = {run.name: run for run in runs}
        if current:
            by_name.setdefault(current.name, current)  # even if its folder was removed
        shown = [by_name[name] for name in state.shown if name in by_name]
        if not state.shown:
            shown = [current] if current else runs[:1]
        names = tuple(run.name for run in shown)
        events = {run.name: run.events for run in shown}
        values: Update = {self.list: run_table(runs, names, own)}
        if shown:
            is_own = trainings.may_change(shown[0], visitor)
            values |= self._first_run(shown[0], state.sentence, is_own=is_own)
        else:
            values |= self._no_run()
        if gone := [name for name in state.shown if name not in by_name]:
            missing = ", ".join(gone)
            text = translate("No longer available: {names}; choose another one.", names=missing)
            values[self.status] += html.note(text)
        tick = FAST_TICK if current else SLOW_TICK
        hashes: Seen = {widget.elem_id: hash(value) for widget, value in values.items()}
        hashes["curves"] = hash(str([(name, len(e), e[-1:]) for name, e in events.items()]))
        hashes["tick"] = tick
        update = {
            widget: value
            for widget, value in values.items()
            if hashes[widget.elem_id] != seen.get(widget.elem_id)
        }
        if hashes["curves"] != seen.get("curves"):
            update[self.curves] = to_json(curves(events))
        if tick != seen.get("tick"):
            update[self.timer] = gr.Timer(tick, active=True)
        # If no run is left the page waits for a choice: no button acts on a run nobody chose.
        update[self.state] = replace(state, shown=names or state.shown)
        update[self.seen] = hashes
        return update

    def _first_run(self, run: jobs.Run, sentence: int, *, is_own: bool) -> Update:
        """Return the run that is shown in full."""
        events, run_state = run.events, run.state
        gallery = self.library.dev(run.spec.dataset or "") if watched.sentences(events) else None
        address = images.addresses(gallery.token if gallery else "")
        is_alive = run_state in jobs.ALIVE
        return {
            self.status: status(run, run_state, time.time(), is_own=is_own),
            self.watched_results: watched.results(
                events,
                sentence,
                address,
                keys=gallery.keys if gallery else (),
                is_alive=is_alive,
            ),
            self.log: log(run),
        }

    def _no_run(self) -> Update:
        return {self.status: "", self.watched_results: "", self.log: ""}

    def stop(self, state: TrainState, seen: Seen, *, page: gr.Request) -> Updates:
        """Stop the run that is shown in full."""
        visitor = _visitor(page)
        for name in state.shown[:1]:
            trainings.stop(name, visitor)
        yield self.update(state, seen, visitor)

    def resume(self, state: TrainState, seen: Seen, *, page: gr.Request) -> Updates:
        """Resume the run that is shown in full."""
        visitor = _visitor(page)
        for name in state.shown[:1]:
            trainings.resume(name, visitor)
        yield self.update(state, seen, visitor)

    def choose_sentence(
        self, state: TrainState, seen: Seen, event: gr.EventData, *, page: gr.Request
    ) -> Updates:
        """Show the photos of another watched sentence."""
        number = callbacks.clicked_number(event, watched.MAX_WATCHED)
        yield self.update(replace(state, sentence=number), seen, _visitor(page))

    def show_run(
        self, state: TrainState, seen: Seen, event: gr.EventData, *, page: gr.Request
    ) -> Updates:
        """Show one run, and no other."""
        visitor = _visitor(page)
        name = _clicked_run(event, visitor)
        yield self._shown(replace(state, shown=(name,)), seen, visitor)

    def toggle_run(
        self, state: TrainState, seen: Seen, event: gr.EventData, *, page: gr.Request
    ) -> Updates:
        """Add a run to those shown, or remove it from them."""
        visitor = _visitor(page)
        name = _clicked_run(event, visitor)
        if name in state.shown:
            shown = tuple(other for other in state.shown if other != name)
        elif len(state.shown) == MAX_SHOWN:
            text = message("At most {count} runs are shown at once; remove one first.")
            raise UserError(translate(text, count=MAX_SHOWN))
        else:
            shown = (*state.shown, name)
        yield self._shown(replace(state, shown=shown), seen, visitor)

    def delete(
        self, state: TrainState, seen: Seen, event: gr.EventData, *, page: gr.Request
    ) -> Updates:
        """Delete a run, with its checkpoint."""
        visitor = _visitor(page)
        name = _clicked_run(event, visitor)
        trainings.delete(name, visitor)
        self.library.forget(name)
        yield self.update(state, seen, visitor)

    def use(self, state: TrainState, *, page: gr.Request) -> Updates:
        """Offer the model of the run wherever a model is chosen, and search with it."""
        name = next(iter(state.shown), "")
        trainings.keep(name, _visitor(page))
        self.library.forget(name)
        if name not in self.library.models:
            text = message(
                "{name} was not trained on photos; it is offered in Sentences or Hierarchy now."
            )
            raise UserError(translate(text, name=name))
        run = jobs.get_run(name)
        sentences = watched.sentences(run.events)[state.sentence :]
        galleries = (
            gallery.key
            for gallery in self.library.galleries.values()
            if gallery.name == run.spec.dataset
        )
        gallery = next(galleries, None)
        text = html.tidy(sentences[0]) if sentences else state.selection.text
        context = self.context
        yield {
            self.note: "",
            context.model: name,
            context.gallery: gr.update(value=gallery) if gallery else gr.skip(),
            **context.go("search", Selection(text)),
        }

    def _connect(self) -> None:
        context, plan, inputs = self.context, self.plan, [self.state, self.seen]
        guard = context.guard(self, channel="")
        preview = context.guard(self, channel="plan")(plan.preview)
        # One at a time, because Gradio reports a choice twice; see `choose`. By the second report,
        # the data set of the first may not be offered any more: `preprocess` would refuse it.
        choose = context.guard(self, channel="plan choice")(plan.choose)
        change_form = context.guard(self, channel="plan form", ended_by=["plan choice"])
        choices = [plan.reported, *plan.choices]
        for event in (plan.preset.input, plan.dataset.input):
            event(choose, choices, plan.outputs, **LATEST, concurrency_limit=1, preprocess=False)
        sentence_events = (plan.sentence.blur, plan.sentence.submit)
        for event in (plan.reported.change, *sentence_events, plan.board.input):
            event(preview, plan.inputs, plan.outputs, **NEWEST)
        # A click on Train waits for a change of the form, which leaving its field has reported.
        in_turn: dict[str, Any] = {"concurrency_id": "plan form", "concurrency_limit": 1}
        changed = change_form(plan.change_form)
        plan.form.input(changed, plan.choices, plan.outputs, **LATEST, **in_turn)
        train = guard(self.train)
        plan.go.click(train, [*inputs, *plan.inputs], self.outputs, **QUIET, **in_turn)
        self.timer.tick(self.tick, inputs, self.updated, **QUIET)
        for event, callback in (
            (self.status.stop, self.stop),
            (self.status.play, self.resume),
            (self.list.delete, self.delete),
        ):
            event(guard(callback), inputs, self.outputs, **QUIET)
        # One after the other: each adds to what the one before has shown.
        in_turn = {"concurrency_id": "shown runs", "concurrency_limit": 1}
        for event, callback in (
            (self.watched_results.select, self.choose_sentence),
            (self.list.apply, self.show_run),
            (self.list.select, self.toggle_run),
        ):
            event(guard(callback), inputs, self.outputs, **NEWEST, **in_turn)
        used = [self.note, context.model, context.gallery, *context.navigation]
        self.status.apply(guard(self.use), [self.state], used, **QUIET)


def _visitor(page: gr.Request | None) -> str:
    """Return the visitor whose request this is."""
    if page is None:
        return ""
    return trainings.visitor_id(dict(page.cookies), page.session_hash)


def _clicked_run(event: gr.EventData, visitor: str) -> str:
    """Return the name of the run whose button was clicked.

    A name from a page is never used as a path.
    """
    name = callbacks.event_data(event).get("name")
    return trainings.get_run(str(name), visitor).name
