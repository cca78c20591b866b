"""The page: the tabs, the widgets they share, and the ways from one tab to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from vsdemo.ui import callbacks
from vsdemo.ui.alignment import tab as alignment
from vsdemo.ui.alignment.state import AlignState
from vsdemo.ui.callbacks import NEWEST, QUIET, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.describe import tab as describe
from vsdemo.ui.describe.state import DescribeState
from vsdemo.ui.downloads import DownloadPanel
from vsdemo.ui.hierarchy import tab as hierarchy
from vsdemo.ui.hierarchy.state import HierarchyState
from vsdemo.ui.library import Library
from vsdemo.ui.search import tab as search
from vsdemo.ui.search.state import SearchState
from vsdemo.ui.sentences import tab as sentences
from vsdemo.ui.sentences.state import PairState
from vsdemo.ui.training.tab import SearchWidgets, TrainTab

TITLE = "vsdemo"
SUBTITLE = "Sentences and photos in one space"
TABS = ("search", "describe", "align", "sentences", "hierarchy", "train")
Query = dict[str, str]  # of the page's address


class Page:
    """The widgets that all tabs share, and the ways from one tab to another."""

    def __init__(self, library: Library) -> None:
        self.library = library
        with gr.Row(elem_classes="top"):
            gr.HTML(f"<h1>{TITLE}</h1><p>{SUBTITLE}</p>", elem_classes="title")
            self.model = _setting(list(library.models), "Model")
            self.gallery = _setting(library.labels, "Gallery")
            with gr.Accordion("More", open=False, elem_classes="more-settings") as self.more:
                self.k = gr.Slider(4, 60, 12, step=1, label="Photos at a time")
                self.downloads = DownloadPanel(library, self.model, self.gallery)
        with gr.Tabs(elem_id="tabs") as self.tabs:
            with gr.Tab("Search", id="search", render_children=True) as self.search_tab:
                self.search = search.build(library)
            with gr.Tab("Describe", id="describe", render_children=True) as self.describe_tab:
                self.describe = describe.build(library, self.model, self.gallery)
            with gr.Tab("Align", id="align", render_children=True) as self.align_tab:
                self.align = alignment.build(library, self.gallery)
            with gr.Tab("Sentences", id="sentences", render_children=True) as self.sentences_tab:
                self.sentences = sentences.build(library)
            with gr.Tab("Hierarchy", id="hierarchy", render_children=True) as self.hierarchy_tab:
                self.hierarchy = hierarchy.build(library)
            with gr.Tab("Train", id="train", render_children=True) as self.train_tab:
                self.train = TrainTab(library)
        self.settings = [self.model, self.gallery, self.k]

    def load_search(self, request: gr.Request) -> Updates:
        """Show the first photos: those of the address, or of the first example."""
        query = dict(request.query_params)
        model, gallery = self._chosen(query)
        photo = _number(query.get("photo")) if _tab(query) == "search" else None
        text, k = query.get("q", ""), self.k.value
        yield from self.search.open_gallery(text, model, gallery, k, photo)

    def load_settings(self, request: gr.Request) -> Update:
        """Set the drop-downs and the tabs as in the address; a tab answers when it opens."""
        query = dict(request.query_params)
        model, gallery = self._chosen(query)
        tab, text = _tab(query), query.get("q", "")
        is_align, is_train = tab == "align", tab == "train"
        return {
            self.model: gr.update(choices=list(self.library.models), value=model),
            self.gallery: gr.update(choices=self.library.labels, value=gallery),
            # Without a tab in the address, keep one that was clicked meanwhile.
            self.tabs: gr.Tabs(selected=tab) if "tab" in query else gr.skip(),
            self.align.state: AlignState(
                text if is_align else "",
                model,
                gallery,
                photo=self._photo(query, gallery) if is_align else 0,
            ),
            self.sentences.state: PairState(
                (query.get("a", ""), query.get("b", "")), model, gallery
            ),
            self.hierarchy.state: _hierarchy_state(query, model, gallery),
            **self.train.from_address(query if is_train else {}),
        }

    def load_describe(self, request: gr.Request) -> Updates:
        """Describe the photo of the address, or the first of the gallery."""
        query = dict(request.query_params)
        model, gallery = self._chosen(query)
        photo = self._photo(query, gallery) if _tab(query) == "describe" else 0
        yield from self._describe(DescribeState(model, gallery, photo=photo))

    def describe_photo(self, state: SearchState | None) -> Updates:
        """Go from the large photo to the sentences that describe it."""
        if state is not None:
            photo = state.photo or 0
            yield from self._describe(DescribeState(state.model, state.gallery, photo=photo))

    def search_sentence(self, state: DescribeState | None, k: int, event: gr.EventData) -> Updates:
        """Go from the clicked sentence to the photos it describes."""
        if state is not None:
            number = callbacks.clicked_number(event, len(state.sentences))
            text = html.tidy(state.sentences[number])
            yield {self.search.query: text}
            yield from self.search.run(text, state.model, state.gallery, k)

    def search_caption(
        self,
        captions: tuple[str, ...] | None,
        model: str,
        gallery: str,
        k: int,
        event: gr.EventData,
    ) -> Updates:
        """Go from a caption near one of two sentences to the photos it describes."""
        captions = captions or ()
        text = html.tidy(captions[callbacks.clicked_number(event, len(captions))])
        yield {self.search.query: text}
        yield from self.search.run(text, model, gallery, k)

    def align_photo(self, state: SearchState | None) -> Update:
        """Go from the large photo and its query to their alignment."""
        if state is None:
            return {self.align.state: gr.skip()}
        return self._align(
            AlignState(state.text, state.model, state.gallery, photo=state.photo or 0)
        )

    def align_sentence(self, state: DescribeState | None, event: gr.EventData) -> Update:
        """Go from the clicked sentence and its photo to their alignment."""
        if state is None:
            return {self.align.state: gr.skip()}
        number = callbacks.clicked_number(event, len(state.sentences))
        return self._align(
            AlignState(
                html.tidy(state.sentences[number]),
                state.model,
                state.gallery,
                photo=state.photo,
                upload=state.upload,
            )
        )

    def walk_from_photo(self, state: SearchState | None) -> Update:
        """Go from the large photo to its node in the hierarchy."""
        if state is None:
            return {self.hierarchy.state: gr.skip()}
        return {
            self.hierarchy.state: HierarchyState(
                state.model, state.gallery, target=state.photo or 0
            ),
            self.tabs: gr.Tabs(selected="hierarchy"),
        }

    def _align(self, state: AlignState) -> Update:
        return {self.align.state: state, self.tabs: gr.Tabs(selected="align")}

    def _describe(self, state: DescribeState) -> Updates:
        yield from self.describe.offer(state.gallery)
        yield from self.describe.show(state)

    def _chosen(self, query: Query) -> tuple[str, str]:
        """Return the model and gallery of the address; the first ones for unknown keys."""
        model, gallery = query.get("model", ""), query.get("gallery", "")
        if model not in self.library.models:
            model = next(iter(self.library.models))
        if gallery not in self.library.galleries:
            gallery = next(iter(self.library.galleries))
        return model, gallery

    def _photo(self, query: Query, gallery: str) -> int:
        last = len(self.library.galleries[gallery].photos) - 1
        return min(_number(query.get("photo")) or 0, last)

    def connect(self, demo: gr.Blocks) -> None:
        """Connect the events that concern several tabs."""
        states = [self.align.state, self.sentences.state, self.hierarchy.state]
        if self.train.open:
            states.append(self.train.state)
        demo.load(self.load_settings, None, [self.model, self.gallery, self.tabs, *states], **QUIET)
        self._connect_search(demo)
        self._connect_describe(demo)
        self._connect_align()
        self._connect_sentences()
        self._connect_hierarchy()
        self._connect_addresses()
        self.downloads.connect(demo, self.more)

    def _connect_search(self, demo: gr.Blocks) -> None:
        tab = self.search
        inputs, run = [tab.query, *self.settings], tab.guard(tab.run)
        for event in (tab.find.click, tab.query.submit):
            event(run, inputs, tab.outputs, **NEWEST)
        for button in tab.examples:
            button.click(run, [button, *self.settings], tab.outputs, **NEWEST)
        for event in (self.model.input, self.gallery.input):
            event(tab.guard(tab.open_gallery), inputs, tab.outputs, **NEWEST)
        demo.load(tab.guard(self.load_search), None, tab.outputs, **QUIET)
        if self.train.open:
            widgets = SearchWidgets(self.model, self.gallery, tab.query, self.tabs)
            used = self.train.connect(self.train_tab, widgets)
            used.then(tab.guard(tab.open_gallery), inputs, tab.outputs, **NEWEST)

    def _connect_describe(self, demo: gr.Blocks) -> None:
        tab, search_tab = self.describe, self.search
        self._on_settings(tab, tab.outputs)
        demo.load(tab.guard(self.load_describe), None, tab.outputs, **QUIET)
        search_tab.detail.submit(
            tab.guard(self.describe_photo), [search_tab.state], tab.outputs, **NEWEST
        )
        search_tab.detail.submit(lambda: gr.Tabs(selected="describe"), None, self.tabs, **QUIET)
        search_sentence = search_tab.guard(self.search_sentence)
        tab.sentences.click(search_sentence, [tab.state, self.k], search_tab.outputs, **NEWEST)
        tab.sentences.click(lambda: gr.Tabs(selected="search"), None, self.tabs, **QUIET)

    def _connect_align(self) -> None:
        tab, outputs = self.align, [self.align.state, self.tabs]
        self.search.detail.apply(self.align_photo, [self.search.state], outputs, **QUIET)
        self.describe.sentences.apply(self.align_sentence, [self.describe.state], outputs, **QUIET)
        self.align_tab.select(tab.guard(tab.open), [tab.state], tab.outputs, **NEWEST)
        self._on_settings(tab, tab.outputs)

    def _connect_sentences(self) -> None:
        tab, search_tab = self.sentences, self.search
        self.sentences_tab.select(tab.guard(tab.open), [tab.state], tab.questions, **NEWEST)
        self._on_settings(tab, tab.questions)
        search_caption = search_tab.guard(self.search_caption)
        tab.nearest.click(
            search_caption, [tab.captions, *self.settings], search_tab.outputs, **NEWEST
        )
        tab.nearest.click(lambda: gr.Tabs(selected="search"), None, self.tabs, **QUIET)

    def _connect_hierarchy(self) -> None:
        tab, outputs = self.hierarchy, [self.hierarchy.state, self.tabs]
        self.search.detail.expand(self.walk_from_photo, [self.search.state], outputs, **QUIET)
        self.hierarchy_tab.select(tab.guard(tab.open), [tab.state], tab.outputs, **NEWEST)
        self._on_settings(tab, tab.outputs)

    def _connect_addresses(self) -> None:
        """Show a tab's address in the browser's address bar when the tab opens."""
        for tab, elem_id in (
            (self.search_tab, "detail"),
            (self.describe_tab, "sentences"),
            (self.align_tab, "figure"),
            (self.sentences_tab, "similarity"),
            (self.hierarchy_tab, "trail"),
            (self.train_tab, "status"),
        ):
            tab.select(js=f"() => vsdemo.updateAddressBar(document.getElementById('{elem_id}'))")

    def _on_settings(self, tab: Any, outputs: Sequence[Any]) -> None:
        """Let a tab follow another model or gallery."""
        inputs = [tab.state, self.model, self.gallery]
        for event in (self.model.input, self.gallery.input):
            event(tab.guard(tab.change_settings), inputs, outputs, **NEWEST)


def _setting(choices: Sequence[Any], label: str) -> gr.Dropdown:
    first = choices[0]
    return gr.Dropdown(
        choices,
        value=first[1] if isinstance(first, tuple) else first,
        label=label,
        elem_classes="setting",
        min_width=120,
    )


def _tab(query: Query) -> str:
    """Return the tab of an address."""
    return query["tab"] if query.get("tab") in TABS else "search"


def _hierarchy_state(query: Query, model: str, gallery: str) -> HierarchyState:
    """Return where the tab Hierarchy begins."""
    if _tab(query) != "hierarchy":
        return HierarchyState(model, gallery)
    photo = _number(query.get("photo"))
    return HierarchyState(
        model,
        gallery,
        concepts=query.get("of") == "concepts",
        target=query.get("q", "") if photo is None else photo,
    )


def _number(text: str | None) -> int | None:
    """Return a short whole number, or None."""
    if text and text.isascii() and text.isdecimal() and len(text) < 10:
        return int(text)
    return None
