"""The map as a component: drawn by plotly in the browser, and reporting selected items."""

from __future__ import annotations

import json
from pathlib import Path

import gradio as gr

from vsdemo.plots.embedding_map import Figure
from vsdemo.ui.components.plotly import plotly_widget
from vsdemo.ui.components.templates import render


def plotly_map(label: str, name: str | None = None) -> gr.HTML:
    """Return an empty map, which draws the JSON of `to_json` as its value.

    A click on an item, and a lasso or box around items, is a `select` event; `event.numbers` are
    the numbers of the items.

    Args:
        label: Name of the map for screen readers.
        name: The component's elem_id.
    """
    script = Path(__file__).with_name("map.js")
    return plotly_widget(script, render("hierarchy/map.html"), label=label, name=name)


def to_json(figure: Figure, source: str = "") -> str:
    """Return a figure or an overlay of `vsdemo.plots.embedding_map` as JSON for the component.

    Args:
        figure: The figure or the overlay.
        source: Address of a photo, with {number} in place of its number in the gallery.
    """
    return json.dumps({**figure, "source": source}, allow_nan=False, separators=(",", ":"))
