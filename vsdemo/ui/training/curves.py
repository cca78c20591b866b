"""Training curves as a widget: four panels that grow while a model trains."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from vsdemo.ui.components.plotly import plotly_widget

PANELS = {  # of `vsdemo.plots.curves`: title, unit, which of the controls it has
    "loss": ("Loss", "of a batch", "data-smooth data-log"),
    "dev": ("Dev", "", ""),
    "learning_rate": ("Learning rate", "", "data-log data-zero"),
    "throughput": ("Throughput", "pairs per second", "data-smooth data-zero"),
}
EMPTY = "The curves begin with the first step."
CONTROLS = (
    '<div class="controls"><ul class="runs" aria-label="Runs"></ul>'
    '<div class="settings"><label>Smooth '
    '<input type="range" class="smooth" min="0" max="0.95" step="0.05" value="0">'
    '<output class="weight">0.00</output></label>'
    '<label><input type="checkbox" class="log"> Log scale</label>'
    '<button type="button" class="png" title="Save the panels as one picture" disabled>PNG</button>'
    "</div></div>"
)


def curves_widget(label: str, name: str | None = None) -> gr.HTML:
    """Return empty panels, whose value is what `to_json` returns.

    Args:
        label: What they are, for screen readers.
        name: The widget's elem_id.
    """
    panels = "".join(
        _panel(key, title=title, unit=unit, controls=controls)
        for key, (title, unit, controls) in PANELS.items()
    )
    note = f'<p class="note" role="status">{EMPTY}</p>'
    inside = f'{CONTROLS}<div class="panels">{panels}{note}</div>'
    draw = Path(__file__).with_name("curves.js")
    return plotly_widget(draw, inside, label=label, name=name)


def to_json(data: Mapping[str, Any]) -> str:
    """Return what `vsdemo.plots.curves` returned as JSON for the widget."""
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def _panel(key: str, *, title: str, unit: str, controls: str) -> str:
    figure = '<select class="figure" aria-label="Figure on dev" hidden></select>'
    return (
        f'<section class="panel" data-panel="{key}" {controls} aria-label="{title}">'
        f'<div class="head"><h3>{title}</h3>{figure if key == "dev" else ""}'
        f'<span class="unit">{unit}</span></div>'
        f'<div class="plot" role="img" aria-label="{title} by step"></div></section>'
    )
