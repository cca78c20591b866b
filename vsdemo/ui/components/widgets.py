"""Widgets that several tabs share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr
from gradio.i18n import I18nData

from vsdemo.ui.components import html
from vsdemo.ui.components.labels import choice, label, static
from vsdemo.ui.components.templates import render

ON_LOAD = "vsdemo.reportClicks(element, trigger); vsdemo.announceUpdates(element, watch)"
FOLLOW_ADDRESS = "vsdemo.followAddress(element, trigger, watch)"


def clickable_html(elem_id: str, value: str | I18nData = "", **options: Any) -> gr.HTML:
    """Return HTML that reports clicks on its buttons with `data-event` as events."""
    return gr.HTML(value, elem_id=elem_id, js_on_load=ON_LOAD, **options)


def image_text_html(image: str) -> gr.HTML:
    """Return a widget that gives the image of a `gr.Image` its alternative text.

    Args:
        image: The elem_id of the image.
    """
    on_load = f"vsdemo.nameImage('{image}', element, watch)"
    return gr.HTML("", js_on_load=on_load, elem_classes="image-text")


def address_html() -> gr.HTML:
    """Return a widget for the address bar; Back and Forward report a `select` event."""
    return gr.HTML(elem_id="address", js_on_load=FOLLOW_ADDRESS, padding=False)


def programs_html() -> gr.HTML:
    """Return a widget that shows how programs get the same; it is placed on the page later."""
    on_load = "vsdemo.showPrograms(element, watch)"
    return gr.HTML("", elem_id="programs", js_on_load=on_load, padding=False, render=False)


def guide_html() -> gr.HTML:
    """Return the button that opens the guide, and the guide."""
    frame = static(lambda: render("guide/frame.html"))
    on_load = "vsdemo.showGuide(element, watch)"
    return gr.HTML(frame, js_on_load=on_load, elem_classes="guide-frame", padding=False)


def setting_menu(
    name: I18nData, choices: Sequence[tuple[Any, str]], value: str, **options: Any
) -> gr.Dropdown:
    """Return a menu in the line above the tabs.

    Args:
        name: Its label.
        choices: What is shown, and the value.
        value: The first value.
        options: Other arguments of `gr.Dropdown`.
    """
    return gr.Dropdown(
        choices, value=value, label=name, elem_classes="setting", min_width=120, **options
    )


def note_html(value: str | I18nData = "") -> gr.HTML:
    """Return HTML for notes, progress and errors; its button Cancel reports a `stop` event."""
    return gr.HTML(value, elem_classes="notes", js_on_load=ON_LOAD)


def about_html(text: str, **options: Any) -> gr.HTML:
    """Return the line that says what a tab or a panel shows."""
    return gr.HTML(static(lambda: html.about(text)), **options)


def chip(text: str, **options: Any) -> gr.Button:
    """Return a small button."""
    return gr.Button(label(text), elem_classes="chip", size="sm", **options)


def upload_chip(**options: Any) -> gr.UploadButton:
    """Return a small button to upload a photo."""
    return gr.UploadButton(
        choice("Use your own photo"),
        file_types=["image"],
        elem_classes="chip",
        size="sm",
        **options,
    )


def one_line(name: str, placeholder: str, **options: Any) -> gr.Textbox:
    """Return a one-line text box, whose label is visible to screen readers only."""
    return gr.Textbox(
        label=label(name),
        show_label=False,
        container=False,
        max_lines=1,
        placeholder=label(placeholder),
        **options,
    )
