"""The page: its header, its tabs, and which of them shows what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import LATEST, NEWEST, QUIET, REQUESTS, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.templates import render
from vsdemo.ui.components.widgets import address_html
from vsdemo.ui.downloads import DownloadPanel
from vsdemo.ui.library import Library
from vsdemo.ui.models.menu import ModelMenu
from vsdemo.ui.tabs import Context, Selection, Tab, Visit
from vsdemo.ui.uploads import Uploads

TITLE = "vsdemo"
SUBTITLE = "Sentences and photos in one space"
SHARED = ("tab", "model", "gallery", "q", "photo")  # parts of an address that concern every tab


def page_title() -> gr.HTML:
    """Return the title of the page as a widget."""
    title = render("page/title.html", title=TITLE, subtitle=SUBTITLE)
    return gr.HTML(title, elem_classes="title")


class Page:
    """The header and the tabs.

    Args:
        library: Models, galleries and engines.
        tabs: The tabs, in the order in which they are shown.

    Attributes:
        tabs: The tabs by key.
    """

    def __init__(self, library: Library, tabs: Sequence[type[Tab]]) -> None:
        self.library = library
        self.tabs: dict[str, Tab] = {}
        self._containers: dict[str, gr.Tab] = {}
        self._visits: dict[str, gr.State] = {}
        with gr.Row(elem_classes="top"):
            page_title()
            self._menu = ModelMenu(library, next(iter(library.galleries)))
            gallery = _setting(library.labels, "Gallery")
            with gr.Accordion("More", open=False, elem_classes="more-settings") as self._more:
                k = gr.Slider(4, 60, 12, step=1, label="Photos at a time")
                self._downloads = DownloadPanel(library, gallery)
        self._upload = gr.Textbox(visible=False)  # token of the photo of a page loaded again
        self._first = tabs[0].key
        self._open = gr.State(self._first)  # key of the open tab
        selection, address = gr.State(None), address_html()  # None until the address is read
        with gr.Tabs(elem_id="tabs") as widget:
            self.context = Context(
                library, self._menu.chosen, gallery, k, selection, address, widget, Uploads()
            )
            for kind in tabs:
                with gr.Tab(kind.title, id=kind.key, render_children=True) as container:
                    self.tabs[kind.key] = kind(self.context)
                    self._visits[kind.key] = gr.State(None)
                    self._containers[kind.key] = container

    def connect(self, demo: gr.Blocks) -> None:
        """Connect the events that concern all tabs."""
        context, visits = self.context, list(self._visits.values())
        values = [context.selection, *context.settings]
        settings = [context.model, context.gallery]
        for key, tab in self.tabs.items():
            visit = self._visits[key]
            self._containers[key].select(
                self.opener(key), [self._open, *values], [self._open, visit], **NEWEST
            )
            show = context.guard(tab)(_showing(tab))
            shown = visit.change(show, [visit, *tab.inputs], tab.outputs, **NEWEST)
            shown.then(self._menu.update_field, settings, self._menu.field, **LATEST)
        inputs = [self._open, *values]
        context.gallery.input(self.change_settings, inputs, visits, **NEWEST)
        choose = callbacks.report_errors(self._menu.panel)(self.choose_model)
        chosen = [context.model, self._menu.panel, *visits]
        self._menu.panel.select(choose, inputs, chosen, **NEWEST)
        self._menu.connect(demo, context.gallery)
        arrived = [context.model, context.gallery, context.selection, context.tabs]
        demo.load(
            self.load,
            [self._upload, self._open, context.k],
            [*arrived, self._visits[self._first]],
            js="(_, open, k) => [history.state?.upload ?? '', open, k]",
            **QUIET,
        )
        restored = [*arrived, context.address, *visits]
        context.address.select(self.restore, [self._open, context.k], restored, **NEWEST)
        self._downloads.connect(demo, self._more)

    def opener(self, key: str) -> Callable[..., Update]:
        """Return a callback that lets a tab show what is selected when it is opened."""

        def open_tab(
            is_open: str,
            selection: Selection | None,
            model: str,
            gallery: str,
            k: int,
            page: gr.Request,
        ) -> Update:
            if is_open == key:  # the first tab of a new page
                return {self._open: key}
            REQUESTS.open_tab(str(page.session_hash), key)
            visit = Visit(model, gallery, k, selection or Selection())
            return {self._open: key, self._visits[key]: visit}

        return open_tab

    def change_settings(
        self, key: str, selection: Selection, model: str, gallery: str, k: int
    ) -> Update:
        """Let the open tab follow another model or gallery."""
        return {self._visits[key]: Visit(model, gallery, k, selection)}

    def choose_model(
        self,
        key: str,
        selection: Selection,
        model: str,
        gallery: str,
        k: int,
        event: gr.EventData,
    ) -> Updates:
        """Let the open tab follow the model that was clicked in the list."""
        clicked = self._menu.clicked(gallery, event)
        if clicked != model:
            update = self.change_settings(key, selection, clicked, gallery, k)
            yield {self.context.model: clicked, **update}

    def load(self, upload: str, key: str, k: int, page: gr.Request) -> Updates:
        """Show what the address of a new page names.

        A generator, as `restore`: Gradio sends its values twice, and a busy page drops some.
        """
        query = dict(page.query_params)
        key = REQUESTS.tab(str(page.session_hash)) or key
        if "tab" not in query:  # keep the tab if a visitor was faster
            query["tab"] = key
        update = self._arrive(query, upload, key, k, page)
        if key != self._first:
            update.pop(self._visits[key], None)  # it shows something since it was opened
        yield update

    def restore(self, key: str, k: int, event: gr.EventData, page: gr.Request) -> Updates:
        """Show what an address names that Back or Forward have led to."""
        data = callbacks.event_data(event)
        pairs = data.get("query")
        query = _query(pairs) if isinstance(pairs, list) else {}
        REQUESTS.restore(str(page.session_hash))
        yield {
            self.context.address: html.restore(str(data.get("number"))),
            **self._arrive(query, str(data.get("upload", "")), key, k, page),
        }

    def _arrive(
        self, query: Mapping[str, str], upload: str, key: str, k: int, page: gr.Request
    ) -> Update:
        """Set the settings and the selection of an address, and open its tab.

        Args:
            query: The parts of the address.
            upload: Token of a visitor's photo; empty if there is none.
            key: Key of the tab that is open now.
            k: Photos to show at a time.
            page: The request.
        """
        context, tab = self.context, query.get("tab", self._first)
        if tab not in self.tabs:
            tab = self._first
        gallery = query.get("gallery", "")
        if gallery not in self.library.galleries:
            gallery = next(iter(self.library.galleries))
        model = query.get("model", "")
        if model not in self.library.models:
            model = self.library.default_model(gallery)
        selection = Selection(
            text=query.get("q", ""),
            photo=self._photo(query.get("photo"), gallery),
            gallery=gallery,
            upload=self._uploaded(upload),
            other=tuple((name, value) for name, value in query.items() if name not in SHARED),
        )
        REQUESTS.open_tab(str(page.session_hash), tab)
        update: Update = {
            context.model: model,
            context.gallery: gr.update(choices=self.library.labels, value=gallery),
            context.selection: selection,
        }
        if tab == key:
            return {**update, self._visits[tab]: Visit(model, gallery, k, selection)}
        return {**update, context.tabs: gr.Tabs(selected=tab)}  # which opens it

    def _uploaded(self, token: str) -> str | None:
        if not token:
            return None
        try:
            return self.context.uploads.path(token)
        except UserError as error:
            gr.Info(str(error))
            return None

    def _photo(self, text: str | None, gallery: str) -> int | None:
        """Return the number of a photo of an address, at most that of the last photo."""
        if not (text and text.isascii() and text.isdecimal() and len(text) < 10):
            return None
        return min(int(text), len(self.library.galleries[gallery].photos) - 1)


def _showing(tab: Tab) -> Callable[..., Updates]:
    """Return a callback that lets a tab show what it is to show, if there is anything."""

    def show(visit: Visit | None, *values: Any) -> Updates:
        if visit is not None:  # Gradio also reports a change when a page gets a first None
            yield from tab.show(visit, *values)

    return show


def _query(pairs: Sequence[Any]) -> dict[str, str]:
    """Return the parts of an address; what a page sent otherwise is left out."""
    valid = (pair for pair in pairs if isinstance(pair, list) and len(pair) == 2)
    return {str(name): str(value) for name, value in valid}


def _setting(choices: Sequence[Any], label: str) -> gr.Dropdown:
    first = choices[0]
    return gr.Dropdown(
        choices,
        value=first[1] if isinstance(first, tuple) else first,
        label=label,
        elem_classes="setting",
        min_width=120,
    )
