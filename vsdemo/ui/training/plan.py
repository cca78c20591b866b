"""What to train: preset, data, a sentence to watch, settings; its command and requirements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gradio as gr

from vsdemo import models
from vsdemo.core.config import Config, override
from vsdemo.core.errors import UserError
from vsdemo.core.language import message, translate
from vsdemo.core.sentences import Sentence
from vsdemo.data.datasets import base_name
from vsdemo.serving import access, trainings
from vsdemo.serving.training_limits import training_minutes
from vsdemo.training import preflight
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.ui.callbacks import Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import label, static
from vsdemo.ui.training import form, view

FIRST_PRESET, FIRST_DATASET = "bow/lesson", "storybook"
# A sentence that several photos of the dev split show, by data set.
SENTENCES = {"storybook": "a camel in the desert", "flickr8k": "a dog runs through the snow"}


@dataclass(frozen=True)
class Request:
    """The values of the panel's widgets.

    `changed` is what a visitor set in the form, None while it is invalid.
    """

    preset: str
    dataset: str | None
    sentence: str
    board: bool
    changed: tuple[str, ...] | None = ()


class PlanPanel:
    """The widgets above and including the button Train.

    Args:
        note: Where errors are shown; placed by this panel.
        own: Returns the user's own data sets, photos with captions.
    """

    def __init__(self, note: gr.HTML, own: Callable[[], Sequence[str]] = tuple) -> None:
        self._own = own
        datasets = self._datasets(models.preset(FIRST_PRESET)[1])
        config = _default_config(FIRST_PRESET, FIRST_DATASET)
        has_tensorboard = find_spec("tensorboard") is not None
        with gr.Row(elem_classes="plan"):
            presets = [*models.presets()]
            self.preset = gr.Dropdown(presets, value=FIRST_PRESET, label=label("Preset"))
            self.dataset = gr.Dropdown(datasets, value=datasets[0], label=label("Data"))
            self.sentence = gr.Textbox(
                first_sentence(next(iter(datasets), None)),
                label=label("A sentence to watch"),
                scale=2,
            )
            self.go = gr.Button(label("Train"), variant="primary", elem_id="train", scale=0)
        self.command = gr.HTML("", elem_id="command")
        self.note = note
        note.render()  # type: ignore[no-untyped-call]
        with gr.Accordion(
            label("Settings and requirements"), open=False, elem_classes="settings"
        ) as self.more:
            self.checks = gr.HTML("", elem_id="checks")
            log_text = label("Also log to TensorBoard")
            self.board = gr.Checkbox(label=log_text, visible=has_tensorboard)
            self.form = form.form_widget("settings", static(lambda: form.form(config)))
        # Preset and data set as they were chosen last, and as the page shows them since then.
        self.reported = gr.State(((FIRST_PRESET, datasets[0]),))
        self.changed = gr.State(())  # settings that differ from the defaults of preset and data

    def _datasets(self, config: Config) -> list[str]:
        """Return the data sets for a configuration, the usual one first."""
        return preflight.available_datasets(config, self._own())

    @property
    def choices(self) -> list[Any]:
        """The widgets of preset, data, sentence and TensorBoard, in the order of `Request`."""
        return [self.preset, self.dataset, self.sentence, self.board]

    @property
    def inputs(self) -> list[Any]:
        """The widgets of a whole `Request`."""
        return [*self.choices, self.changed]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change."""
        widgets = [self.note, self.dataset, self.sentence, self.form, self.reported, self.changed]
        return [*widgets, self.command, self.checks]

    def spec(self, request: Request) -> JobSpec:
        """Return what to train. Raises UserError for what is not offered or cannot be read."""
        if request.changed is None:
            raise UserError(translate("A setting in the form is invalid; correct it first."))
        config = models.preset(request.preset)[1]
        datasets, dataset = self._datasets(config), request.dataset
        if dataset not in datasets and (datasets or dataset):
            if not datasets:
                text = translate("{preset} trains on its own data.", preset=request.preset)
                raise UserError(text)
            names = ", ".join(datasets)
            text = translate("{preset} trains on {names}.", preset=request.preset, names=names)
            raise UserError(text)
        sentence = request.sentence.strip() if preflight.uses_photos(config) else ""
        if sentence:
            Sentence.from_user(sentence)
        return JobSpec(
            request.preset,
            dataset,
            settings=(*preflight.default_settings(config, dataset), *request.changed),
            watched=(sentence,) if sentence else (),
            minutes=training_minutes(),
            tensorboard=request.board,
        )

    def choose(self, reported: Sequence[tuple[str, str | None]], *choices: Any) -> Updates:
        """Show the form of another preset or data set, without changes.

        Gradio reports a choice in a dropdown twice, both times with the sentence of that moment, so
        the second report would undo what a visitor has typed since. It must be handled after the
        first, or it is not known to be the second.

        Args:
            reported: Preset and data set as they were reported last, and as the page shows them.
            choices: The values of `choices`, as the page sent them.
        """
        preset, *others = choices
        request = Request(str(preset), *others)
        if (request.preset, request.dataset) in reported:
            return
        config = models.preset(request.preset)[1]
        datasets = self._datasets(config)
        dataset = request.dataset
        if dataset not in datasets:
            dataset = next(iter(datasets), None)
        sentence: Update = {"interactive": preflight.uses_photos(config)}
        if request.sentence in ("", *SENTENCES.values()):  # not one of the visitor
            sentence["value"] = first_sentence(dataset)
        yield {
            self.dataset: gr.update(choices=datasets, value=dataset, interactive=bool(datasets)),
            self.sentence: gr.update(**sentence),
            self.form: form.form(_default_config(request.preset, dataset)),
            self.changed: (),
            self.note: "",
        }
        # After the values above: what its change leads to takes those that the page has by then.
        yield {self.reported: ((request.preset, request.dataset), (request.preset, dataset))}

    def change_form(
        self,
        preset: str,
        dataset: str | None,
        sentence: str,
        board: bool,  # noqa: FBT001 (a widget's value)
        event: gr.EventData,
    ) -> Updates:
        """Check what was changed in the form."""
        yield {self.changed: None}  # an invalid form cannot be trained
        changed = tuple(form.settings(event, _default_config(preset, dataset)))
        yield {self.changed: changed, self.note: ""}
        yield from self.preview(preset, dataset, sentence, board, changed)

    def preview(self, *inputs: Any) -> Updates:
        """Show the command, and whether its requirements are met."""
        spec = self.spec(Request(*inputs))
        folder = jobs.new_folder(spec)
        if access.is_public():  # strangers need not know where the server keeps its files
            folder = Path("runs") / folder.name
        yield {self.command: view.command(spec.command(folder))}
        if spec.dataset in self._own():  # whose photos may have to be read first
            yield {self.checks: html.progress(message("Checking the captions"))}
        yield {self.checks: view.checks(trainings.check(spec))}


def first_sentence(dataset: str | None) -> str:
    """Return the sentence to watch that the form begins with; empty if none is known to fit."""
    return SENTENCES.get(base_name(dataset), "") if dataset else ""


def _default_config(preset: str, dataset: str | None) -> Config:
    """Return the configuration that the form begins with."""
    config = models.preset(preset)[1]
    default: Config = override(config, preflight.default_settings(config, dataset))
    return default
