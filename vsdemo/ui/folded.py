"""A collapsed panel that works only while it is open, after the tab has shown its results."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.language import translate
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import LATEST, NEWEST, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import label, static
from vsdemo.ui.components.widgets import clickable_html, note_html


class FoldedPanel:
    """A panel whose content follows the state of a tab; a subclass says what it shows.

    Args:
        title: Its heading.
        working: What it says while it computes.
        channel: Name of its requests: a newer one replaces an older one.
    """

    def __init__(self, title: str, working: str, channel: str) -> None:
        self.working, self.channel = working, channel
        with gr.Accordion(
            label(title), open=False, elem_id=f"{channel}-fold", elem_classes="tree"
        ) as self.panel:
            self.note = note_html(static(lambda: html.progress(working)))
            self.content = clickable_html(f"{channel}-panel", padding=False)
        self.open = gr.State(False)
        self.shown = gr.State(None)  # the subject of the content

    def subject(self, state: Any) -> Hashable:
        """Return what the panel is to show of a state; falsy if there is nothing to show."""
        raise NotImplementedError

    def fill(self, state: Any) -> Updates:
        """Yield updates of `note` and `content` for a state that has a subject."""
        raise NotImplementedError

    def nothing(self) -> str:
        """Return what the panel says if there is nothing to show."""
        return ""

    def follow(self, state: gr.State) -> None:
        """Show the state of a tab whenever it changes."""
        outputs = [self.note, self.content, self.open, self.shown]
        guard = callbacks.report_errors(self.note, channel=self.channel)
        self.panel.expand(guard(self.unfold), [state, self.shown], outputs, **NEWEST)
        self.panel.collapse(lambda: False, None, self.open, **LATEST)
        state.change(guard(self.draw), [state, self.open, self.shown], outputs, **NEWEST)

    def unfold(self, state: Any, shown: Hashable) -> Updates:
        """Show the state when the panel is opened."""
        yield {self.open: True}
        yield from self.draw(state, True, shown)

    def draw(
        self,
        state: Any,
        is_open: bool,  # noqa: FBT001 (a widget's value)
        shown: Hashable,
    ) -> Updates:
        """Show the state, unless the panel is closed or shows it already."""
        if state is None or not is_open:
            return
        if not (subject := self.subject(state)):
            yield {
                self.note: html.note(translate(self.nothing())),
                self.content: "",
                self.shown: None,
            }
            return
        if subject == shown:
            yield {self.shown: shown}  # ends a request for another subject
            return
        yield {self.note: html.progress(self.working), self.shown: None}
        try:
            yield from self.fill(state)
        except UserError:
            yield {self.content: "", self.shown: None}  # not what belongs to another subject
            raise
        yield {self.shown: subject}
