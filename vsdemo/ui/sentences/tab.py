"""The tab Sentences: how similar two sentences are, and whether one follows from the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import NEWEST, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.widgets import (
    chip,
    clickable_html,
    examples_label,
    note_html,
    one_line,
)
from vsdemo.ui.library import Library
from vsdemo.ui.sentences import view
from vsdemo.ui.sentences.state import Comparisons, PairState

ABOUT = "Type two sentences to see how similar they are, and whether one follows from the other."
EXAMPLES = (
    ("A brown dog runs on the beach.", "An animal is outside."),
    ("A dog chases a cat.", "A cat chases a dog."),
    ("Two children play in the water.", "Kids are swimming."),
)
NEAREST = 4


class SentencesTab:
    """The widgets of the tab, and their callbacks.

    A question changes `state`; `answer` follows each change of `state`, one after the other, so
    that an older answer never replaces a newer one.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        gr.HTML(html.about(ABOUT))
        with gr.Row(elem_classes="query-row two"):
            self.first = one_line("First sentence", "First sentence")
            self.second = one_line("Second sentence", "Second sentence")
            self.go = gr.Button("Compare", variant="primary", scale=0, elem_id="compare")
        with gr.Row(elem_classes="examples"):
            examples_label()
            self.examples = [chip(" / ".join(pair)) for pair in EXAMPLES]
        self.note = note_html(html.note(""))
        with gr.Row(elem_classes="results", elem_id="compared"):
            with gr.Column(scale=5, min_width=320):
                self.rows = clickable_html("similarity", html.grey_lines(8))
            with gr.Column(scale=7, min_width=320):
                self.entailment, self.strips = gr.HTML(), gr.HTML()
                self.nearest = clickable_html("nearest-captions")
        self.state = gr.State(None)
        self.captions = gr.State(None)  # the nearest captions on the page

    @property
    def questions(self) -> list[Any]:
        """Every widget that a question may change."""
        return [self.first, self.second, self.note, self.state]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that an answer may change."""
        return [self.note, self.rows, self.entailment, self.strips, self.nearest, self.captions]

    def guard(self, callback: Callable[..., Updates]) -> Callable[..., Updates]:
        """Return a callback that shows its errors below the sentences."""
        return callbacks.report_errors(self.note, "sentences")(callback)

    def open(self, state: PairState | None) -> Updates:
        """Compare what waits for the tab to be opened, or the first example."""
        if state is not None and not state.active:
            yield self._ask(state if any(state.texts) else replace(state, texts=EXAMPLES[0]))

    def change_settings(self, state: PairState | None, model: str, gallery: str) -> Updates:
        """Compare the same with another model, or with captions of another gallery."""
        if state is not None:
            yield {self.state: replace(state, model=model, gallery=gallery)}

    def run(self, first: str, second: str, state: PairState | None) -> Updates:
        """Compare what was typed."""
        if state is not None:
            yield self._ask(replace(state, texts=(first, second)))

    def _ask(self, state: PairState) -> Update:
        first = _check(state.texts[0], "first")
        second = _check(state.texts[1], "second")
        state = replace(state, texts=(first, second), active=True)
        return {self.first: first, self.second: second, self.state: state}

    def answer(self, state: PairState | None) -> Updates:
        """Show the models' comparisons as soon as they are loaded, then the nearest captions."""
        if state is None or not state.active:
            return
        readers = yield from callbacks.wait_for(self.note, self.library.all_readers())
        yield {
            **self._comparisons(state, Comparisons.of(state, readers)),
            self.nearest: html.grey_lines(NEAREST),
            self.captions: None,
        }
        try:
            yield from self._nearest(state)
        except UserError:
            yield {self.nearest: ""}  # not the captions of other sentences
            raise

    def _comparisons(self, state: PairState, comparisons: Comparisons) -> Update:
        by_model = comparisons.by_model
        entailment, strips = "", ""
        if model := comparisons.by_order:
            entailment = view.entailment(by_model[model], model)
        if model := comparisons.by_letters:
            strips = view.strips(state.texts, by_model[model], model)
        return {
            self.rows: view.rows(comparisons.rows, state.model, state.address),
            self.entailment: entailment,
            self.strips: strips,
            self.note: html.note(comparisons.summary),
        }

    def _nearest(self, state: PairState) -> Updates:
        library, note = self.library, self.note
        engine = yield from callbacks.load_engine(library, note, state.model, state.gallery)
        captions = yield from callbacks.load_captions(library, note, state.model, state.gallery)
        nearest = [engine.similar_sentences(text, NEAREST) for text in state.texts]
        yield {
            self.nearest: view.nearest(nearest, engine.score.unit),
            note: html.note(f"Nearest of {len(captions):,} sentences by {state.model}."),
            self.captions: tuple(hit.item for hits in nearest for hit in hits),
        }


def _check(text: str, which: str) -> str:
    try:
        return Sentence.from_user(text).text
    except UserError as error:
        raise UserError(str(error).replace("The sentence", f"The {which} sentence")) from None


def build(library: Library) -> SentencesTab:
    """Create the tab, and connect the events that concern only this tab."""
    tab = SentencesTab(library)
    inputs = [tab.first, tab.second, tab.state]
    for event in (tab.go.click, tab.first.submit, tab.second.submit):
        event(tab.guard(tab.run), inputs, tab.questions, **NEWEST)
    for button, pair in zip(tab.examples, EXAMPLES, strict=True):

        def run_example(state: PairState | None, texts: tuple[str, str] = pair) -> Updates:
            yield from tab.run(*texts, state)

        button.click(tab.guard(run_example), [tab.state], tab.questions, **NEWEST)
    guard = callbacks.report_errors(tab.note, "comparison")
    tab.state.change(guard(tab.answer), [tab.state], tab.outputs, **NEWEST)
    tab.note.stop(guard(callbacks.stop(tab.note)), None, tab.note, **NEWEST)
    return tab
