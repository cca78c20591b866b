"""The page: its header, its tabs, and which of them shows what."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.language import message, translate
from vsdemo.serving.access import is_public
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import LATEST, NEWEST, QUIET, REQUESTS, Update, Updates
from vsdemo.ui.components.labels import label, static
from vsdemo.ui.components.templates import render
from vsdemo.ui.components.widgets import address_html, guide_html, programs_html, setting_menu
from vsdemo.ui.downloads import DownloadPanel, Downloads
from vsdemo.ui.indexing.indexes import Indexing
from vsdemo.ui.indexing.panel import Indexed, IndexPanel
from vsdemo.ui.library import Library
from vsdemo.ui.models.menu import ModelMenu
from vsdemo.ui.tabs import FIRST_K, Context, Selection, Tab, Visit, is_shown
from vsdemo.ui.uploads import Uploads

TITLE = "vsdemo"
SUBTITLE = message("Sentences and photos in one space")
# What the page adds to requests.
UPLOAD = "(_, k) => [history.state?.upload ?? '', k]"
RESTORES = "(_, ...values) => [vsdemo.restoresBeforeTab({}), ...values]"
PAGE_SECONDS = 15  # in which the scripts of a page must have loaded, even over a slow connection
SHARED = (
    "tab",
    "model",
    "gallery",
    "q",
    "photo",
    "learn",
)  # parts of an address that concern every tab


def page_title() -> gr.HTML:
    """Return the title of the page as a widget."""
    title = static(lambda: render("page/title.html", title=TITLE, subtitle=SUBTITLE))
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
        first = next(iter(library.galleries))
        with gr.Row(elem_classes="top"):
            page_title()
            self._menu = ModelMenu(library, first)
            gallery = setting_menu(label("Gallery"), library.labels, first)
            # Visitors of a public server must not see the folders of its owner.
            self._indexing = None if is_public() else IndexPanel(Indexing(library), gallery)
            with gr.Accordion(
                label("More"), open=False, elem_classes="more-settings"
            ) as self._more:
                k = gr.Slider(4, 60, FIRST_K, step=1, label=label("Photos at a time"))
                self._downloads = DownloadPanel(Downloads(library), gallery)
            guide_html()
        self._upload = gr.Textbox(visible=False)  # token of the photo of a page loaded again
        self._restores = gr.Number(visible=False)  # how often Back or Forward were used
        self._first = tabs[0].key
        self._visits = {kind.key: gr.State(None) for kind in tabs}
        selection, address = gr.State(None), address_html()  # None until the address is read
        with gr.Tabs(elem_id="tabs") as widget:
            programs = programs_html()
            self.context = Context(
                library=library,
                model=self._menu.chosen,
                gallery=gallery,
                k=k,
                selection=selection,
                address=address,
                programs=programs,
                tabs=widget,
                visits=self._visits,
                uploads=Uploads(),
                downloads=self._downloads.downloads,
                fetched=self._downloads.seen,
            )
            for kind in tabs:
                with gr.Tab(label(kind.title), id=kind.key, render_children=True) as container:
                    self.tabs[kind.key] = kind(self.context)
                    self._containers[kind.key] = container
        programs.render()  # type: ignore[no-untyped-call]

    def connect(self, demo: gr.Blocks) -> None:
        """Connect the events that concern all tabs."""
        context, visits = self.context, list(self._visits.values())
        values = [context.selection, *context.settings]
        settings = [context.model, context.gallery]
        for key, tab in self.tabs.items():
            visit = self._visits[key]
            self._containers[key].select(
                self.opener(key),
                [self._restores, *values],
                visit,
                js=RESTORES.format(json.dumps([key, self._first])),
                **NEWEST,
                concurrency_id="tabs",  # one after the other, in the order of the clicks
                concurrency_limit=1,
            )
            shown = visit.change(
                _showing(context, tab), [visit, *tab.inputs], tab.outputs, **NEWEST
            )
            shown.then(self._menu.update_field, settings, self._menu.field, **LATEST)
        context.gallery.input(self.change_settings, values, visits, **NEWEST)
        choose = callbacks.report_errors(self._menu.panel)(self.choose_model)
        chosen = [context.model, self._menu.panel, *visits]
        # One after the other, as the answers to two requests can change places.
        self._menu.panel.select(choose, values, chosen, **LATEST)
        self._menu.connect(demo, context.gallery)
        arrived = [context.model, context.gallery, context.selection, context.tabs]
        arriving = [*arrived, self._visits[self._first]]
        demo.load(self.load, [self._upload, context.k], arriving, js=UPLOAD, **QUIET)
        context.address.select(self.restore, context.k, [*arrived, *visits], **LATEST)
        self._downloads.connect(demo, self._more)
        if self._indexing:
            self._indexing.connect(demo)
            indexed = self._indexing.indexed
            chosen = [context.gallery, context.model, *visits]
            indexed.change(self.choose_indexed, [indexed, *values], chosen, **LATEST)

    def opener(self, key: str) -> Callable[..., Update]:
        """Return a callback that lets a tab show what is selected when it is opened."""

        def open_tab(
            restores: int,
            selection: Selection | None,
            model: str,
            gallery: str,
            k: int,
            page: gr.Request,
        ) -> Update:
            session = str(page.session_hash)
            restored = REQUESTS.restored(session)
            if restores < restored or key == REQUESTS.tab(session):
                return {self._visits[key]: gr.skip()}  # opened by the app, or left meanwhile
            REQUESTS.open_tab(session, key)
            return {self._visits[key]: Visit(model, gallery, k, selection or Selection(), restored)}

        return open_tab

    def change_settings(
        self, selection: Selection, model: str, gallery: str, k: int, request: gr.Request
    ) -> Update:
        """Let the open tab follow another model or gallery."""
        session = str(request.session_hash)
        key = REQUESTS.tab(session) or self._first
        visit = Visit(model, gallery, k, selection, REQUESTS.restored(session))
        return {self._visits[key]: visit}

    def choose_indexed(
        self,
        indexed: Indexed | None,
        selection: Selection,
        model: str,
        gallery: str,
        k: int,
        request: gr.Request,
    ) -> Update:
        """Choose a gallery that was indexed just now, and let the open tab show it."""
        library = self.library
        if indexed is None or indexed.gallery not in library.galleries:
            return {self.context.gallery: gr.skip()}
        if gallery != indexed.gallery:
            model = library.default_model(indexed.gallery)
        sentence = Selection(selection.text if selection else "")
        update = self.change_settings(sentence, model, indexed.gallery, k, request)
        return {
            self.context.gallery: gr.update(choices=library.labels, value=indexed.gallery),
            self.context.model: model,
            **{widget: replace(visit, is_renewed=True) for widget, visit in update.items()},
        }

    def choose_model(
        self,
        selection: Selection,
        model: str,
        gallery: str,
        k: int,
        event: gr.EventData,
        request: gr.Request,
    ) -> Updates:
        """Let the open tab follow the model that was clicked in the list."""
        clicked = self._menu.clicked(gallery, event)
        update = self.change_settings(selection, clicked, gallery, k, request)
        yield {self.context.model: clicked, **update}

    def load(self, upload: str, k: int, page: gr.Request) -> Update:
        """Show what the address of a new page names."""
        session = str(page.session_hash)
        tab, visit = self._visit(dict(page.query_params), upload, k)
        update = self._settings(visit)
        # A visitor who has opened a tab meanwhile stays there.
        if tab != self._first:
            if REQUESTS.tab(session) is None:
                update[self.context.tabs] = gr.Tabs(selected=tab)  # which opens it
        elif REQUESTS.open_first_tab(session, tab):
            update[self._visits[tab]] = visit
        return update

    def prepare(self, query: Mapping[str, str]) -> None:
        """Load what an address names, until its page asks for it or too much time has passed."""
        if not query:
            return  # the first gallery is being loaded already
        if self.library.find_model(query.get("model", "")) is None:
            query = {**query, "model": ""}
        key, visit = self._visit(query, "", FIRST_K)
        with ExitStack() as stack:
            loading = self.tabs[key].begin_loading(visit)
            for pending in loading:
                stack.enter_context(pending.wanted())
            wait([pending.future for pending in loading], PAGE_SECONDS)

    def restore(self, k: int, event: gr.EventData, page: gr.Request) -> Update:
        """Show what an address names that Back or Forward have led to."""
        data, session = callbacks.event_data(event), str(page.session_hash)
        pairs, number = data.get("query"), data.get("number")
        query = _query(pairs) if isinstance(pairs, list) else {}
        restored = number if isinstance(number, int) else 0
        tab, visit = self._visit(query, str(data.get("upload", "")), k, restored)
        if not REQUESTS.restore(session, restored, tab):
            return {self._visits[tab]: gr.skip()}
        return {
            **self._settings(visit),
            self.context.tabs: gr.Tabs(selected=tab),
            self._visits[tab]: visit,
        }

    def _visit(
        self, query: Mapping[str, str], upload: str, k: int, restored: int = 0
    ) -> tuple[str, Visit]:
        """Return the key of the tab of an address, and what the tab is to show.

        Args:
            query: The parts of the address.
            upload: Token of a visitor's photo; empty if there is none.
            k: Photos to show at a time.
            restored: How often Back or Forward were used.
        """
        tab = query.get("tab", self._first)
        if tab not in self.tabs:
            tab = self._first
        gallery = query.get("gallery", "")
        if gallery not in self.library.galleries:
            gallery = next(iter(self.library.galleries))
        wanted = query.get("model", "")
        model = self.library.find_model(wanted)
        if model is None:
            model = self.library.default_model(gallery)
            if wanted:
                text = "There is no model {wanted!r} here; this is {model}."
                gr.Info(translate(text, wanted=wanted, model=model))
        selection = Selection(
            text=query.get("q", ""),
            photo=self.library.galleries[gallery].photo_number(query.get("photo")),
            gallery=gallery,
            upload=self._uploaded(upload),
            other=tuple((name, value) for name, value in query.items() if name not in SHARED),
        )
        return tab, Visit(model, gallery, k, selection, restored)

    def _settings(self, visit: Visit) -> Update:
        """Return the settings and the selection of a visit."""
        return {
            self.context.model: visit.model,
            self.context.gallery: gr.update(choices=self.library.labels, value=visit.gallery),
            self.context.selection: visit.selection,
        }

    def _uploaded(self, token: str) -> str | None:
        if not token:
            return None
        try:
            return self.context.uploads.path(token)
        except UserError as error:
            gr.Info(str(error))
            return None


def _showing(context: Context, tab: Tab) -> Callable[..., Updates]:
    """Return a callback that lets a tab show what it is to show, if there is anything.

    Gradio reports some changes twice, and also the first None that a page gets. A visit is over
    once a later one has begun, or Back or Forward were used.
    """

    def show(page: gr.Request, visit: Visit | None, *values: Any) -> Updates:
        session = str(page.session_hash)
        before = REQUESTS.begin_visit(session, visit) if visit else None
        if visit is None or before is None or visit.restored != REQUESTS.restored(session):
            return
        state, *others = values
        channel = None
        if is_shown(visit, state):
            if (visit.model, visit.gallery) == (before.model, before.gallery):
                channel = ""  # an answer that is already on its way continues
            else:
                state = None  # the page did not have the answer to `before` yet
        show_visit = context.guard(tab, channel=channel)(tab.show)
        yield from show_visit(page, replace(visit, page=page), state, *others)

    return show


def _query(pairs: Sequence[Any]) -> dict[str, str]:
    """Return the parts of an address; anything else that a page sent is left out."""
    valid = (pair for pair in pairs if isinstance(pair, list) and len(pair) == 2)
    return {str(name): str(value) for name, value in valid}
