"""The form of a preset: each field of its configuration as a widget, named as `--set` names it.

`form` is its HTML, `form_widget` shows it and tells what a visitor changed, and `settings` checks
what was told: it comes from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import gradio as gr

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
from vsdemo.ui.components import html
from vsdemo.vision.backbones import BACKBONES, is_available

BASIC = ("epochs", "batch_size", "learning_rate", "dim", "margin", "seed")  # changed most often
CODE = Path(__file__).with_name("form.js")
MOST = 100  # settings told at once, and characters of a name or a value
ABSENT = "The weights of this default are not here: choose another, or fetch them first."
STALE = "The form cannot be read; load the page again."


def form_widget(name: str, value: str = "") -> gr.HTML:
    """A widget whose value is what `form` returns; a new value keeps the groups that are open.

    A change is an `input` event for `settings`. Listen with trigger_mode="always_last", or what
    changes during an answer goes unheard. (`change` would also come with each new value.)
    """
    return gr.HTML(
        value,
        html_template='<div class="preset"></div>',
        js_on_load=CODE.read_text(encoding="utf-8"),
        elem_id=name,
    )


def settings(event: gr.EventData, config: Config) -> list[str]:
    """What was changed in the form of `config`, as `override` takes it, in plain spelling.

    Raises UserError for what the form does not send, an unknown name and a value that does not fit.
    """
    data = event._data if isinstance(event._data, dict) else {}
    told = data.get("settings")
    if not isinstance(told, dict) or len(told) > MOST:
        raise UserError(STALE)
    if not all(_plain(part) for pair in told.items() for part in pair):
        raise UserError(STALE)
    # A name with "=" in it would be read as another name.
    if unknown := told.keys() - settings_of(config).keys():
        raise UserError(f"This model has no setting {min(unknown)!r}; load the page again.")
    network = told.get("backbone", config.backbone)
    if network not in (networks := offered(config)):
        raise UserError(f"backbone must be one of {', '.join(networks)}, not {network!r}.")
    changed = override(config, [f"{key}={value}" for key, value in told.items()])
    values = {key: getattr(changed, key) for key in told}
    return [f"{k}={text_of(v)}" for k, v in values.items() if v != getattr(config, k)]


def _plain(part: object) -> bool:
    """Whether it is short text without control characters."""
    return isinstance(part, str) and len(part) <= MOST and part.isprintable()


def offered(config: Config) -> tuple[str, ...]:
    """The image networks to choose from: the preset's own, and those whose weights are here."""
    own = config.backbone
    return (own, *(name for name in BACKBONES if name != own and is_available(name)))


def form(config: Config, basic: Sequence[str] = BASIC) -> str:
    """Every field of a preset's configuration once: those of `basic` that it has, then groups."""
    found = grouped_settings(config)
    fields = {f.name: f for group in found.values() for f in group}
    first = "".join(_field(fields[name], config) for name in basic if name in fields)
    rest = ((title, [f for f in group if f.name not in basic]) for title, group in found.items())
    more = "".join(_group(title, group, config) for title, group in rest if group)
    # Models may share all names and values: the form knows a preset by its class too.
    own = f"{type(config).__module__}.{type(config).__qualname__} {describe(config)}"
    return (
        f'<div data-own="{escape(own)}"><div class="fields">{first}</div>{more}'
        '<p class="note sum"><span role="status"></span>'
        '<button type="button" class="back" data-back hidden>all back to default</button></p></div>'
    )


def _group(title: str, fields: Sequence[Setting], config: Config) -> str:
    names = " ".join(f.name for f in fields)
    rows = "".join(_field(f, config) for f in fields)
    return (
        f'<details data-group="{escape(title)}"><summary><span>{escape(title)}</span>'
        f'<span class="count"></span><code aria-hidden="true">{escape(names)}</code></summary>'
        f'<div class="fields">{rows}</div></details>'
    )


def _field(field: Setting, config: Config) -> str:
    """A name, its widget, its help, its default and the way back to it."""
    name, default = escape(field.name), escape(text_of(field.value))
    told = f'<p class="note wrong">{_range(field)}</p>' if _is_free_number(field) else ""
    needs_backbone = field.name == "backbone" and config.material == "photos"
    if needs_backbone and not is_available(config.backbone):
        told = f'<p class="note">{ABSENT}</p>'
    return (
        f'<div class="setting-of" data-field="{name}">'
        f'<label for="set-{name}"><code>{name}</code></label>{_control(field, config)}'
        f'<p class="note" id="about-{name}">{html.marked(field.description)}</p>{told}'
        f'<p class="note"><span id="default-{name}">default {default or "empty"}</span> '
        f'<button type="button" class="back" data-back="{name}" hidden '
        f'aria-label="{name} back to default">back to default</button></p></div>'
    )


def _control(field: Setting, config: Config) -> str:
    """The widget of a field, with the preset's value in it."""
    name, value = escape(field.name), field.value
    text = escape(text_of(value))
    common = (
        f'id="set-{name}" name="{name}" data-default="{text}" autocomplete="off" '
        f'aria-describedby="about-{name} default-{name}"'
    )
    network = field.name == "backbone"
    if choices := offered(config) if network else field.choices:
        fixed = " disabled" if len(choices) == 1 else ""
        options = "".join(_choice(c, c == str(value)) for c in map(str, choices))
        return f"<select {common}{fixed}>{options}</select>"
    if isinstance(value, bool):
        return f'<input type="checkbox" {common}{" checked" * value}>'
    if not _is_free_number(field):
        return f'<input type="text" {common} value="{text}" maxlength="{MOST}">'
    step = 1 if field.kind is int else "any"
    fixed = " disabled" if field.minimum == field.maximum else ""
    return (
        f'<input type="number" {common} value="{text}" min="{field.minimum}" '
        f'max="{field.maximum}" step="{step}" required{fixed}>'
    )


def _choice(name: str, chosen: bool) -> str:
    return f'<option value="{escape(name)}"{" selected" * chosen}>{escape(name)}</option>'


def _is_free_number(field: Setting) -> bool:
    return field.is_number and not field.choices


def _range(field: Setting) -> str:
    numbers = "Whole numbers" if field.kind is int else "Numbers"
    return f"{numbers} from {field.minimum:,} to {field.maximum:,}."
