"""The panel that shows the dependency tree of a sentence, folded up until somebody asks for it."""

from __future__ import annotations

from html import escape
from typing import Any, Protocol

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.data.text import parser
from vsdemo.plots import tree_svg
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import Answer
from vsdemo.ui.components import html

LABEL = "Dependency tree of the sentence"
READING = "Reading the sentence"
HOW = "Arrows lead from a word to those that depend on it."
EMPTY = "There is no sentence yet."
ASK = "Point at a word to see what it does."


class Told(Protocol):
    """What a tab shows, as far as this panel cares."""

    @property
    def text(self) -> str:
        """The sentence."""


class TreePanel:
    """The panel; it reads a sentence only while it is open, and after the tab has answered."""

    def __init__(self) -> None:
        with gr.Accordion(LABEL, open=False, elem_classes="tree") as self.panel:
            self.note = gr.HTML(html.progress(READING, 0, 0), elem_classes="notes")
            self.tree = gr.HTML("", padding=False)
        self.open = gr.State(False)
        self.read = gr.State(None)  # the sentence whose tree stands here

    def follow(self, shown: gr.State) -> None:
        """Draws the sentence of `shown`, whose value is None or a Told, whenever it changes."""
        outputs = [self.note, self.tree, self.open, self.read]
        latest: dict[str, Any] = {
            "trigger_mode": "always_last",
            "show_progress": "hidden",
            "api_visibility": "private",
        }
        say = callbacks.telling(self.note)
        self.panel.expand(say(self.unfold), [shown, self.read], outputs, **latest)
        self.panel.collapse(lambda: False, None, self.open, **latest)
        shown.change(say(self.draw), [shown, self.open, self.read], outputs, **latest)

    def unfold(self, shown: Told | None, read: str | None) -> Answer:
        """Draws the sentence, now that somebody looks."""
        yield {self.open: True}
        yield from self.draw(shown, True, read)

    def draw(self, shown: Told | None, seen: bool, read: str | None) -> Answer:
        """Draws the sentence, unless nobody looks or it stands here already."""
        if shown is None or not seen or shown.text == read:
            return
        if not shown.text:
            yield {self.note: html.note(EMPTY), self.tree: "", self.read: None}
            return
        yield {self.note: html.progress(READING, 0, 0)}
        try:
            (found,) = parser.load("shipped").parse([shown.text])
        except UserError:
            yield {self.tree: "", self.read: None}  # rather no tree than that of another sentence
            raise
        name = escape(f"Dependency tree of “{shown.text}”")
        yield {
            self.note: html.note(HOW),
            self.tree: f'<div class="wide" role="region" tabindex="0" aria-label="{name}">'
            f'{tree_svg(found)}</div><p class="note said" aria-hidden="true">{ASK}</p>',
            self.read: shown.text,
        }
