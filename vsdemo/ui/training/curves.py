"""Training curves as a component: four panels that grow while a model trains."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from vsdemo.core.language import message, translate
from vsdemo.ui.components.plotly import plotly_widget
from vsdemo.ui.components.templates import render

EMPTY = message("The curves appear after the first step.")


def curves_widget(label: str, name: str | None = None) -> gr.HTML:
    """Return empty panels, which draw the JSON of `to_json` as their value.

    Args:
        label: Name of the panels for screen readers.
        name: The component's elem_id.
    """
    script = Path(__file__).with_name("curves.js")
    return plotly_widget(
        script,
        lambda: render("training/curves.html", empty=translate(EMPTY)),
        label=label,
        name=name,
    )


def to_json(data: Mapping[str, Any]) -> str:
    """Return the curves of `vsdemo.plots.curves` as JSON for the component."""
    return json.dumps(data, allow_nan=False, separators=(",", ":"))
