"""Training curves as a component: four panels that grow while a model trains."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from vsdemo.ui.components.plotly import plotly_widget

PANELS = {  # panel of `vsdemo.plots.curves`: title, unit, the controls that apply to it
    "loss": ("Loss", "of a batch", "data-smooth data-log"),
    "dev": ("Dev", "", ""),
    "learning_rate": ("Learning rate", "", "data-log data-zero"),
    "throughput": ("Throughput", "pairs per second", "data-smooth data-zero"),
}
EMPTY = "The curves appear after the first step."
CONTROLS = (
    '<div class="controls"><ul class="runs" aria-label="Runs"></ul>'
    '<div class="settings"><label>Smoothing '
    '<input type="range" class="smoothing" min="0" max="0.95" step="0.05" value="0">'
    '<output class="weight">0.00</output></label>'
    '<label><input type="checkbox" class="log-scale"> Log scale</label>'
    '<button type="button" class="png" title="Save all panels as one image" disabled>PNG</button>'
    "</div></div>"
)


def curves_widget(label: str, name: str | None = None) -> gr.HTML:
    """Return empty panels, which draw the JSON of `to_json` as their value.

    Args:
        label: Name of the panels for screen readers.
        name: The component's elem_id.
    """
    panels = "".join(
        _panel(key, title=title, unit=unit, controls=controls)
        for key, (title, unit, controls) in PANELS.items()
    )
    note = f'<p class="note" role="status">{EMPTY}</p>'
    content = f'{CONTROLS}<div class="panels">{panels}{note}</div>'
    script = Path(__file__).with_name("curves.js")
    return plotly_widget(script, content, label=label, name=name)


def to_json(data: Mapping[str, Any]) -> str:
    """Return the curves of `vsdemo.plots.curves` as JSON for the component."""
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def _panel(key: str, *, title: str, unit: str, controls: str) -> str:
    metric = '<select class="metric" aria-label="Metric on dev" hidden></select>'
    return (
        f'<section class="panel" data-panel="{key}" {controls} aria-label="{title}">'
        f'<div class="head"><h3>{title}</h3>{metric if key == "dev" else ""}'
        f'<span class="unit">{unit}</span></div>'
        f'<div class="plot" role="img" aria-label="{title} by step"></div></section>'
    )
