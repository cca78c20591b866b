"""The panel with sentences that a model composes about the photo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gradio as gr
from markupsafe import Markup
from PIL import Image

from vsdemo.core.alignment import Alignment
from vsdemo.core.errors import UserError
from vsdemo.core.language import message, number
from vsdemo.models.composition import Composed
from vsdemo.plots.region_marks import phrase
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import NEWEST, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.templates import render
from vsdemo.ui.components.widgets import chip, clickable_html, note_html
from vsdemo.ui.describe.state import DescribeState
from vsdemo.ui.library import Library

SENTENCES = 3
Photo = tuple[str, int | None, str | None]  # gallery, number, and file of a visitor's photo
NO_MODEL = message("No model here composes sentences; train a captioner for one that aligns.")


@dataclass(frozen=True)
class Phrase:
    """A phrase of a composed sentence.

    Attributes:
        text: Its words.
        score: Its score with its region; empty if no region shows it.
    """

    text: str
    score: str


class ComposedPanel:
    """A button, and the sentences that are composed when it is clicked."""

    def __init__(
        self, library: Library, open_photo: Callable[[DescribeState], Image.Image]
    ) -> None:
        self.library, self.open_photo = library, open_photo
        self.compose = chip(
            message("Compose new sentences"), elem_id="compose-sentences", visible=False
        )
        self.note = note_html(html.note(""))
        self.sentences = clickable_html("composed")
        self.texts = gr.State(())
        self.photo = gr.State(None)  # the photo that the sentences are about

    @property
    def outputs(self) -> list[gr.Component]:
        """The widgets that change."""
        return [self.compose, self.note, self.sentences, self.texts]

    def clear(self, gallery: str) -> Update:
        """Return the panel before anything is composed; hidden if no model can."""
        can_compose = bool(self.library.composers(gallery))
        return {
            self.compose: gr.update(visible=can_compose),
            self.note: "",
            self.sentences: "",
            self.texts: (),
        }

    def follow(self, state: gr.State) -> None:
        """Compose sentences about the photo on the page when the button is clicked."""
        guard = callbacks.report_errors(self.note, "composed")
        self.compose.click(guard(self.show), [state], self.outputs, **NEWEST)
        outputs = [*self.outputs, self.photo]
        state.change(guard(self.change_photo), [state, self.photo], outputs, **NEWEST)
        self.note.stop(guard(callbacks.stop(self.note)), None, self.note, **NEWEST)

    def change_photo(self, state: DescribeState | None, photo: Photo | None) -> Updates:
        """End what was begun for another photo."""
        if state is None:
            return
        if (shown := (state.gallery, state.photo, state.upload)) != photo:
            yield {**self.clear(state.gallery), self.photo: shown}

    def show(self, state: DescribeState | None) -> Updates:
        """Compose sentences about the photo on the page."""
        if state is None:
            return
        composers = self.library.composers(state.gallery)
        if not composers:
            raise UserError(NO_MODEL)
        model = state.model if state.model in composers else composers[0]
        named = yield from callbacks.wait_for(self.note, self.library.reader(model))
        yield {self.note: html.progress(message("Composing sentences"))}
        composed = named.reader.compose(self.open_photo(state), SENTENCES).sentences
        yield {
            self.note: "",
            self.sentences: sentences_html(composed, model),
            self.texts: tuple(sentence.text for sentence, _ in composed),
        }


def sentences_html(composed: Sequence[tuple[Composed, Alignment]], model: str) -> Markup:
    """Return composed sentences, each with its phrases."""
    rows = [(sentence, list(map(_phrase(of), of.content_fragments))) for sentence, of in composed]
    return render("describe/composed.html", rows=rows, model=model)


def _phrase(alignment: Alignment) -> Callable[[int], Phrase]:
    def of_fragment(m: int) -> Phrase:
        score = alignment.best_score(m)
        return Phrase(phrase(alignment, m), "" if score is None else number(score, 2))

    return of_fragment
