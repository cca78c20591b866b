"""The tab Sentences: how similar two sentences are, and whether one follows from the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.language import message, number, translate
from vsdemo.core.sentences import Sentence
from vsdemo.search.engine import Reader
from vsdemo.search.suggestions import UnreadWord
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import NEWEST, QUIET, Update, Updates
from vsdemo.ui.components import html, words
from vsdemo.ui.components.labels import label, static
from vsdemo.ui.components.widgets import (
    about_html,
    clickable_html,
    note_html,
    one_line,
)
from vsdemo.ui.library.pending import Pending
from vsdemo.ui.sentences import view
from vsdemo.ui.sentences.state import Comparisons, PairState
from vsdemo.ui.tabs import Context, Selection, Visit, is_shown

ABOUT = message(
    "Type two sentences to see how similar they are, and whether one follows from the other."
)
EXAMPLES = (
    ("A boy in red is riding a bicycle on the street.", "A person is riding a bicycle."),
    ("A man looks at a dog.", "A dog looks at a man."),
    ("A woman is riding a bike.", "A lady rides a bicycle."),
)
NAMES = ("first", "second")
FIELDS = (message("First sentence"), message("Second sentence"))
NEAREST = 4


class SentencesTab:
    """The widgets of the tab, and their callbacks.

    A question changes `state`, and `answer` follows each change of `state`.
    """

    key: ClassVar = "sentences"
    title: ClassVar = message("Sentences")

    def __init__(self, context: Context) -> None:
        self.context, self.library = context, context.library
        about_html(ABOUT)
        with gr.Row(elem_classes="query-row two"):
            self.first, self.second = (one_line(name, name) for name in FIELDS)
            self.go = gr.Button(label("Compare"), variant="primary", scale=0, elem_id="compare")
        texts = [" / ".join(pair) for pair in EXAMPLES]
        self.examples = clickable_html(
            "pair-examples", static(lambda: html.examples(texts)), padding=False
        )
        self.words = [clickable_html(f"{name}-words", padding=False) for name in NAMES]
        self.note = note_html(html.note(""))
        with gr.Row(elem_classes="results", elem_id="compared"):
            with gr.Column(scale=5, min_width=320):
                self.rows = clickable_html("similarity", html.grey_lines(8))
            with gr.Column(scale=7, min_width=320):
                self.entailment, self.strips = gr.HTML(), gr.HTML()
                self.nearest = clickable_html("nearest-captions")
        self.state = gr.State(None)
        self.captions = gr.State(None)  # the nearest captions on the page
        self._connect()

    @property
    def inputs(self) -> list[Any]:
        """The widgets whose values `show` takes after the visit."""
        return [self.state]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a question may change."""
        return [self.first, self.second, self.note, self.state, *self.context.place]

    @property
    def answers(self) -> list[Any]:
        """Every widget that an answer may change."""
        return [
            *self.words,
            self.note,
            self.rows,
            self.entailment,
            self.strips,
            self.nearest,
            self.captions,
        ]

    def _connect(self) -> None:
        context, outputs = self.context, self.outputs
        guard, inputs = context.guard(self), [self.first, self.second, self.state]
        for event in (self.go.click, self.first.submit, self.second.submit):
            event(guard(self.run_typed), inputs, outputs, **NEWEST)
        self.examples.click(guard(self.run_example), [self.state], outputs, **NEWEST)
        for which, widget in enumerate(self.words):
            widget.click(guard(self.corrector(which)), [self.state], outputs, **NEWEST)
        guard = context.guard(self, channel="comparison")
        self.state.change(guard(self.answer), [self.state], self.answers, **NEWEST)
        self.note.stop(guard(callbacks.stop(self.note)), None, self.note, **NEWEST)
        search_caption = context.guard(self, channel="")(self.search_caption)
        navigation = [self.note, *context.navigation]
        self.nearest.click(search_caption, [self.captions, self.state], navigation, **QUIET)

    def begin_loading(self, visit: Visit) -> Sequence[Pending[Any]]:
        """Begin to load all models, which are compared."""
        return [self.library.all_readers()]

    def show(self, visit: Visit, state: PairState | None) -> Updates:
        """Compare the sentences of the address, else the same as before or the first example."""
        if state is not None and is_shown(visit, state):
            yield self.context.record(state)
            return
        first, second = visit.selection.value("a"), visit.selection.value("b")
        texts = state.texts if state else EXAMPLES[0]
        is_new = state is None or visit.selection != state.selection
        if is_new and first is not None and second is not None:
            texts = (first, second)
        yield self._ask(PairState(texts, visit.model, visit.gallery, visit.selection))

    def search_caption(
        self, captions: tuple[str, ...] | None, state: PairState | None, event: gr.EventData
    ) -> Updates:
        """Search for the photos that the clicked caption describes."""
        captions = captions or ()
        text = html.tidy(captions[callbacks.clicked_number(event, len(captions))])
        if state is not None:
            yield self.context.go("search", Selection(text))

    def run_example(self, state: PairState | None, event: gr.EventData) -> Updates:
        """Compare the sentences of the clicked example."""
        pair = EXAMPLES[callbacks.clicked_number(event, len(EXAMPLES))]
        yield from self.run(*pair, state)

    def run_typed(self, first: str, second: str, state: PairState | None) -> Updates:
        """Compare what was typed."""
        typed = {self.first: first, self.second: second}
        for update in self.run(first, second, state):
            # A visitor may be typing the next sentence already.
            yield {widget: value for widget, value in update.items() if typed.get(widget) != value}

    def run(self, first: str, second: str, state: PairState | None) -> Updates:
        """Compare two sentences."""
        if state is not None:
            # Not the sentences of the address, to which Back leads.
            selection = replace(state.selection, other=())
            yield self._ask(replace(state, texts=(first, second), selection=selection))

    def corrector(self, which: int) -> Callable[..., Updates]:
        """Return a callback that replaces an unread word with the clicked one.

        Args:
            which: Which of the two sentences has the word, 0 or 1.
        """

        def correct(state: PairState | None, event: gr.EventData) -> Updates:
            if state is None:
                return
            readers = yield from callbacks.wait_for(self.note, self.library.all_readers())
            texts = [*state.texts]
            unread = _unread_words(readers.get(state.model), texts[which])
            texts[which] = callbacks.corrected_text(event, texts[which], unread)
            yield from self.run(texts[0], texts[1], state)

        return correct

    def _ask(self, state: PairState) -> Update:
        first = _check(state.texts[0], "first")
        second = _check(state.texts[1], "second")
        state = replace(state, texts=(first, second))
        texts = {self.first: first, self.second: second}
        return {**texts, self.state: state, **self.context.record(state)}

    def answer(self, state: PairState | None) -> Updates:
        """Show the models' comparisons as soon as they are loaded, then the nearest captions."""
        if state is None:
            return
        readers = yield from callbacks.wait_for(self.note, self.library.all_readers())
        reader = readers.get(state.model)
        unread = [words.unread_words(text, _unread_words(reader, text)) for text in state.texts]
        yield {
            **dict(zip(self.words, unread, strict=True)),
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
            self.rows: html.note(comparisons.summary) + view.rows(comparisons.rows, state.model),
            self.entailment: entailment,
            self.strips: strips,
            self.note: "",
        }

    def _nearest(self, state: PairState) -> Updates:
        library, note = self.library, self.note
        engine = yield from callbacks.load_engine(library, note, state.model, state.gallery)
        captions = yield from callbacks.load_captions(library, note, state.model, state.gallery)
        nearest = [engine.similar_sentences(text, NEAREST) for text in state.texts]
        text = translate(
            "Nearest of {count} sentences by {model}.",
            count=number(len(captions)),
            model=state.model,
        )
        yield {
            self.nearest: html.note(text) + view.nearest(nearest, engine.score.unit),
            note: "",
            self.captions: tuple(hit.item for hits in nearest for hit in hits),
        }


def _check(text: str, which: str) -> str:
    try:
        return Sentence.from_user(text).text
    except UserError as error:
        raise UserError(str(error).replace("The sentence", f"The {which} sentence")) from None


def _unread_words(reader: Reader | str | None, text: str) -> list[UnreadWord]:
    """Return the words that a model has not learned; none if it could not be loaded."""
    return reader.unread_words(text) if isinstance(reader, Reader) else []
