"""The panel that shows the alignment of another model beside the first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gradio as gr
from markupsafe import Markup
from PIL import Image

from vsdemo.core.alignment import Alignment
from vsdemo.core.images import open_photo
from vsdemo.core.language import message, translate
from vsdemo.plots import overlay_svg
from vsdemo.ui import callbacks
from vsdemo.ui.alignment.state import AlignState
from vsdemo.ui.callbacks import NEWEST, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import choice, label
from vsdemo.ui.components.sentence import phrases_shown
from vsdemo.ui.components.templates import render
from vsdemo.ui.components.widgets import note_html
from vsdemo.ui.library import Library

NONE = message("no other model")


class ComparisonPanel:
    """A choice of models, and the alignment by the chosen one."""

    def __init__(self, library: Library, path_of: Callable[[AlignState], Path | str]) -> None:
        self.library, self.path_of = library, path_of
        self.choice = gr.Dropdown(
            [(choice(NONE), NONE)],
            value=NONE,
            label=label("Compare with"),
            elem_id="align-other",
            visible=False,
        )
        self.note = note_html(html.note(""))
        self.other = gr.HTML("", elem_id="align-comparison")

    def offer(self, state: AlignState) -> Update:
        """Offer the other models that align."""
        others = [name for name in self.library.aligners(state.gallery) if name != state.aligned_by]
        choices = [(translate(NONE), NONE), *others]
        return {self.choice: gr.update(choices=choices, visible=bool(others))}

    def follow(self, state: gr.State) -> None:
        """Align by the other model when it is chosen, and whenever there is a new alignment."""
        guard = callbacks.report_errors(self.note, "comparison")
        for event in (self.choice.input, state.change):
            event(guard(self.show), [state, self.choice], [self.note, self.other], **NEWEST)

    def show(self, state: AlignState | None, model: str | None) -> Updates:
        """Show the alignment by another model."""
        is_needed = state is not None and state.alignment is not None
        if state is None or not is_needed or model in (None, NONE, state.aligned_by):
            yield {self.note: "", self.other: ""}
            return
        assert model is not None
        named = yield from callbacks.wait_for(self.note, self.library.aligner(model, state.gallery))
        image: Image.Image = open_photo(self.path_of(state))
        yield {self.note: html.progress(message("Aligning by the other model"))}
        alignment = named.reader.align(image, state.text)
        yield {
            self.note: "",
            self.other: alignment_html(named.model, image, alignment),
        }


def alignment_html(model: str, image: Image.Image, alignment: Alignment) -> Markup:
    """Return the alignment of a photo by another model as one picture."""
    return render(
        "alignment/comparison.html",
        model=model,
        summary=phrases_shown(alignment),
        picture=Markup(overlay_svg(image, alignment)),  # escaped by the plot
    )
