"""The form of a preset: each field of its configuration as an input, named as in `--set`.

`form` returns its HTML, `form_widget` shows it and reports the settings that a visitor changed, and
`settings` checks them, since they come from outside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import gradio as gr
from gradio.i18n import I18nData
from markupsafe import Markup

from vsdemo.core.config import (
    Config,
    Setting,
    describe,
    grouped_settings,
    override,
    settings_of,
    text_of,
)
from vsdemo.core.errors import UserError
from vsdemo.core.language import message, number, translate
from vsdemo.training import preflight
from vsdemo.ui.callbacks import event_data
from vsdemo.ui.components import html
from vsdemo.ui.components.templates import render
from vsdemo.ui.library import models as library
from vsdemo.vision.backbones import BACKBONES, is_available

BASIC = ("epochs", "batch_size", "learning_rate", "dim", "margin", "seed")  # changed most often
CODE = Path(__file__).with_name("form.js")
MAX_LENGTH = 100  # number of reported settings, and characters of a name or a value
MISSING = message(
    "The weights of this default are missing: choose another network or fetch them first."
)
STALE = message("The form is out of date; reload the page.")
Control = Literal["select", "checkbox", "number", "text"]


@dataclass(frozen=True)
class FormField:
    """A setting with its input and the texts around it.

    Attributes:
        name: Name of the setting.
        default: The preset's value, in the format of `--set`.
        description: What it sets.
        control: Kind of its input.
        choices: The choices of a select.
        is_fixed: Whether only one value is valid.
        minimum: Least valid number.
        maximum: Largest valid number.
        step: Distance between valid numbers.
        valid: Which numbers are valid; shown while the input is invalid.
        warning: Why the default cannot be used; empty if it can.
    """

    name: str
    default: str
    description: Markup
    control: Control
    choices: Sequence[str]
    is_fixed: bool
    minimum: float | None
    maximum: float | None
    step: str
    valid: str
    warning: str


@dataclass(frozen=True)
class FieldGroup:
    """Fields that are folded away under a title.

    Attributes:
        key: The title in English.
        title: The title.
        fields: The fields.
    """

    key: str
    title: str
    fields: list[FormField]


def form_widget(name: str, value: str | I18nData = "") -> gr.HTML:
    """Return a component for the HTML of `form`; a new value keeps the open groups open.

    A visitor's change is an `input` event, whose data `settings` checks. Listen with
    trigger_mode="always_last", or a change during a running callback is lost. (`change` would also
    fire for each new value.)
    """
    return gr.HTML(
        value,
        html_template=render("training/form_frame.html"),
        js_on_load=CODE.read_text(encoding="utf-8"),
        elem_id=name,
    )


def settings(event: gr.EventData, config: Config) -> list[str]:
    """Return the settings changed in the form of `config`, in the format of `override`.

    Raises:
        UserError: For malformed data, an unknown name and an invalid value.
    """
    reported = event_data(event).get("settings")
    if not isinstance(reported, dict) or len(reported) > MAX_LENGTH:
        raise UserError(STALE)
    if not all(_plain(part) for pair in reported.items() for part in pair):
        raise UserError(STALE)
    # A name with "=" in it would be read as another name.
    if unknown := reported.keys() - settings_of(config).keys():
        text = message("This model has no setting {name!r}; reload the page.")
        raise UserError(translate(text, name=min(unknown)))
    for name, offered in available(config).items():
        value = reported.get(name, getattr(config, name))
        if value not in offered:
            names = ", ".join(choice or translate("empty") for choice in offered)
            text = message("{name} must be one of {names}, not {value!r}.")
            raise UserError(translate(text, name=name, names=names, value=value))
    changed = override(config, [f"{key}={value}" for key, value in reported.items()])
    values = {key: getattr(changed, key) for key in reported}
    return [f"{k}={text_of(v)}" for k, v in values.items() if v != getattr(config, k)]


def _plain(part: object) -> bool:
    """Return whether this is short text without control characters."""
    return isinstance(part, str) and len(part) <= MAX_LENGTH and part.isprintable()


def available(config: Config) -> dict[str, tuple[str, ...]]:
    """Return the choices of the settings that name files, as visitors must not name any file."""
    teachers = library.teachers() if config.takes_teacher else []
    return {"backbone": available_networks(config), "teacher": (config.teacher, *teachers)}


def available_networks(config: Config) -> tuple[str, ...]:
    """Return the preset's own image network, and those that suit it and are available."""
    own = config.backbone
    suitable = settings_of(config)["backbone"].choices or BACKBONES
    return (own, *(name for name in suitable if name != own and is_available(name)))


def form(config: Config, basic: Sequence[str] = BASIC) -> Markup:
    """Return every field of a preset's configuration once: those of `basic`, then groups."""
    all_groups = grouped_settings(config)
    fields = {f.name: f for group in all_groups.values() for f in group}
    offered = available(config)
    first = [_field(fields[name], config, offered) for name in basic if name in fields]
    groups = [
        FieldGroup(
            title,
            translate(title),
            [_field(f, config, offered) for f in group if f.name not in basic],
        )
        for title, group in all_groups.items()
    ]
    # Presets of two models may share all names and values, so the key has the class too.
    key = f"{type(config).__module__}.{type(config).__qualname__} {describe(config)}"
    return render(
        "training/form.html",
        key=key,
        first=first,
        groups=[group for group in groups if group.fields],
        max_length=MAX_LENGTH,
    )


def _field(setting: Setting, config: Config, offered: Mapping[str, tuple[str, ...]]) -> FormField:
    choices = offered.get(setting.name, setting.choices)
    control = _control(setting, choices)
    of_photos = preflight.uses_photos(config)
    is_missing = setting.name == "backbone" and of_photos and not is_available(config.backbone)
    return FormField(
        name=setting.name,
        default=text_of(setting.value),
        description=html.with_code(translate(setting.description)),
        control=control,
        choices=choices,
        is_fixed=_is_fixed(setting, control, choices),
        minimum=setting.minimum,
        maximum=setting.maximum,
        step="1" if setting.kind is int else "any",
        valid=_valid(setting) if control == "number" else "",
        warning=translate(MISSING) if is_missing else "",
    )


def _valid(setting: Setting) -> str:
    """Return which numbers are valid."""
    ends = {"minimum": _bound(setting.minimum), "maximum": _bound(setting.maximum)}
    if setting.kind is int:
        return translate("Enter a whole number from {minimum} to {maximum}.", **ends)
    return translate("Enter a number from {minimum} to {maximum}.", **ends)


def _bound(value: float | None) -> str:
    """Return a bound of a number with all its decimals."""
    if value is None:
        return ""
    return number(value, len(str(value).partition(".")[2]))


def _control(setting: Setting, choices: Sequence[str]) -> Control:
    """Return the kind of input of a setting with these choices."""
    if choices:
        return "select"
    if isinstance(setting.value, bool):
        return "checkbox"
    return "number" if setting.is_number else "text"


def _is_fixed(setting: Setting, control: Control, choices: Sequence[str]) -> bool:
    """Return whether only one value is valid."""
    if control == "select":
        return len(choices) == 1
    return control == "number" and setting.minimum == setting.maximum
