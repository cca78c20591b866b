"""The map as a component: drawn in the browser, and reporting selected items."""

from __future__ import annotations

import json
from pathlib import Path

import gradio as gr

from vsdemo.core.language import translate
from vsdemo.plots.embedding_map import Record
from vsdemo.ui.components.labels import template
from vsdemo.ui.components.templates import render


def map_widget(label: str, name: str | None = None) -> gr.HTML:
    """Return an empty map, which draws the JSON of `to_json` as its value.

    A click on an item, and an area around items, is a `select` event; `event.numbers` are the
    numbers of the items.

    Args:
        label: Name of the map for screen readers, in English.
        name: The component's elem_id.
    """
    script = Path(__file__).with_name("map.js").read_text(encoding="utf-8")
    page = template(lambda: render("hierarchy/map.html", label=translate(label)))
    return gr.HTML(
        "",
        html_template=page,
        js_on_load=script,
        elem_id=name,
    )


def to_json(record: Record, source: str = "") -> str:
    """Return a record or an overlay of `vsdemo.plots.embedding_map` as JSON for the component.

    Args:
        record: The record or the overlay.
        source: Address of a photo, with {number} in place of its number in the gallery.
    """
    return json.dumps({**record, "source": source}, allow_nan=False, separators=(",", ":"))
