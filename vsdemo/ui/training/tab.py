"""The tab Train: starts the trainer as a process of its own, follows it, keeps what it made."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.plots.curves import curves
from vsdemo.serving import access
from vsdemo.training import preflight
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import Answer, Update
from vsdemo.ui.components import html
from vsdemo.ui.library import Library
from vsdemo.ui.training import view
from vsdemo.ui.training.curves import curves_widget, drawn
from vsdemo.ui.training.plan import LESSON, Planning

ABOUT = "Train a model, and watch it find more and more of what a sentence says."
MOST = 6  # runs whose curves are drawn over each other
TICK, CALM = 1, 5  # seconds between two looks, while something is trained and otherwise
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


class Looked(NamedTuple):
    """What a page shows: runs by name, the first in full; the sentence whose photos are shown."""

    shown: tuple[str, ...] = ()
    sentence: int = 0


class Training:
    """The widgets of the tab and what they do; where strangers may not train, it says so."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.open = access.training_allowed()
        if not self.open:
            gr.HTML(view.closed(JobSpec(LESSON, "storybook").command(Path("runs/lesson"))))
            return
        gr.HTML(f'<p class="about">{ABOUT}</p>')
        self.note = gr.HTML("", elem_classes="notes", render=False)
        self.planning = Planning(self.note)
        self.looked = gr.State(Looked())
        self.seen = gr.State({})  # what this page has drawn, so that nothing is drawn twice
        self.status = _reporting("status")
        with gr.Row(elem_classes="watching"):
            with gr.Column(scale=6, min_width=320):
                self.finds = _reporting("finds")
            with gr.Column(scale=7, min_width=320):
                self.curves = curves_widget("Curves of the runs shown, by step", "curves")
        self.list = _reporting("runs")
        with gr.Accordion("What the trainer printed", open=False, elem_classes="settings"):
            self.log = gr.HTML("", elem_id="log")
        self.timer = gr.Timer(CALM, active=False)

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a look at the runs may change."""
        shown = [self.status, self.finds, self.curves, self.log, self.list]
        return [*shown, self.looked, self.seen, self.timer, self.note]

    def say(self, callback: Callable[..., Answer]) -> Callable[..., Answer]:
        """A callback that tells what went wrong below the command."""
        return callbacks.telling(self.note)(callback)

    def train(self, seen: dict[str, int], *asked: Any) -> Answer:
        """Starts what is asked for, and follows it."""
        plan = self.planning.plan(*asked)
        yield {self.note: html.progress("Looking whether all is here", 0, 0)}
        preflight.require(plan)
        try:
            begun = jobs.start(plan)
        except UserError:
            if busy := jobs.current():  # somebody else was first: that one is shown
                yield self.look(Looked((busy.name,)), seen)
            raise
        yield {self.note: "", **self.look(Looked((begun.name,)), seen)}

    def look(self, looked: Looked, seen: dict[str, int]) -> Update:
        """How far all is; what has not changed since this page looked is left as it is."""
        every, alive = jobs.list_runs(), jobs.current()
        by_name = {run.name: run for run in every}
        if alive:
            by_name.setdefault(alive.name, alive)  # also where its folder was removed
        shown = [by_name[name] for name in looked.shown if name in by_name]
        if not looked.shown:
            shown = [alive] if alive else every[:1]
        names = tuple(run.name for run in shown)
        told = {run.name: run.events for run in shown}
        values = {self.list: view.listed(every, names)}
        values |= self._first(shown[0], looked.sentence) if shown else self._nothing()
        if gone := [name for name in looked.shown if name not in by_name]:
            values[self.status] += html.note(f"No longer here: {', '.join(gone)}; choose another.")
        marks = {widget.elem_id: hash(value) for widget, value in values.items()}
        marks["curves"] = hash(str([(name, len(e), e[-1:]) for name, e in told.items()]))
        fresh = {w: value for w, value in values.items() if marks[w.elem_id] != seen.get(w.elem_id)}
        if marks["curves"] != seen.get("curves"):
            fresh[self.curves] = drawn(curves(told))
        marks["beat"] = TICK if alive else CALM
        if marks["beat"] != seen.get("beat"):
            fresh[self.timer] = gr.Timer(marks["beat"], active=True)
        # Where none is left the page waits for a choice: no button acts on what nobody chose.
        looked = looked._replace(shown=names or looked.shown)
        return {**fresh, self.looked: looked, self.seen: marks}

    def _first(self, run: jobs.Run, sentence: int) -> Update:
        """The run that is shown in full."""
        events, state = run.events, run.state
        gallery = self.library.dev(run.spec.dataset or "") if view.watched(events) else None
        source = images.source(gallery.token if gallery else "")
        return {
            self.status: view.status(run, state, time.time()),
            self.finds: view.finds(events, sentence, source, state in jobs.ALIVE),
            self.log: view.log(run),
        }

    def _nothing(self) -> Update:
        return {self.status: "", self.finds: "", self.log: ""}

    def follow(self, looked: Looked, seen: dict[str, int]) -> Update:
        """A look, by the timer or as the tab opens; each second, so not told as others are: that
        costs as much again, while a trainer needs the machine."""
        return self.look(looked, seen)

    def stop(self, looked: Looked, seen: dict[str, int]) -> Answer:
        """Stops what is shown in full."""
        for name in looked.shown[:1]:
            jobs.stop(name)
        yield self.look(looked, seen)

    def resume(self, looked: Looked, seen: dict[str, int]) -> Answer:
        """Goes on with what is shown in full."""
        for name in looked.shown[:1]:
            jobs.resume(name)
        yield self.look(looked, seen)

    def watch(self, looked: Looked, seen: dict[str, int], event: gr.EventData) -> Answer:
        """Another sentence."""
        number = callbacks.number(event, 100)
        yield self.look(looked._replace(sentence=number), seen)

    def show(self, looked: Looked, seen: dict[str, int], event: gr.EventData) -> Answer:
        """One run, and no other."""
        yield self.look(Looked((_clicked(event).name,), looked.sentence), seen)

    def compare(self, looked: Looked, seen: dict[str, int], event: gr.EventData) -> Answer:
        """One run more, or less, beside the others."""
        name = _clicked(event).name
        shown = tuple(other for other in looked.shown if other != name)
        if shown == looked.shown:
            if len(shown) == MOST:
                raise UserError(f"At most {MOST} runs are shown at once; take one away first.")
            shown = (*shown, name)
        yield self.look(looked._replace(shown=shown), seen)

    def delete(self, looked: Looked, seen: dict[str, int], event: gr.EventData) -> Answer:
        """Deletes a run, with its checkpoint."""
        name = _clicked(event).name
        jobs.delete(name)
        self.library.forget(name)
        yield self.look(looked, seen)

    def asked(self, address: Mapping[str, str]) -> Update:
        """The run that an address names, for the next look."""
        named = self.open and "run" in address
        return {self.looked: Looked((address["run"],))} if named else {}

    def use(self, looked: Looked) -> Answer:
        """Offers the checkpoint of what is shown in full wherever a model is chosen, and searches
        with it."""
        name = next(iter(looked.shown), "")
        jobs.keep(name)
        self.library.forget(name)
        if name not in self.library.models:
            raise UserError(f"{name} knows no photos; it stands in Sentences or Hierarchy now.")
        run = jobs.get_run(name)
        sentences = view.watched(run.events)[looked.sentence :]
        fitting = (g.key for g in self.library.galleries.values() if g.name == run.spec.dataset)
        gallery = next(fitting, None)
        yield {
            self.note: "",
            self.model: gr.update(choices=list(self.library.models), value=name),
            self.gallery: gr.update(value=gallery) if gallery else gr.skip(),
            self.query: html.tidy(sentences[0]) if sentences else gr.skip(),
            self.tabs: gr.Tabs(selected="search"),
        }

    def connect(self, tab: gr.Tab, to: tuple[gr.Dropdown, gr.Dropdown, gr.Textbox, gr.Tabs]) -> Any:
        """Ties the widgets of the tab. to: model, gallery, query and tabs, which change when a
        trained model is taken into use; gives what does that."""
        self.model, self.gallery, self.query, self.tabs = to
        plan, known = self.planning, [self.looked, self.seen]
        live: dict[str, Any] = {"outputs": self.outputs, **QUIET}
        told = [plan.preset, plan.dataset, plan.sentence, plan.board]
        for start in (plan.preset.input, plan.dataset.input):
            start(self.say(plan.choose), told, plan.outputs, **QUIET)
        plan.form.input(
            self.say(plan.told), told, plan.outputs, trigger_mode="always_last", **QUIET
        )
        for start in (plan.sentence.blur, plan.sentence.submit, plan.board.input, tab.select):
            start(self.say(plan.tell), plan.asks, plan.outputs, **QUIET)
        plan.go.click(self.say(self.train), [self.seen, *plan.asks], **live)
        for start in (tab.select, self.timer.tick):
            start(self.follow, known, self.outputs[:-1], **QUIET)
        self.status.stop(self.say(self.stop), known, **live)
        self.status.play(self.say(self.resume), known, **live)
        self.finds.select(self.say(self.watch), known, **live)
        self.list.select(self.say(self.compare), known, **live)
        self.list.apply(self.say(self.show), known, **live)
        self.list.delete(self.say(self.delete), known, **live)
        return self.status.apply(self.say(self.use), [self.looked], [self.note, *to], **QUIET)


def _clicked(event: gr.EventData) -> jobs.Run:
    """The run whose button was clicked; what a page tells is looked up in the list of runs."""
    told = event._data if isinstance(event._data, dict) else {}
    return jobs.get_run(str(told.get("name")))


def _reporting(name: str) -> gr.HTML:
    return gr.HTML("", elem_id=name, js_on_load="vsdemo.report(element, trigger, watch)")
