"""The panel with the dependency tree of a sentence, collapsed by default."""

from __future__ import annotations

from typing import Protocol

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.data.text import parser
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import LATEST, NEWEST, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.language import dependency_tree
from vsdemo.ui.components.widgets import note_html

LABEL = "Dependency tree of the sentence"
PARSING = "Parsing the sentence"
LEGEND = "Arrows point from a word to its dependents."
NO_SENTENCE = "There is no sentence yet."


class HasText(Protocol):
    """The state of a tab with a sentence."""

    @property
    def text(self) -> str:
        """The sentence."""


class TreePanel:
    """The panel; it parses only while it is open, after the tab has shown its results."""

    def __init__(self) -> None:
        with gr.Accordion(LABEL, open=False, elem_classes="tree") as self.panel:
            self.note = note_html(html.progress(PARSING))
            self.tree = gr.HTML("", padding=False)
        self.open = gr.State(False)
        self.parsed = gr.State(None)  # the sentence whose tree is drawn

    def follow(self, state: gr.State) -> None:
        """Draw the sentence of a tab's state whenever it changes."""
        outputs = [self.note, self.tree, self.open, self.parsed]
        guard = callbacks.report_errors(self.note, channel="tree")
        self.panel.expand(guard(self.unfold), [state, self.parsed], outputs, **NEWEST)
        self.panel.collapse(lambda: False, None, self.open, **LATEST)
        state.change(guard(self.draw), [state, self.open, self.parsed], outputs, **NEWEST)

    def unfold(self, state: HasText | None, parsed: str | None) -> Updates:
        """Draw the sentence when the panel is opened."""
        yield {self.open: True}
        yield from self.draw(state, True, parsed)

    def draw(
        self,
        state: HasText | None,
        is_open: bool,  # noqa: FBT001 (a widget's value)
        parsed: str | None,
    ) -> Updates:
        """Draw the sentence, unless the panel is closed or shows it already."""
        if state is None or not is_open or state.text == parsed:
            return
        if not state.text:
            yield {self.note: html.note(NO_SENTENCE), self.tree: "", self.parsed: None}
            return
        yield {self.note: html.progress(PARSING)}
        try:
            (tree,) = parser.load("shipped").parse([state.text])
        except UserError:
            yield {self.tree: "", self.parsed: None}  # not the tree of another sentence
            raise
        yield {
            self.note: html.note(LEGEND),
            self.tree: dependency_tree(state.text, tree),
            self.parsed: state.text,
        }
