"""The tab Search: a sentence, and the photos it describes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from vsdemo.engine import MAX_K, Engine
from vsdemo.types import Hit
from vsdemo.ui import answers, page, pictures
from vsdemo.ui.answers import Answer, Update
from vsdemo.ui.library import Library
from vsdemo.ui.tree import TreePanel

ABOUT = "Type a sentence and see the photos it describes."
EXAMPLES = ("two dogs play in the snow", "children at the beach", "a man climbs a rock wall")
NEAREST = 6


@dataclass(frozen=True)
class Shown:
    """What stands on the page; clicks are read against it, not against the drop-downs."""

    text: str
    model: str
    gallery: str
    k: int  # photos a time
    hits: tuple[Hit, ...] = ()
    photo: int = 0

    @property
    def address(self) -> dict[str, str]:
        """What the address bar says."""
        values = {"q": self.text, "model": self.model, "gallery": self.gallery}
        best = bool(self.hits) and self.photo == self.hits[0].number
        return values if best else {**values, "photo": str(self.photo)}


class Search:
    """Widgets of the tab, and what they do."""

    def __init__(self, library: Library) -> None:
        self.library = library
        gr.HTML(f'<p class="about">{ABOUT}</p>')
        with gr.Row(elem_classes="ask"):
            self.query = gr.Textbox(
                EXAMPLES[0],
                label="Sentence",
                show_label=False,
                container=False,
                max_lines=1,
                placeholder="What should the photos show?",
                elem_id="query",
                scale=1,
            )
            self.find = gr.Button("Find photos", variant="primary", scale=0, elem_id="find")
        with gr.Row(elem_classes="examples"):
            gr.HTML("<span>try</span>", elem_classes="try")
            self.examples = [gr.Button(e, elem_classes="chip", size="sm") for e in EXAMPLES]
        self.note = gr.HTML(page.progress("Loading the model", 0, 0), elem_classes="notes")
        with gr.Row(elem_classes="results"):
            with gr.Column(scale=8, min_width=320):
                self.grid = _shown(page.skeleton(12), "grid")
                self.more = gr.Button("Show more", elem_classes="more", interactive=False)
            with gr.Column(scale=5, min_width=320, elem_classes="aside"):
                self.detail = _shown("", "detail")
        self.tree = TreePanel()
        self.shown = gr.State(None)

    @property
    def outputs(self) -> list[Any]:
        """Every widget that an answer may change."""
        return [self.query, self.note, self.grid, self.more, self.detail, self.shown]

    def say(self, callback: Callable[..., Answer]) -> Callable[..., Answer]:
        """A callback that tells what went wrong below the query."""
        return answers.telling(self.note)(callback)

    def run(self, text: str, model: str, gallery: str, k: int) -> Answer:
        """Finds photos for a sentence."""
        yield from self.show(Shown(text, model, gallery, k))

    def show(self, asked: Shown, photo: int | None = None) -> Answer:
        """Fills the page; `photo` is the one to show large, by default the best."""
        engine = yield from self._engine(asked)
        hits = tuple(engine.search(asked.text, asked.k))
        number = hits[0].number if photo is None or photo >= len(engine.photos) else photo
        shown = replace(asked, hits=hits, photo=number)
        yield {
            self.query: asked.text,
            self.note: page.note(_summary(engine, shown)),
            self.more: gr.update(interactive=len(hits) < min(len(engine.photos), MAX_K)),
            **self._grid(engine, shown),
            **self._detail(engine, shown),
        }

    def show_more(self, shown: Shown | None) -> Answer:
        """Adds as many photos again to those on the page."""
        if shown is None:
            return
        engine = yield from self._engine(shown)
        hits = tuple(engine.search(shown.text, min(len(shown.hits) + shown.k, MAX_K)))
        shown = replace(shown, hits=hits)
        yield {
            self.note: page.note(_summary(engine, shown)),
            self.more: gr.update(interactive=len(hits) < min(len(engine.photos), MAX_K)),
            self.shown: shown,
            **self._grid(engine, shown),
        }

    def select(self, shown: Shown | None, event: gr.EventData) -> Answer:
        """Shows the photo that was clicked, large."""
        if shown is None:
            return
        engine = yield from self._engine(shown)
        number = answers.number(event, len(engine.photos))
        yield self._detail(engine, replace(shown, photo=number))

    def ask_caption(self, shown: Shown | None, event: gr.EventData) -> Answer:
        """Finds photos for the caption that was clicked."""
        if shown is None:
            return
        engine = yield from self._engine(shown)
        written = engine.own_captions(shown.photo)
        text = written[answers.number(event, len(written))]
        yield from self.show(replace(shown, text=page.tidy(text)))

    def _engine(self, shown: Shown) -> Any:
        return answers.engine(self.library, self.note, shown.model, shown.gallery)

    def _source(self, gallery: str) -> page.Source:
        token = self.library.galleries[gallery].token
        return lambda number, size: pictures.address(token, number, size)

    def _grid(self, engine: Engine, shown: Shown) -> Update:
        source, words = self._source(shown.gallery), words_of(engine)
        cards = page.grid(shown.hits, engine.score, source, words, shown.photo)
        return {self.grid: cards}

    def _detail(self, engine: Engine, shown: Shown) -> Update:
        source = self._source(shown.gallery)
        found = next((h for h in shown.hits if h.number == shown.photo), None)
        fit = page.bar(found, engine.score) if found else ""
        near = page.grid(
            engine.similar_photos(shown.photo, NEAREST),
            engine.score,
            source,
            words_of(engine),
            kind="strip",
        )
        html = page.detail(
            source(shown.photo, "large"),
            engine.own_captions(shown.photo),
            fit,
            near,
            shown.address,
        )
        return {self.detail: html, self.shown: shown}


def words_of(engine: Engine) -> page.Words:
    """The first caption of a photo, or its file's name."""

    def words(number: int) -> str:
        written = engine.own_captions(number)
        return page.tidy(written[0]) if written else engine.gallery.photos[number].stem

    return words


def _shown(html: str, name: str) -> gr.HTML:
    return gr.HTML(
        html, elem_id=name, js_on_load="vsdemo.report(element, trigger, watch)", padding=False
    )


def _summary(engine: Engine, shown: Shown) -> str:
    text = f"Best {len(shown.hits):,} of {len(engine.photos):,} photos."
    if engine.unreadable:
        text += f" Left out, as they cannot be read: {len(engine.unreadable):,} files."
    if unknown := list(dict.fromkeys(engine.unknown_words(shown.text))):
        listed = ", ".join(f"“{w}”" for w in unknown[:5])
        them = "it" if len(unknown) == 1 else "them"
        text += f" The model does not know {listed} and passed over {them}."
    return text


def build(library: Library) -> Search:
    """Places the tab's widgets and ties those that concern only this tab."""
    tab = Search(library)
    say, quiet = tab.say, {"show_progress": "hidden", "api_visibility": "private"}
    latest = {"trigger_mode": "always_last", **quiet}
    tab.more.click(say(tab.show_more), [tab.shown], tab.outputs, **quiet)
    tab.grid.select(say(tab.select), [tab.shown], tab.outputs, **latest)
    tab.detail.select(say(tab.select), [tab.shown], tab.outputs, **latest)
    tab.detail.click(say(tab.ask_caption), [tab.shown], tab.outputs, **latest)
    tab.tree.follow(tab.shown)
    return tab
