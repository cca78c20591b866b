"""Widgets that several tabs share."""

from __future__ import annotations

from typing import Any

import gradio as gr


def clickable_html(elem_id: str, value: str = "", **options: Any) -> gr.HTML:
    """Return a widget that reports clicks on buttons with `data-event` in its HTML."""
    script = "vsdemo.report(element, trigger, watch)"
    return gr.HTML(value, elem_id=elem_id, js_on_load=script, **options)


def note_html(value: str = "") -> gr.HTML:
    """Return a widget for notes, progress and errors."""
    return gr.HTML(value, elem_classes="notes")


def chip(label: str, **options: Any) -> gr.Button:
    """Return a small button."""
    return gr.Button(label, elem_classes="chip", size="sm", **options)


def upload_chip() -> gr.UploadButton:
    """Return a small button to upload a photo."""
    return gr.UploadButton(
        "Use your own photo", file_types=["image"], elem_classes="chip", size="sm"
    )


def one_line(label: str, placeholder: str, **options: Any) -> gr.Textbox:
    """Return a text box of one line, whose label only screen readers read."""
    return gr.Textbox(
        label=label,
        show_label=False,
        container=False,
        max_lines=1,
        placeholder=placeholder,
        **options,
    )
