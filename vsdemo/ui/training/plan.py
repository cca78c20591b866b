"""What is asked of a training: preset, data, a sentence to watch, every setting; its command, and
what it needs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import gradio as gr

from vsdemo import models
from vsdemo.core.config import Config, override
from vsdemo.core.errors import UserError
from vsdemo.serving import access
from vsdemo.training import preflight
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.ui.callbacks import Answer
from vsdemo.ui.training import form, view

LESSON = "bow/lesson"  # what is offered first
WATCHED = "two small brown dogs chase a red ball"
NEEDS = "Settings, and what is needed"


class Planning:
    """The widgets above the button Train, and the button. note: where it is told what is wrong."""

    def __init__(self, note: gr.HTML) -> None:
        config, here = (
            _usual(LESSON, "storybook"),
            preflight.available_datasets(models.preset(LESSON)[1]),
        )
        with gr.Row(elem_classes="plan"):
            self.preset = gr.Dropdown([*models.presets()], value=LESSON, label="Preset")
            self.dataset = gr.Dropdown(here, value=here[0], label="Data")
            self.sentence = gr.Textbox(WATCHED, label="A sentence to watch", scale=2)
            self.go = gr.Button("Train", variant="primary", elem_id="train", scale=0)
        self.command = gr.HTML("", elem_id="command")
        self.note = note
        note.render()
        with gr.Accordion(NEEDS, open=False, elem_classes="settings") as self.more:
            self.checks = gr.HTML("", elem_id="checks")
            self.board = gr.Checkbox(
                label="Write for TensorBoard too", visible=find_spec("tensorboard") is not None
            )
            self.form = form.form_widget("settings", form.form(config))
        self.changed = gr.State(())  # settings that differ from those usual for preset and data

    @property
    def asks(self) -> list[Any]:
        """What a plan is made of."""
        return [self.preset, self.dataset, self.changed, self.sentence, self.board]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that an answer may change."""
        shown = [self.note, self.dataset, self.sentence, self.form, self.changed]
        return [*shown, self.command, self.checks]

    def plan(
        self, preset: str, dataset: str | None, changed: Any, sentence: str, board: bool
    ) -> JobSpec:
        """What is asked for. Raises UserError for what is not offered."""
        if changed is None:
            raise UserError("A setting in the form does not fit yet; mend it first.")
        config = models.preset(preset)[1]
        here = preflight.available_datasets(config)
        if dataset not in here and (here or dataset):
            raise UserError(f"{preset} learns from {', '.join(here) or 'data of its own'} here.")
        watched = (sentence.strip(),) if sentence.strip() and config.material == "photos" else ()
        settings = (*preflight.default_settings(config, dataset), *changed)
        return JobSpec(
            preset,
            dataset,
            settings=settings,
            watched=watched,
            minutes=access.minutes(),
            tensorboard=board,
        )

    def choose(self, preset: str, dataset: str | None, sentence: str, board: bool) -> Answer:
        """Another preset or data set: their form, begun anew."""
        config = models.preset(preset)[1]
        here = preflight.available_datasets(config)
        dataset = dataset if dataset in here else next(iter(here), None)
        yield {
            self.dataset: gr.update(choices=here, value=dataset, interactive=bool(here)),
            self.sentence: gr.update(interactive=config.material == "photos"),
            self.form: form.form(_usual(preset, dataset)),
            self.changed: (),
            self.note: "",
        }
        yield from self.tell(preset, dataset, (), sentence, board)

    def told(
        self, preset: str, dataset: str | None, sentence: str, board: bool, event: gr.EventData
    ) -> Answer:
        """A change in the form."""
        yield {self.changed: None}  # while what stands in the form does not fit, nothing is trained
        changed = tuple(form.settings(event, _usual(preset, dataset)))
        yield {self.changed: changed, self.note: ""}
        yield from self.tell(preset, dataset, changed, sentence, board)

    def tell(
        self, preset: str, dataset: str | None, changed: Any, sentence: str, board: bool
    ) -> Answer:
        """The command, and whether what it needs is here."""
        plan = self.plan(preset, dataset, changed, sentence, board)
        yield {self.command: view.command(plan.command(jobs.new_folder(plan)))}
        yield {self.checks: view.checks(preflight.check(plan))}


def _usual(preset: str, dataset: str | None) -> Config:
    """The configuration that the form begins with."""
    config = models.preset(preset)[1]
    return override(config, preflight.default_settings(config, dataset))
