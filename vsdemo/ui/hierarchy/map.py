"""The map as a widget: plotly in the page, which reports what was chosen."""

from __future__ import annotations

import json
from pathlib import Path

import gradio as gr

from vsdemo.plots.embedding_map import Figure
from vsdemo.ui.components.plotly import plotly_widget

INSIDE = (
    '<div class="plot"></div><img class="near" alt="" hidden><p class="note" role="status"></p>'
)


def plotly_map(label: str, name: str | None = None) -> gr.HTML:
    """Return an empty map, whose value is what `to_json` returns.

    A click, or a lasso or box around points, is a `select` event; `event.numbers` are the numbers
    of the items.

    Args:
        label: What it is, for screen readers.
        name: The widget's elem_id.
    """
    draw = Path(__file__).with_name("map.js")
    return plotly_widget(draw, INSIDE, label=label, name=name)


def to_json(figure: Figure, source: str = "") -> str:
    """Return a figure or an overlay of `vsdemo.plots.embedding_map` as JSON for the widget.

    Args:
        figure: The figure, or what changes on it.
        source: Address of a photo with {number} for its number in the gallery.
    """
    return json.dumps({**figure, "source": source}, allow_nan=False, separators=(",", ":"))
