"""The tab Search: a sentence, and the photos it describes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any, ClassVar

import gradio as gr

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.search.engine import MAX_K, Engine
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import NEWEST, QUIET, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.html import Bar, PhotoCard
from vsdemo.ui.components.widgets import (
    chip,
    clickable_html,
    examples_label,
    note_html,
    one_line,
)
from vsdemo.ui.search import view
from vsdemo.ui.search.state import SearchState
from vsdemo.ui.search.tree import TreePanel
from vsdemo.ui.tabs import Context, Selection, Visit, is_shown

ABOUT = "Type a sentence and see the photos it describes."
NEAREST = 6


class SearchTab:
    """The widgets of the tab, and their callbacks."""

    key: ClassVar = "search"
    title: ClassVar = "Search"

    def __init__(self, context: Context) -> None:
        self.context, self.library = context, context.library
        library = self.library
        gr.HTML(html.about(ABOUT))
        with gr.Row(elem_classes="query-row"):
            self.query = one_line("Sentence", "What should the photos show?", elem_id="query")
            self.find = gr.Button("Find photos", variant="primary", scale=0, elem_id="find")
        with gr.Row(elem_classes="examples"):
            examples_label()
            first = next(iter(library.galleries.values()))
            self.examples = [chip(example) for example in first.examples]
        self.note = note_html(html.progress("Opening the gallery"))
        with gr.Row(elem_classes="results"):
            with gr.Column(scale=8, min_width=320):
                self.grid = clickable_html("grid", html.skeleton(12), padding=False)
                self.more = gr.Button("Show more", elem_classes="more", interactive=False)
            with gr.Column(scale=5, min_width=320, elem_classes="side-column"):
                self.detail = clickable_html("detail", padding=False)
        self.tree = TreePanel()
        self.state = gr.State(None)
        self._connect()

    @property
    def inputs(self) -> list[Any]:
        """The widgets whose values `show` takes after the visit."""
        return [self.state, self.query]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change."""
        results = [self.note, self.grid, self.more, self.detail, self.state, *self.context.place]
        return [self.query, *self.examples, *results]

    def _connect(self) -> None:
        guard, outputs, state = self.context.guard(self), self.outputs, [self.state]
        settings = self.context.settings
        for event in (self.find.click, self.query.submit):
            event(guard(self.run), [self.query, *settings], outputs, **NEWEST)
        for button in self.examples:
            button.click(guard(self.run), [button, *settings], outputs, **NEWEST)
        self.more.click(guard(self.show_more), state, outputs, **NEWEST)
        select = self.context.guard(self, channel="search photo")(self.select)
        self.grid.select(select, state, outputs, **NEWEST)
        self.detail.select(select, state, outputs, **NEWEST)
        self.detail.click(guard(self.search_caption), state, outputs, **NEWEST)
        self.note.stop(guard(callbacks.stop(self.note)), None, self.note, **NEWEST)
        for event, tab in (
            (self.detail.submit, "describe"),
            (self.detail.apply, "align"),
            (self.detail.expand, "hierarchy"),
        ):
            event(partial(self.go, tab), state, self.context.way, **QUIET)
        self.tree.follow(self.state)

    def go(self, tab: str, state: SearchState | None) -> Update:
        """Open another tab with the large photo and the sentence."""
        if state is None:
            return {self.context.selection: gr.skip()}
        photo = state.photo or 0
        return self.context.go(tab, Selection(state.text, photo, state.gallery))

    def show(self, visit: Visit, state: SearchState | None, query: str) -> Updates:
        """Search for what is selected, or for what was typed before the settings changed."""
        if state is not None and is_shown(visit, state):
            yield self.context.record(state)
            return
        selection = visit.selection
        if state and selection == state.selection and query.strip() not in ("", state.text):
            selection = replace(selection, text=query.strip())
        yield from self._open_gallery(
            SearchState(
                selection.text.strip(),
                visit.model,
                visit.gallery,
                visit.k,
                photo=selection.photo_in(visit.gallery),
                selection=selection,
            )
        )

    def _open_gallery(self, state: SearchState) -> Updates:
        """Show the photos of a gallery in order until they can be searched."""
        since = monotonic()
        captions = yield from callbacks.wait_for(self.note, self.library.photos(state.gallery))
        examples = self.library.galleries[state.gallery].examples
        chips = dict(zip(self.examples, examples, strict=True))
        if callbacks.is_ready_soon(self.library, state.model, state.gallery, since=since):
            state = replace(state, text=state.text or examples[0])
            yield {self.query: state.text, self.state: state, **chips}
        else:
            update = self._browse(captions, state)
            yield {self.query: state.text, **chips, **update}
            state = update[self.state]
        yield from self._search_when_ready(captions, state)

    def _search_when_ready(self, captions: CaptionSet, state: SearchState) -> Updates:
        """Search as soon as the engine is loaded, or say why the photos cannot be searched."""
        count = len(captions.photos)
        try:
            if state.text:
                yield from self.search(state)
            else:
                engine = yield from self._engine(state)
                if engine.unreadable:
                    yield self._browse(engine.gallery, replace(state, browsed=0))
                yield {self.note: html.note(f"{count:,} photos. Type a sentence to search them.")}
        except UserError as error:
            if not state.browsed:
                yield self._browse(captions, state)
            if state.text:
                raise
            text = f"{count:,} photos to browse. Search is not available: {error}"
            yield {self.note: html.note(text)}

    def run(self, text: str, model: str, gallery: str, k: int) -> Updates:
        """Search for the photos that a sentence describes."""
        selection = Selection(text.strip())
        yield from self.search(SearchState(text, model, gallery, k, selection=selection))

    def search(self, state: SearchState) -> Updates:
        """Search, and fill the page."""
        engine = yield from self._engine(state)
        hits = tuple(engine.search(state.text, state.k))
        photo = state.photo
        if photo is None or photo >= len(engine.photos):
            photo = hits[0].number
        state = replace(state, hits=hits, photo=photo)
        if state.selection.text:
            state = _select(state, photo)
        yield {
            self.query: state.text,
            **self._results(engine, state),
            **self._detail(engine.gallery, state, engine),
        }

    def show_more(self, state: SearchState | None) -> Updates:
        """Add `k` more photos."""
        if state is None:
            return
        if not state.hits:
            captions = yield from callbacks.wait_for(self.note, self.library.photos(state.gallery))
            yield self._browse(captions, state)
            return
        engine = yield from self._engine(state)
        count = min(len(state.hits) + state.k, MAX_K)
        state = replace(state, hits=tuple(engine.search(state.text, count)))
        yield {self.state: state, **self._results(engine, state), **self.context.record(state)}

    def select(self, state: SearchState | None, event: gr.EventData) -> Updates:
        """Show the clicked photo large."""
        if state is None:
            return
        engine = (yield from self._engine(state)) if state.hits else None
        captions = yield from callbacks.wait_for(self.note, self.library.photos(state.gallery))
        number = callbacks.clicked_number(event, len(captions.photos))
        yield self._detail(captions, _select(state, number), engine)

    def search_caption(self, state: SearchState | None, event: gr.EventData) -> Updates:
        """Search for the clicked caption."""
        if state is None:
            return
        captions = yield from callbacks.wait_for(self.note, self.library.photos(state.gallery))
        own = captions.own_captions(state.photo or 0)
        text = html.tidy(own[callbacks.clicked_number(event, len(own))])
        yield from self.run(text, state.model, state.gallery, state.k)

    def _engine(self, state: SearchState) -> Generator[Update, None, Engine]:
        return callbacks.load_engine(self.library, self.note, state.model, state.gallery)

    def _address(self, gallery: str) -> html.PhotoAddress:
        return images.addresses(self.library.galleries[gallery].token)

    def _results(self, engine: Engine, state: SearchState) -> Update:
        """Return the grid of hits, with what is around it."""
        return {
            self.note: html.note(view.summary(engine, state)),
            self.more: gr.update(interactive=len(state.hits) < min(len(engine.photos), MAX_K)),
            self.grid: html.photo_grid(
                state.hits,
                engine.score,
                self._address(state.gallery),
                html.photo_text(engine.gallery),
                chosen=state.photo,
            ),
        }

    def _browse(self, captions: CaptionSet, state: SearchState) -> Update:
        """Return `k` more photos of the gallery in order, one of them large."""
        count = len(captions.photos)
        photo = None if (state.photo or 0) >= count else state.photo
        state = replace(state, browsed=min(state.browsed + state.k, count), photo=photo)
        return {
            self.grid: html.photo_picks(
                range(state.browsed),
                self._address(state.gallery),
                html.photo_text(captions),
                label="Photo",
                chosen=photo or 0,
                kind="grid",
            ),
            self.more: gr.update(interactive=state.browsed < count),
            **self._detail(captions, state),
        }

    def _detail(
        self, captions: CaptionSet, state: SearchState, engine: Engine | None = None
    ) -> Update:
        """Return the large photo; with an engine, also its score and the nearest photos."""
        address, number = self._address(state.gallery), state.photo or 0
        text = html.photo_text(captions)
        bar: Bar | None = None
        nearest: list[PhotoCard] = []
        if engine:
            hit = next((hit for hit in state.hits if hit.number == number), None)
            bar = Bar.of_hit(hit, engine.score) if hit else None
            similar = engine.similar_photos(number, NEAREST)
            nearest = html.hit_cards(similar, engine.score, address, text)
        detail = view.detail(
            address(number, "large"),
            captions.own_captions(number),
            text=text(number),
            bar=bar,
            nearest=nearest,
        )
        return {self.detail: detail, self.state: state, **self.context.record(state)}


def _select(state: SearchState, photo: int) -> SearchState:
    """Return the state with a photo that was selected."""
    selection = replace(state.selection, photo=photo, gallery=state.gallery, upload=None)
    return replace(state, photo=photo, selection=selection)
