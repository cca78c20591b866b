"""The form of a preset: each field of its configuration as an input, named as in `--set`.

`form` returns its HTML, `form_widget` shows it and reports the settings that a visitor changed, and
`settings` checks them, since they come from outside.
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
from vsdemo.ui.callbacks import event_data
from vsdemo.ui.components import html
from vsdemo.vision.backbones import BACKBONES, is_available

BASIC = ("epochs", "batch_size", "learning_rate", "dim", "margin", "seed")  # changed most often
CODE = Path(__file__).with_name("form.js")
MAX_LENGTH = 100  # of the reported settings, and of a name or a value
MISSING = "The weights of this default are missing: choose another network or fetch them first."
STALE = "The form is out of date; reload the page."


def form_widget(name: str, value: str = "") -> gr.HTML:
    """Return a component for the HTML of `form`; a new value keeps the open groups open.

    A visitor's change is an `input` event, whose data `settings` checks. Listen with
    trigger_mode="always_last", or a change during a running callback is lost. (`change` would also
    fire for each new value.)
    """
    return gr.HTML(
        value,
        html_template='<div class="preset"></div>',
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
        raise UserError(f"This model has no setting {min(unknown)!r}; reload the page.")
    network = reported.get("backbone", config.backbone)
    networks = available_networks(config)
    if network not in networks:
        raise UserError(f"backbone must be one of {', '.join(networks)}, not {network!r}.")
    changed = override(config, [f"{key}={value}" for key, value in reported.items()])
    values = {key: getattr(changed, key) for key in reported}
    return [f"{k}={text_of(v)}" for k, v in values.items() if v != getattr(config, k)]


def _plain(part: object) -> bool:
    """Return whether this is short text without control characters."""
    return isinstance(part, str) and len(part) <= MAX_LENGTH and part.isprintable()


def available_networks(config: Config) -> tuple[str, ...]:
    """Return the preset's own image network, and those whose weights are available."""
    own = config.backbone
    return (own, *(name for name in BACKBONES if name != own and is_available(name)))


def form(config: Config, basic: Sequence[str] = BASIC) -> str:
    """Return every field of a preset's configuration once: those of `basic`, then groups."""
    all_groups = grouped_settings(config)
    fields = {f.name: f for group in all_groups.values() for f in group}
    first = "".join(_field(fields[name], config) for name in basic if name in fields)
    rest = (
        (title, [f for f in group if f.name not in basic]) for title, group in all_groups.items()
    )
    more = "".join(_group(title, group, config) for title, group in rest if group)
    # Presets of two models may share all names and values, so the key has the class too.
    key = f"{type(config).__module__}.{type(config).__qualname__} {describe(config)}"
    return (
        f'<div data-preset="{escape(key)}"><div class="fields">{first}</div>{more}'
        '<p class="note changes"><span role="status"></span>'
        '<button type="button" class="reset" data-reset hidden>reset all to default</button>'
        "</p></div>"
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
    """Return a field: name, input, help, default and a button to reset it."""
    name, default = escape(field.name), escape(text_of(field.value))
    note = f'<p class="note input-error">{_range(field)}</p>' if _is_free_number(field) else ""
    needs_backbone = field.name == "backbone" and config.material == "photos"
    if needs_backbone and not is_available(config.backbone):
        note = f'<p class="note">{MISSING}</p>'
    return (
        f'<div class="setting-field" data-field="{name}">'
        f'<label for="set-{name}"><code>{name}</code></label>{_control(field, config)}'
        f'<p class="note" id="about-{name}">{html.with_code(field.description)}</p>{note}'
        f'<p class="note"><span id="default-{name}">default {default or "empty"}</span> '
        f'<button type="button" class="reset" data-reset="{name}" hidden '
        f'aria-label="reset to default: {name}">reset to default</button></p></div>'
    )


def _control(field: Setting, config: Config) -> str:
    """Return the input of a field, with the preset's value in it."""
    name, value = escape(field.name), field.value
    text = escape(text_of(value))
    common = (
        f'id="set-{name}" name="{name}" data-default="{text}" autocomplete="off" '
        f'aria-describedby="about-{name} default-{name}"'
    )
    choices = available_networks(config) if field.name == "backbone" else field.choices
    if choices:
        fixed = " disabled" if len(choices) == 1 else ""
        options = "".join(_option(str(choice), str(value)) for choice in choices)
        return f"<select {common}{fixed}>{options}</select>"
    if isinstance(value, bool):
        return f'<input type="checkbox" {common}{" checked" if value else ""}>'
    if not _is_free_number(field):
        return f'<input type="text" {common} value="{text}" maxlength="{MAX_LENGTH}">'
    step = 1 if field.kind is int else "any"
    fixed = " disabled" if field.minimum == field.maximum else ""
    return (
        f'<input type="number" {common} value="{text}" min="{field.minimum}" '
        f'max="{field.maximum}" step="{step}" required{fixed}>'
    )


def _option(name: str, chosen: str) -> str:
    selected = " selected" if name == chosen else ""
    return f'<option value="{escape(name)}"{selected}>{escape(name)}</option>'


def _is_free_number(field: Setting) -> bool:
    return field.is_number and not field.choices


def _range(field: Setting) -> str:
    kind = "a whole number" if field.kind is int else "a number"
    return f"Enter {kind} from {field.minimum:,} to {field.maximum:,}."
