"""The tab Search: a sentence, and the photos it describes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, ClassVar

import gradio as gr
from markupsafe import Markup

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.language import message, number, translate
from vsdemo.core.paths import shorten_paths
from vsdemo.core.sentences import Sentence
from vsdemo.search.engine import MAX_K, Engine
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import NEWEST, QUIET, Update, Updates
from vsdemo.ui.components import html, words
from vsdemo.ui.components.html import Bar, PhotoCard
from vsdemo.ui.components.labels import label, static
from vsdemo.ui.components.widgets import (
    about_html,
    clickable_html,
    note_html,
    one_line,
    upload_chip,
)
from vsdemo.ui.late_text import LateText
from vsdemo.ui.library.pending import Pending, Status
from vsdemo.ui.search import saved, view
from vsdemo.ui.search.clip_offer import CLIP, ClipOffer
from vsdemo.ui.search.filters import FilterPanel
from vsdemo.ui.search.filters import read as read_filters
from vsdemo.ui.search.labelled import labelled_query
from vsdemo.ui.search.map_panel import MapPanel
from vsdemo.ui.search.own_panel import OwnPanel
from vsdemo.ui.search.picks import annotations_of
from vsdemo.ui.search.reading import ReadingPanel
from vsdemo.ui.search.refinement import Refinement
from vsdemo.ui.search.results import can_pick
from vsdemo.ui.search.state import Ongoing, SearchState
from vsdemo.ui.search.tree import TreePanel
from vsdemo.ui.tabs import FIRST_K, OWN, SIMILAR, Context, Selection, Visit, is_shown
from vsdemo.ui.uploads import GONE, is_uploaded

ABOUT = message("Type a sentence and see the photos it describes.")
NEAREST = 6


class SearchTab:
    """The widgets of the tab, and their callbacks."""

    key: ClassVar = "search"
    title: ClassVar = message("Search")

    def __init__(self, context: Context) -> None:
        self.context, self.library = context, context.library
        about_html(ABOUT)
        with gr.Row(elem_classes="query-row"):
            self.query = one_line(
                message("Sentence"), message("What should the photos show?"), elem_id="query"
            )
            self.find = gr.Button(label("Find photos"), variant="primary", scale=0, elem_id="find")
            self.photo = upload_chip(elem_id="query-upload")
        self.examples = clickable_html("search-examples", html.examples(()), padding=False)
        self.words = clickable_html("unread-words", padding=False)
        self.filters = FilterPanel()
        self.own = OwnPanel(self.library)
        self.note = note_html(static(lambda: html.progress(message("Opening the gallery"))))
        is_missing = CLIP in context.downloads.names
        self.offer = ClipOffer(context, context.visits[self.key]) if is_missing else None
        with gr.Row(elem_classes="results"):
            with gr.Column(scale=8, min_width=320):
                first = next(iter(self.library.galleries.values()))
                cards = min(FIRST_K, len(first.photos))
                self.own.place_picks()
                self.grid = clickable_html("grid", html.skeleton(cards), padding=False)
                self.more = gr.Button(label("Show more"), elem_classes="more", interactive=False)
            with gr.Column(scale=5, min_width=320, elem_classes="side-column"):
                self.detail = clickable_html("detail", padding=False)
        self.tree = TreePanel()
        self.reading = ReadingPanel(self.library)
        self.map = MapPanel(self.library)
        self.state = gr.State(None)  # what the page shows
        self.latest = gr.State(None)  # the last search, also before it is answered
        self.late_text = LateText(self.query)
        self._connect()

    @property
    def inputs(self) -> list[Any]:
        """The widgets whose values `show` takes after the visit."""
        return [self.state, self.query]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change."""
        query = [self.query, self.late_text.late, self.examples, self.words]
        results = [self.note, self.grid, self.more, self.detail, self.state, self.latest]
        panels = [*self.filters.outputs, *self.own.outputs, self.map.selected]
        return [*query, *results, *panels, *self.context.place]

    def _connect(self) -> None:
        self.late_text.connect()
        guard, outputs, state = self.context.guard(self), self.outputs, [self.state]
        settings = self.context.settings
        latest = [self.latest]
        query = [self.query, *settings, *latest, *self.filters.values]
        for event in (self.find.click, self.query.submit):
            event(guard(self.run), query, outputs, **NEWEST)
        self.photo.upload(guard(self.run_photo), [self.photo, *settings], outputs, **NEWEST)
        self.grid.stop(guard(self.drop_photo), latest, outputs, **NEWEST)
        self.filters.on_change(guard(self.refine), [*latest, *self.filters.values], outputs)
        self.filters.clear.click(guard(self.clear_filters), latest, outputs, **NEWEST)
        self.examples.click(guard(self.run_example), settings, outputs, **NEWEST)
        self.words.click(guard(self.correct), state, outputs, **NEWEST)
        self.more.click(guard(self.show_more), latest, outputs, **NEWEST)
        # A later search ends the choice of a photo.
        guard_photo = self.context.guard(self, channel="search photo", ended_by=[self.key])
        select = guard_photo(self.select)
        self.grid.select(select, state, outputs, **NEWEST)
        self.detail.select(select, state, outputs, **NEWEST)
        self.detail.like(guard(self.search_similar), state, outputs, **NEWEST)
        self.detail.click(guard(self.search_caption), state, outputs, **NEWEST)
        self.note.stop(guard(callbacks.stop(self.note)), None, self.note, **NEWEST)
        guard_navigation = self.context.guard(self, channel="")
        navigation = [self.note, *self.context.navigation]
        for event, tab in (
            (self.detail.submit, "describe"),
            (self.detail.apply, "align"),
            (self.detail.expand, "hierarchy"),
        ):
            event(guard_navigation(self._go_to(tab)), state, navigation, **QUIET)
        self.tree.follow(self.state)
        self.reading.follow(self.state)
        self.reading.content.select(select, state, outputs, **NEWEST)
        self._connect_map(select)
        self._connect_own()

    def _connect_map(self, select: Callable[..., Updates]) -> None:
        guard, outputs = self.context.guard(self), self.outputs
        self.map.follow(self.state)
        self.map.selected.change(
            guard(self.show_region), [self.latest, self.map.selected], outputs, **NEWEST
        )
        self.map.map.select(select, self.state, outputs, **NEWEST)

    def _connect_own(self) -> None:
        guard, outputs = self.context.guard(self), self.outputs
        own, settings = self.own, self.context.settings
        # Leaving a drop-down is an `input`; a choice by keyboard is a `change` only.
        for event in (own.saved.select, own.saved.change):
            event(guard(self.open_saved), [own.saved, *settings], outputs, **NEWEST)
        for event, labelled in ((own.find.click, False), (own.unsure.click, True)):
            inputs = [self.latest, own.label]
            event(guard(self._label_search(labelled)), inputs, outputs, **NEWEST)
        own.connect(
            self.state,
            keep=self.context.guard(self, note=own.note, channel=""),
            pick=self.context.guard(self, note=own.picks_note, channel="search picks"),
        )

    def _go_to(self, tab: str) -> Callable[..., Updates]:
        """Return a callback that opens another tab with the large photo and the sentence."""

        def go(state: SearchState | None) -> Updates:
            if state is not None:
                photo = state.photo or 0
                yield self.context.go(tab, Selection(state.text, photo, state.gallery))

        return go

    def begin_loading(self, visit: Visit) -> Sequence[Pending[Any]]:
        """Begin to load the photos and the model."""
        return [self.library.photos(visit.gallery), self.library.engine(visit.model, visit.gallery)]

    def show(self, visit: Visit, state: SearchState | None, query: str) -> Updates:
        """Search for what is selected, or for what was typed before the settings changed."""
        if state is not None and is_shown(visit, state):
            yield self.context.record(state)
            return
        selection, text = visit.selection, visit.selection.text.strip()
        if state and selection == state.selection:
            if query.strip() not in ("", state.text):
                text = query.strip()
                selection = replace(selection, text=text)
            elif state.gallery == visit.gallery:
                text = state.text
        elif selection.is_empty and not visit.restored:
            text = query.strip()  # typed, and maybe answered, before the page was ready
            selection = replace(selection, text=text)
        is_same = state is not None and state.gallery == visit.gallery
        if state and is_same and selection == state.selection:
            refinement = state.refinement
        else:
            refinement = Refinement.from_address(selection.value)
        hidden = {} if is_same else {**self.filters.hide(), **self.own.hide()}
        yield {**self.filters.write(refinement), **hidden}
        yield from self._open_gallery(
            SearchState(
                text,
                visit.model,
                visit.gallery,
                visit.k,
                similar_to=self._query_photo(visit, state),
                refinement=refinement,
                photo=selection.photo_in(visit.gallery),
                selection=selection,
            ),
            query,
        )

    def _open_gallery(self, state: SearchState, query: str) -> Updates:
        """Show the photos of a gallery in order until they can be searched.

        Args:
            state: What to search for.
            query: What is typed; it is replaced only if it differs, as a visitor may go on typing.
        """
        since = monotonic()
        photos = self.library.photos(state.gallery)
        model, gallery = state.model, state.gallery
        with photos.wanted():
            captions = yield from callbacks.wait_for_more(self.note, photos)
            examples = self.library.known_examples(model, gallery)
            if callbacks.is_ready_soon(self.library, model, gallery, since=since):
                examples = self.library.wait_for_examples(model, gallery)
                if not state.has_query:
                    state = replace(state, text=next(iter(examples), ""))
                yield {self.state: state, self.words: "", self.examples: html.examples(examples)}
            else:
                yield {self.words: "", self.examples: html.examples(examples)}
            if state.text != query.strip():
                yield self.late_text.defer({self.query: state.text}, query)
            if not state.has_query or not self._pending(state).future.done():
                update = self._browse(captions, state)
                yield update
                while len(captions.photos) < min(state.k, self._total(state)):
                    captions = yield from callbacks.wait_for_more(self.note, photos, captions)
                    examples = self.library.known_examples(model, gallery)
                    update = self._browse(captions, state)
                    yield {**update, self.examples: html.examples(examples)}
                state = update[self.state]
        yield from self._search_when_ready(state)
        yield from self._offer_filters(state)
        checked = self.library.wait_for_examples(model, gallery)
        if checked != examples:
            yield {self.examples: html.examples(checked)}

    def _offer_filters(self, state: SearchState) -> Updates:
        """Offer the folders and cameras of the gallery, if it can be searched, and what is kept."""
        gallery = self.library.galleries[state.gallery]
        if can_pick(gallery):
            yield self.own.show(gallery)
        pending = self._pending(state)
        if pending.future.done() and not pending.failed and (table := pending.result().table):
            yield self.filters.show(table)

    def _search_when_ready(self, state: SearchState) -> Updates:
        """Search as soon as photos are encoded, or say why they cannot be searched."""
        try:
            if state.has_query:
                yield from self.search(state)
            else:
                yield from self._wait_for_search(state)
        except UserError as error:
            photos = self.library.photos(state.gallery)
            captions = yield from callbacks.wait_for(self.note, photos)
            if not state.browsed:
                yield self._browse(captions, state)
            if state.has_query:
                raise
            count, reason = len(captions.photos), shorten_paths(str(error))
            text = translate(
                "{count} photos to browse. Search is not available: {reason}",
                count=number(count),
                reason=reason,
            )
            yield {self.note: html.note(text)}

    def _wait_for_search(self, state: SearchState) -> Updates:
        """Wait until all photos of the gallery can be searched."""
        with self._pending(state).wanted():
            engine = yield from self._next_engine(state)
            while engine.is_partial:
                engine = yield from self._next_engine(state, engine)
        if engine.unreadable:
            again = replace(state, browsed=max(state.browsed - state.k, 0))
            yield self._browse(engine.gallery, again)
        count = len(engine.photos)
        text = translate("{count} photos. Type a sentence to search them.", count=number(count))
        yield {self.note: html.note(text)}

    def run(
        self,
        text: str,
        model: str,
        gallery: str,
        k: int,
        state: SearchState | None = None,
        *filters: Any,
    ) -> Updates:
        """Search for what was typed.

        Args:
            text: What was typed.
            model: Key of the model.
            gallery: Key of the gallery.
            k: Photos to show at a time.
            state: What the page shows; a photo that is its query remains a part of the query.
            filters: The values of the filters, or nothing to search without any.
        """
        text = text.strip()
        was_searched = state is not None and state.is_result
        selection, photo = Selection(text), None
        refinement = read_filters(*filters) if filters else Refinement()
        if state is not None and state.gallery == gallery:
            if (photo := state.similar_to) is not None:
                selection = replace(self._like(photo, gallery), text=text)
            if filters:
                refinement = replace(refinement, within=state.refinement.within)
        state = SearchState(
            text,
            model,
            gallery,
            k,
            similar_to=photo,
            refinement=refinement,
            selection=selection,
        )
        if not state.has_query:
            Sentence.from_user(text)  # says what to do
        yield from self.search(state)
        if not was_searched:  # its opening, which this search may have ended, has not done it
            yield from self._offer_filters(state)

    def refine(self, state: SearchState | None, *filters: Any) -> Updates:
        """Repeat the search with other filters."""
        if state is None:
            return
        old = state.refinement
        refinement = replace(
            read_filters(*filters), within=old.within, label=old.label, is_unsure=old.is_unsure
        )
        if refinement != state.refinement:
            yield from self._show_refined(replace(state, refinement=refinement))

    def clear_filters(self, state: SearchState | None) -> Updates:
        """Repeat the search without filters."""
        cleared = {**self.filters.write(Refinement()), self.map.selected: None}
        if state is None or state.refinement == Refinement():
            yield cleared
        else:
            yield from self._show_refined(replace(state, refinement=Refinement()), cleared)

    def show_region(self, state: SearchState | None, selected: tuple[int, ...] | None) -> Updates:
        """Repeat the search within a region of the map, or within the whole gallery again."""
        if state is not None and selected != state.refinement.within:
            refinement = replace(state.refinement, within=selected)
            yield from self._show_refined(replace(state, refinement=refinement))

    def open_saved(self, name: str, model: str, gallery: str, k: int) -> Updates:
        """Repeat a saved search, with the photos that are there now."""
        chosen = self.library.galleries[gallery]
        kept = annotations_of(chosen)
        if kept is None or not name:
            return
        state = saved.to_state(kept.search(name), chosen, k)
        state = replace(state, model=self.library.find_model(state.model) or model)
        yield {self.query: state.text, **self.filters.write(state.refinement)}
        yield from self.search(state)

    def _label_search(self, is_unsure: bool) -> Callable[..., Updates]:  # noqa: FBT001 (of a button)
        """Return a callback that shows photos by a label: the likely or the doubtful ones."""

        def show_labelled(state: SearchState | None, name: str | None) -> Updates:
            if state is None:
                return
            if not name:
                raise UserError(translate("Choose a label first; select photos to make one."))
            refinement = replace(state.refinement, label=name, is_unsure=is_unsure)
            labelled = replace(
                state, text="", similar_to=None, refinement=refinement, selection=Selection()
            )
            yield from self._show_refined(labelled, {self.query: ""})

        return show_labelled

    def _show_refined(self, state: SearchState, update: Update | None = None) -> Updates:
        """Search with other filters; without a query, show the photos in order again.

        Args:
            state: What to search for.
            update: What changes at once.
        """
        if update:
            yield update
        state = replace(state, hits=(), photo=None, browsed=0)
        if state.has_query:
            yield from self.search(state)
        else:
            state = replace(state, ongoing=Ongoing())
            yield {self.latest: state}
            engine = yield from self._next_engine(state)
            yield {**self._browse(engine.gallery, state), self.note: ""}

    def run_photo(self, path: str, model: str, gallery: str, k: int) -> Updates:
        """Search for photos that are like a visitor's photo."""
        if not is_uploaded(path):
            raise UserError(GONE)
        yield {self.query: ""}
        state = SearchState("", model, gallery, k, similar_to=path)
        yield from self.search(replace(state, selection=self._like(path, gallery)))

    def drop_photo(self, state: SearchState | None) -> Updates:
        """Search without the photo that is the query."""
        if state is not None:
            selection = Selection(state.text)
            state = replace(state, similar_to=None, selection=selection)
            yield from self._show_refined(state)

    @staticmethod
    def _like(photo: int | str, gallery: str) -> Selection:
        """Return the selection of a search by a photo: its number in the gallery, or its file."""
        if isinstance(photo, int):
            return Selection(photo=photo, gallery=gallery).similar
        return Selection(upload=photo).similar

    def run_example(self, model: str, gallery: str, k: int, event: gr.EventData) -> Updates:
        """Search for the clicked example."""
        yield from self.run_other(callbacks.clicked_name(event), model, gallery, k)

    def run_other(self, text: str, model: str, gallery: str, k: int) -> Updates:
        """Search for a sentence that was not typed, without filters."""
        yield {self.query: text, **self.filters.write(Refinement())}
        yield from self.run(text, model, gallery, k)

    def search_similar(self, state: SearchState | None) -> Updates:
        """Search for photos that are similar to the large one."""
        if state is not None:
            photo = state.photo or 0
            yield {self.query: ""}
            yield from self.search(
                replace(
                    state,
                    text="",
                    hits=(),
                    similar_to=photo,
                    selection=self._like(photo, state.gallery),
                )
            )

    def search(self, state: SearchState) -> Updates:
        """Search, and fill the page."""
        state = replace(state, ongoing=Ongoing())
        yield {self.latest: state}  # a filter that is changed meanwhile narrows this search
        with self._pending(state).wanted():
            engine = yield from self._next_engine(state)
            while engine.is_partial and not _has_query(engine, state):
                engine = yield from self._next_engine(state, engine)
            shown = self._search(engine, state, state.k)
            yield self._page(engine, shown)
            yield from self._repeat(engine, state, shown, state.k)

    def _repeat(
        self, engine: Engine, state: SearchState, shown: SearchState, count: int
    ) -> Updates:
        """Repeat a search whenever there are more photos, until all are there.

        Args:
            engine: The engine of the results.
            state: What was searched for.
            shown: What the page shows.
            count: Hits to show.
        """
        while engine.is_partial:
            engine = yield from self._next_engine(shown, engine)
            shown = self._search(engine, state, count)
            if state.ongoing.has_choice:
                yield self._results(engine, shown)
            else:
                yield self._page(engine, shown)

    def _search(self, engine: Engine, state: SearchState, count: int) -> SearchState:
        """Return the state with hits and a large photo, the best one unless another is wanted."""
        if not _has_query(engine, state):
            raise UserError(translate("This photo cannot be read; choose another one."))
        query = state.query
        if state.refinement.label:
            _, kept = self.own.kept(state)
            query = labelled_query(query, engine, kept, state.refinement)
        result = engine.rank(query)
        hits = tuple(result.hits(0, count))
        state.ongoing.hits, state.ongoing.ranking = hits, result
        photo = state.photo
        if photo is None or photo >= len(engine.photos):
            photo = hits[0].number if hits else None
        state = replace(state, hits=hits, photo=photo)
        is_sentence = state.selection.text and photo is not None
        return _select(state, photo or 0) if is_sentence else state

    def _page(self, engine: Engine, state: SearchState) -> Update:
        """Return the results and the large photo."""
        return {**self._results(engine, state), **self._detail(engine.gallery, state, engine)}

    def show_more(self, state: SearchState | None) -> Updates:
        """Add `k` more photos."""
        if state is None:
            return
        if not state.is_result:
            photos = self.library.photos(state.gallery)
            captions = yield from callbacks.wait_for_more(self.note, photos)
            update = self._browse(captions, state)
            yield update
            yield from self._search_when_ready(update[self.state])
            yield from self._offer_filters(state)
            return
        with self._pending(state).wanted():
            engine = yield from self._next_engine(state)
            count = min(len(_newest(state).hits) + state.k, MAX_K)
            state = replace(state, ongoing=Ongoing(has_choice=True))
            shown = self._search(engine, state, count)
            yield {**self._results(engine, shown), **self._place(shown)}
            yield from self._repeat(engine, state, shown, count)

    def select(self, state: SearchState | None, event: gr.EventData) -> Updates:
        """Show the clicked photo large."""
        if state is None:
            return
        state.ongoing.has_choice = True
        engine = (yield from self._next_engine(state)) if state.is_result else None
        captions = engine.gallery if engine else (yield from self._photos(state))
        number = callbacks.clicked_number(event, len(captions.photos))
        yield self._detail(captions, _select(_newest(state), number), engine)

    def search_caption(self, state: SearchState | None, event: gr.EventData) -> Updates:
        """Search for the clicked caption."""
        if state is None:
            return
        captions = yield from self._photos(state)
        own = captions.own_captions(state.photo or 0)
        text = html.tidy(own[callbacks.clicked_number(event, len(own))])
        yield from self.run_other(text, state.model, state.gallery, state.k)

    def correct(self, state: SearchState | None, event: gr.EventData) -> Updates:
        """Search for the sentence after replacing an unread word with the clicked one."""
        if state is None:
            return
        engine = yield from self._next_engine(state)
        unread = view.unread_words(engine, state)
        text = callbacks.corrected_text(event, state.text, unread)
        yield from self.run_other(text, state.model, state.gallery, state.k)

    def _next_engine(
        self, state: SearchState, engine: Engine | None = None
    ) -> Generator[Update, None, Engine]:
        """Wait for an engine over more photos than those of `engine`, and return it."""

        def line(status: Status) -> Markup:
            if engine is None:
                return callbacks.progress(status)
            return view.preparation(engine, state, self._total(state), status.seconds_left)

        pending = self._pending(state)
        return (yield from callbacks.wait_for_more(self.note, pending, engine, line))

    def _pending(self, state: SearchState) -> Pending[Engine]:
        return self.library.engine(state.model, state.gallery)

    def _total(self, state: SearchState) -> int:
        return len(self.library.galleries[state.gallery].photos)

    def _photos(self, state: SearchState) -> Generator[Update, None, CaptionSet]:
        """Return the photos that are there."""
        return callbacks.wait_for_more(self.note, self.library.photos(state.gallery))

    def _address(self, gallery: str) -> html.PhotoAddress:
        return images.addresses(self.library.galleries[gallery].token)

    def _query_address(self, state: SearchState) -> str:
        """Return the address of the photo that is the query; empty if a sentence is."""
        match state.similar_to:
            case None:
                return ""
            case int(number):
                return self._address(state.gallery)(number, "small")
            case path:
                return images.upload_address(path, images.SIDES["small"], self.grid.GRADIO_CACHE)

    def _query_photo(self, visit: Visit, state: SearchState | None) -> int | str | None:
        """Return the photo that is to be the query, by its number or as a file, if there is one."""
        selection = visit.selection
        value = selection.value(SIMILAR)
        if value == OWN:
            if state is not None and state.selection == selection:
                return state.upload  # the selected photo may be another one
            return selection.upload
        gallery = self.library.galleries[visit.gallery]
        return gallery.photo_number(value) if selection.gallery == gallery.key else None

    def _results(self, engine: Engine, state: SearchState) -> Update:
        """Return the grid of hits, with what is around it."""
        note = Markup()
        if engine.is_partial:
            note = view.preparation(engine, state, self._total(state), None)
        gallery = self.library.galleries[state.gallery]
        unmatched = view.unmatched_sentences(engine, state)
        return {
            self.words: words.unread_words(state.text, view.unread_words(engine, state)),
            self.note: note,
            self.more: gr.update(interactive=len(state.hits) < min(_total(state), MAX_K)),
            self.grid: view.summary(engine, state, self._query_address(state), unmatched)
            + view.results(engine, state, gallery, is_nearest=bool(unmatched)),
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
                label=message("Photo"),
                chosen=photo or 0,
                kind="grid",
            ),
            self.more: gr.update(interactive=state.browsed < self._total(state)),
            **self._detail(captions, state),
        }

    def _detail(
        self, captions: CaptionSet, state: SearchState, engine: Engine | None = None
    ) -> Update:
        """Return the large photo; with an engine, also its score and the nearest photos."""
        if state.is_result and state.photo is None:  # there is no result
            return {self.detail: "", **self._place(state)}
        address, number = self._address(state.gallery), state.photo or 0
        text = html.photo_text(captions)
        bar: Bar | None = None
        nearest: list[PhotoCard] = []
        if engine:
            hit = next((hit for hit in state.hits if hit.number == number), None)
            result = state.ongoing.ranking
            bar = Bar.of_hit(hit, result) if hit and result and result.unit else None
            similar = engine.similar_photos(number, NEAREST)
            nearest = html.hit_cards(similar, engine.score, address, text)
        detail = view.detail(
            address(number, "large"),
            captions.own_captions(number),
            text=text(number),
            bar=bar,
            nearest=nearest,
            file=view.own_file(self.library.galleries[state.gallery], number),
        )
        return {self.detail: detail, **self._place(state)}

    def _place(self, state: SearchState) -> Update:
        """Return the state and its address."""
        shown = {self.state: state, self.latest: state}
        return {**shown, **self.context.record(state, state.upload)}


def _total(state: SearchState) -> int:
    """Return the number of results."""
    return len(state.ongoing.ranking or ())


def _has_query(engine: Engine, state: SearchState) -> bool:
    """Return whether the photo that is the query is there, if it is one of the gallery."""
    return not isinstance(state.similar_to, int) or state.similar_to < len(engine.photos)


def _newest(state: SearchState) -> SearchState:
    """Return the state with the newest hits of its search, which more photos may have changed."""
    return replace(state, hits=state.ongoing.hits or state.hits)


def _select(state: SearchState, photo: int) -> SearchState:
    """Return the state with a photo that was selected."""
    selection = replace(state.selection, photo=photo, gallery=state.gallery, upload=None)
    return replace(state, photo=photo, selection=selection)
