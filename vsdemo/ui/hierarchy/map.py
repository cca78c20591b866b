"""The map as a widget: plotly in the page, which tells the app what was chosen."""

from __future__ import annotations

import json
from pathlib import Path

import gradio as gr

from vsdemo.plots.embedding_map import Figure
from vsdemo.ui.components.plotly import plotly_widget

INSIDE = (
    '<div class="plot"></div><img class="near" alt="" hidden><p class="note" role="status"></p>'
)


def plotly_map(says: str, name: str | None = None) -> gr.HTML:
    """An empty map, whose value is what `drawn` returns. says: what it is, for who cannot see it.

    A click, or a lasso or box around points, is a `select` event; `event.numbers` are the items'
    numbers.
    """
    return plotly_widget(Path(__file__).with_name("map.js"), INSIDE, says, name)


def drawn(figure: Figure, source: str = "") -> str:
    """Return a figure or an overlay of `vsdemo.plots.embedding_map` as JSON for the widget.

    source: the address of a photo with {number} for its number in the gallery.
    """
    return json.dumps({**figure, "source": source}, allow_nan=False, separators=(",", ":"))
