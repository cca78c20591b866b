"""The map as a widget: plotly in the page, which tells the app what was chosen."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from urllib.parse import quote

import gradio as gr

from vsdemo.plots.map import SCRIPT, Figure

CODE = Path(__file__).with_name("map.js")


def plotly_map(says: str, name: str | None = None) -> gr.HTML:
    """An empty map, whose value is what `drawn` returns. says: what it is, for who cannot see it.

    A click, or a lasso or box around points, is a `select` event; `event.numbers` are the items'
    numbers. Plotly's script comes from its installed package, once the map shows.
    """
    gr.set_static_paths([SCRIPT])
    script = f"gradio_api/file={quote(SCRIPT.as_posix())}"  # relative: any root path will do
    return gr.HTML(
        "",
        html_template=f'<div class="map" role="region" aria-label="{escape(says)}" '
        f'data-script="{script}"><div class="plot"></div><img class="near" alt="" hidden>'
        '<p class="note" role="status"></p></div>',
        js_on_load=CODE.read_text(encoding="utf-8"),
        elem_id=name,
    )


def drawn(figure: Figure, source: str = "") -> str:
    """A figure of `vsdemo.plots.map` for the widget, or an overlay for the figure it shows.

    source: the address of a photo with {number} for its number in the gallery.
    """
    return json.dumps({**figure, "source": source}, allow_nan=False, separators=(",", ":"))
