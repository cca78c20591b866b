"""A page without models: the answers come from another app, by its API.

The tabs Search and Describe need what the API tells. The others, and the map, filters and trees of
the tab Search, work with all embeddings of a gallery, which stay in the other app.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.i18n import I18nData
from markupsafe import Markup

from vsdemo.core.errors import UserError
from vsdemo.core.language import message, translate
from vsdemo.serving import running_app
from vsdemo.serving.api_records import PhotoHit, SearchAnswer
from vsdemo.serving.running_app import NoAnswer, RunningApp
from vsdemo.ui import callbacks
from vsdemo.ui.backend import view
from vsdemo.ui.callbacks import NEWEST, QUIET, Update, Updates
from vsdemo.ui.components import html, words
from vsdemo.ui.components.labels import choice, label, static
from vsdemo.ui.components.widgets import clickable_html, note_html, one_line, setting_menu
from vsdemo.ui.describe.tab import photo_input
from vsdemo.ui.describe.view import photo_text
from vsdemo.ui.layout import page_title
from vsdemo.ui.tabs import FIRST_K, Tab

PATIENCE = 75.0  # seconds for an answer; after 60 the other app says that it is preparing
ASKING = message("Waiting for the backend app")
BEST_MODEL, FIRST_GALLERY = message("Best for the gallery"), message("First gallery")
SENTENCES = 10
SEARCH, DESCRIBE = "search", "describe"  # keys of the tabs that are served
LOST = message("The backend app cannot be reached or is too slow; try again in a minute.")
NOT_SERVED = message(
    "{title} is not available on this page, which uses another app as its backend."
)
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shown:
    """What the tab Search shows.

    Attributes:
        answer: The newest answer.
        hits: All photos on the page.
        k: Photos to show at a time.
    """

    answer: SearchAnswer
    hits: tuple[PhotoHit, ...]
    k: int


class BackendPage:
    """The page.

    Args:
        app: The app that answers.
        tabs: The tabs of the whole page; those that are not served say so.
    """

    def __init__(self, app: RunningApp, tabs: Sequence[type[Tab]]) -> None:
        self._app = app
        with gr.Row(elem_classes="top"):
            page_title()
            self.model = _menu(label("Model"), BEST_MODEL)
            self.gallery = _menu(label("Gallery"), FIRST_GALLERY)
            with gr.Accordion(label("More"), open=False, elem_classes="more-settings"):
                self.k = gr.Slider(4, 60, FIRST_K, step=1, label=label("Photos at a time"))
        self.note = note_html()
        served = {SEARCH: self._build_search, DESCRIBE: self._build_describe}
        with gr.Tabs(elem_id="tabs"):
            for tab in tabs:
                with gr.Tab(label(tab.title), id=tab.key, render_children=True):
                    if build := served.get(tab.key):
                        build()
                    else:
                        gr.HTML(static(partial(_not_served, tab.title)))

    def _build_search(self) -> None:
        with gr.Row(elem_classes="query-row"):
            self.query = one_line(
                message("Sentence"), message("What should the photos show?"), elem_id="query"
            )
            self.find = gr.Button(label("Find photos"), variant="primary", scale=0, elem_id="find")
        self.words = clickable_html("unread-words", padding=False)
        self.search_note = note_html()
        with gr.Row(elem_classes="results"):
            with gr.Column(scale=8, min_width=320):
                self.grid = clickable_html("grid", padding=False)
                self.more = gr.Button(label("Show more"), elem_classes="more", interactive=False)
            with gr.Column(scale=5, min_width=320, elem_classes="side-column"):
                self.detail = clickable_html("detail", padding=False)
        self.state = gr.State(None)

    def _build_describe(self) -> None:
        with gr.Row(elem_classes="results"):
            with gr.Column(scale=6, min_width=320):
                self.photo, self.photo_text = photo_input()
            with gr.Column(scale=7, min_width=320):
                self.describe_note = note_html()
                self.sentences = gr.HTML(elem_id="sentences")

    def connect(self, demo: gr.Blocks) -> None:
        """Connect the events of the page."""
        guard = callbacks.report_errors
        searching = guard(self.search_note, SEARCH)
        settings = [self.model, self.gallery]
        query = [self.query, *settings, self.k]
        results = [self.search_note, self.words, self.grid, self.more, self.detail, self.state]
        for event in (self.find.click, self.query.submit):
            event(searching(self.search), query, results, **NEWEST)
        corrected = [self.query, *results]
        self.words.click(searching(self.correct), [self.state, *query[1:]], corrected, **NEWEST)
        self.more.click(searching(self.show_more), [self.state], results, **NEWEST)
        self.grid.select(searching(self.select), [self.state], results, **NEWEST)
        describing = guard(self.describe_note, DESCRIBE)
        described = [self.describe_note, self.photo_text, self.sentences]
        self.photo.upload(describing(self.describe), [self.photo, *settings], described, **NEWEST)
        load = guard(self.note)(self.load)
        demo.load(load, None, [self.note, *settings], **QUIET)

    def load(self) -> Updates:
        """Offer the models and galleries of the other app."""
        with _for_visitors():
            models, galleries = self._app.models(), self._app.galleries()
        names = [model.model for model in models if model.backbone and not model.problem]
        labels = [(gallery.label, gallery.gallery) for gallery in galleries]
        yield {
            self.note: "",
            self.model: gr.update(choices=[(translate(BEST_MODEL), ""), *names]),
            self.gallery: gr.update(choices=labels, value=labels[0][1]) if labels else gr.skip(),
        }

    def search(self, text: str, model: str, gallery: str, k: int) -> Updates:
        """Search for what was typed."""
        yield {self.search_note: html.progress(ASKING)}
        parameters = {"sentence": text.strip(), "model": model, "gallery": gallery, "k": int(k)}
        with _for_visitors():
            answer = self._app.search(parameters)
        unread = view.unread_words(answer)
        yield {
            **self._results(Shown(answer, tuple(answer.hits), int(k)), chosen=0),
            self.words: words.unread_words(answer.sentence, unread),
        }

    def correct(
        self, shown: Shown | None, model: str, gallery: str, k: int, event: gr.EventData
    ) -> Updates:
        """Search for the sentence after replacing an unread word with the clicked one."""
        if shown is None:
            return
        unread = view.unread_words(shown.answer)
        text = callbacks.corrected_text(event, shown.answer.sentence, unread)
        yield {self.query: text}
        yield from self.search(text, model, gallery, k)

    def show_more(self, shown: Shown | None) -> Updates:
        """Add `k` more photos."""
        if shown is None:
            return
        old = shown.answer
        parameters = {"sentence": old.sentence, "model": old.model, "gallery": old.gallery}
        with _for_visitors():
            answer = self._app.search({**parameters, "k": shown.k, "start": len(shown.hits)})
        yield self._results(replace(shown, answer=answer, hits=(*shown.hits, *answer.hits)))

    def select(self, shown: Shown | None, event: gr.EventData) -> Updates:
        """Show the clicked photo large."""
        if shown is not None:
            place = callbacks.clicked_number(event, len(shown.hits))
            yield self._results(shown, place)

    def describe(self, path: str | None, model: str, gallery: str) -> Updates:
        """Describe a visitor's photo."""
        if path is None:
            return
        yield {self.describe_note: html.progress(ASKING)}
        photo = running_app.encoded(Path(path))
        parameters = {"photo": photo, "model": model, "gallery": gallery, "k": SENTENCES}
        with _for_visitors():
            answer = self._app.describe(parameters)
        best = answer.hits[0].sentence if answer.hits else ""
        yield {
            self.describe_note: "",
            self.photo_text: photo_text(html.upload_text(best)),
            self.sentences: view.sentences(answer),
        }

    def _results(self, shown: Shown, chosen: int | None = None) -> Update:
        """Return the photos and, if one is chosen by its place, that one large."""
        answer, count = shown.answer, len(shown.hits)
        update: dict[Any, Any] = {
            self.search_note: view.summary(answer, count),
            self.grid: view.grid(shown.hits, answer.unit, chosen or 0),
            self.more: gr.update(interactive=count < answer.photos),
            self.state: shown,
        }
        if chosen is not None:
            is_there = chosen < count
            update[self.detail] = view.detail(shown.hits[chosen], answer.unit) if is_there else ""
        return update


@contextmanager
def _for_visitors() -> Iterator[None]:
    """Say that the other app does not answer; its address is only in the log."""
    try:
        yield
    except NoAnswer as error:
        log.warning("%s", error)
        raise UserError(LOST) from None


def _not_served(title: str) -> Markup:
    """Return what a tab shows that is not served."""
    return html.message(translate(NOT_SERVED, title=translate(title)))


def _menu(name: I18nData, first: str) -> gr.Dropdown:
    """Return a menu that gets its choices when the page loads; before, it has only the first one.

    The other app checks the value: this one may have been restarted since it was offered.
    """
    return setting_menu(name, [(choice(first), "")], "", allow_custom_value=True)
