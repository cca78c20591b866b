"""The tab Sentences: two sentences, how alike models find them, and what follows from what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.search.engine import Reader
from vsdemo.search.sentence_comparison import SentenceComparison, compare_sentences
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import Answer, Update
from vsdemo.ui.components import html
from vsdemo.ui.library import Library
from vsdemo.ui.library.galleries import TITLES
from vsdemo.ui.sentences import view
from vsdemo.ui.sentences.view import Row

ABOUT = "Type two sentences: how alike are they, and does one follow from the other?"
EXAMPLES = (
    ("A brown dog runs on the beach.", "An animal is outside."),
    ("A dog chases a cat.", "A cat chases a dog."),
    ("Two children play in the water.", "Kids are swimming."),
)
NEAREST = 4
REPORT = "vsdemo.report(element, trigger, watch)"


@dataclass(frozen=True)
class Pair:
    """What is asked: two sentences, the model and the gallery chosen; `wanted` when somebody
    looks."""

    texts: tuple[str, str]
    model: str
    gallery: str
    wanted: bool = False

    @property
    def address(self) -> dict[str, str]:
        """What the address bar says."""
        both = dict(zip(("a", "b"), self.texts, strict=True))
        return {"tab": "sentences", **both, "model": self.model, "gallery": self.gallery}


class Sentences:
    """Widgets of the tab, and what they do."""

    def __init__(self, library: Library) -> None:
        self.library = library
        gr.HTML(f'<p class="about">{ABOUT}</p>')
        with gr.Row(elem_classes="ask two"):
            self.first, self.second = _line("First sentence"), _line("Second sentence")
            self.go = gr.Button("Compare", variant="primary", scale=0, elem_id="compare")
        with gr.Row(elem_classes="examples"):
            gr.HTML("<span>try</span>", elem_classes="try")
            self.examples = [
                gr.Button(" / ".join(pair), elem_classes="chip", size="sm") for pair in EXAMPLES
            ]
        self.note = gr.HTML(html.note(""), elem_classes="notes")
        with gr.Row(elem_classes="results", elem_id="compared"):
            with gr.Column(scale=5, min_width=320):
                self.rows = gr.HTML(html.lines(8), elem_id="alike", js_on_load=REPORT)
            with gr.Column(scale=7, min_width=320):
                self.follows, self.strips = gr.HTML(), gr.HTML()
                self.near = gr.HTML(elem_id="near", js_on_load=REPORT)
        self.asked, self.shown = gr.State(None), gr.State(None)

    @property
    def questions(self) -> list[Any]:
        """Every widget that a question changes; `answer` follows where `asked` has changed, one
        answer after the other, so that none is written over a newer one."""
        return [self.first, self.second, self.note, self.asked]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that an answer may change. shown: the captions on the page."""
        return [self.note, self.rows, self.follows, self.strips, self.near, self.shown]

    def say(self, callback: Callable[..., Answer]) -> Callable[..., Answer]:
        """A callback that tells what went wrong below the sentences."""
        return callbacks.telling(self.note)(callback)

    def open(self, asked: Pair | None) -> Answer:
        """Asks what waits to be looked at, or the first example."""
        if asked is not None and not asked.wanted:
            yield self._ask(asked if any(asked.texts) else replace(asked, texts=EXAMPLES[0]))

    def changed(self, asked: Pair | None, model: str, gallery: str) -> Answer:
        """Asks the same of another model, or for captions of another gallery."""
        if asked is not None:
            yield {self.asked: replace(asked, model=model, gallery=gallery)}

    def run(self, first: str, second: str, asked: Pair | None) -> Answer:
        """Asks what was typed."""
        if asked is not None:
            yield self._ask(replace(asked, texts=(first, second)))

    def _ask(self, asked: Pair) -> Update:
        first, second = map(_checked, asked.texts, ("first", "second"))
        asked = replace(asked, texts=(first, second), wanted=True)
        return {self.first: first, self.second: second, self.asked: asked}

    def answer(self, asked: Pair | None) -> Answer:
        """Fills the page: what models say as soon as they are there, then the nearest captions."""
        if asked is None or not asked.wanted:
            return
        readers = yield from callbacks.readers(self.library, self.note)
        yield {**self._said(asked, readers), self.near: html.lines(NEAREST), self.shown: None}
        try:
            yield from self._nearest(asked)
        except UserError:
            yield {self.near: ""}  # rather nothing than what belongs to other sentences
            raise

    def _said(self, asked: Pair, readers: Mapping[str, Reader | str]) -> Update:
        found = {name: _row(name, reader, asked.texts) for name, reader in readers.items()}
        said = {
            name: row.said
            for name, row in found.items()
            if isinstance(row.said, SentenceComparison)
        }
        # The chosen model where it can tell, else the first that can.
        order = [name for name in (asked.model, *said) if name in said]
        ordered = next((name for name in order if said[name].excess), None)
        reading = next((name for name in order if said[name].attention), None)
        return {
            self.rows: view.rows(list(found.values()), asked.model, asked.address),
            self.follows: view.follows(said[ordered], ordered) if ordered else "",
            self.strips: view.strips(asked.texts, said[reading], reading) if reading else "",
            self.note: html.note(f"By {len(said)} of {len(readers)} models."),
        }

    def _nearest(self, asked: Pair) -> Answer:
        where = (self.library, self.note, asked.model, asked.gallery)
        engine = yield from callbacks.engine(*where)
        sentences = yield from callbacks.captions(*where)
        near = [engine.similar_sentences(text, NEAREST) for text in asked.texts]
        told = html.note(f"Nearest of {len(sentences):,} sentences by {asked.model}.")
        items = tuple(hit.item for hits in near for hit in hits)
        found = view.nearest(near, engine.score.unit)
        yield {self.near: found, self.note: told, self.shown: items}


def _line(label: str) -> gr.Textbox:
    return gr.Textbox(
        label=label, show_label=False, container=False, max_lines=1, placeholder=label
    )


def _checked(text: str, which: str) -> str:
    try:
        return Sentence.from_user(text).text
    except UserError as error:
        raise UserError(str(error).replace("The sentence", f"The {which} sentence")) from None


def _row(name: str, reader: Reader | str, texts: tuple[str, str]) -> Row:
    if isinstance(reader, str):
        return Row(name, name, "something that cannot be read", reader)
    dataset = reader.spec.dataset
    told = (name, name.removeprefix(f"{dataset} "), TITLES.get(dataset, dataset))
    try:
        return Row(*told, compare_sentences(reader, *texts))
    except UserError as error:
        return Row(*told, str(error))


def build(library: Library) -> Sentences:
    """Places the tab's widgets and ties those that concern only this tab."""
    tab = Sentences(library)
    say = tab.say
    latest = {
        "trigger_mode": "always_last",
        "show_progress": "hidden",
        "api_visibility": "private",
    }
    typed = [tab.first, tab.second, tab.asked]
    for start in (tab.go.click, tab.first.submit, tab.second.submit):
        start(say(tab.run), typed, tab.questions, **latest)
    for button, pair in zip(tab.examples, EXAMPLES, strict=True):

        def use(asked: Pair | None, texts: tuple[str, str] = pair) -> Answer:
            yield from tab.run(*texts, asked)

        button.click(say(use), [tab.asked], tab.questions, **latest)
    tab.asked.change(say(tab.answer), [tab.asked], tab.outputs, **latest)
    return tab
