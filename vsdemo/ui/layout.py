"""The page: the tabs, the widgets they share, and the ways from one tab to another."""

from __future__ import annotations

from typing import Any

import gradio as gr

from vsdemo.ui import callbacks
from vsdemo.ui.alignment import tab as alignment
from vsdemo.ui.alignment.state import Asked
from vsdemo.ui.alignment.tab import Align
from vsdemo.ui.callbacks import Answer, Update
from vsdemo.ui.components import html
from vsdemo.ui.describe import tab as caption
from vsdemo.ui.describe.tab import Caption, Described
from vsdemo.ui.downloads import FetchPanel
from vsdemo.ui.hierarchy import tab as hierarchy
from vsdemo.ui.hierarchy.state import Standing
from vsdemo.ui.hierarchy.tab import Walk
from vsdemo.ui.library import Library
from vsdemo.ui.search import tab as search
from vsdemo.ui.search.tab import Search, Shown
from vsdemo.ui.sentences import tab as sentences
from vsdemo.ui.sentences.tab import Pair, Sentences
from vsdemo.ui.training.tab import Training

TITLE = "vsdemo"
LINE = "Sentences and photos in one space"
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


class Page:
    """The widgets that all tabs share, and the ways from one tab to another."""

    def __init__(self, library: Library) -> None:
        self.library = library
        with gr.Row(elem_classes="top"):
            gr.HTML(f"<h1>{TITLE}</h1><p>{LINE}</p>", elem_classes="title")
            models, galleries = list(library.models), library.labels
            self.model = gr.Dropdown(
                models, value=models[0], label="Model", elem_classes="setting", min_width=120
            )
            self.gallery = gr.Dropdown(
                galleries,
                value=galleries[0][1],
                label="Gallery",
                elem_classes="setting",
                min_width=120,
            )
            with gr.Accordion("More", open=False, elem_classes="rare") as self.rare:
                self.k = gr.Slider(4, 60, 12, step=1, label="Photos at a time")
                self.fetch = FetchPanel(library, self.model, self.gallery)
        with gr.Tabs(elem_id="tabs") as self.tabs:
            with gr.Tab("Search", id="search", render_children=True) as self.search_tab:
                self.search: Search = search.build(library)
            with gr.Tab("Describe", id="describe", render_children=True) as self.describe_tab:
                self.caption: Caption = caption.build(library, self.model, self.gallery)
            with gr.Tab("Align", id="align", render_children=True) as self.align_tab:
                self.align: Align = alignment.build(library, self.gallery)
            with gr.Tab("Sentences", id="sentences", render_children=True) as self.sentences_tab:
                self.sentences: Sentences = sentences.build(library)
            with gr.Tab("Hierarchy", id="hierarchy", render_children=True) as self.walk_tab:
                self.walk: Walk = hierarchy.build(library)
            with gr.Tab("Train", id="train", render_children=True) as self.train_tab:
                self.training = Training(library)
        self.settings = [self.model, self.gallery, self.k]

    def load(self, request: gr.Request) -> Answer:
        """The first photos: as the address asks, or for the first example."""
        asked = dict(request.query_params)
        model, gallery = self._chosen(asked)
        photo = _whole(asked.get("photo")) if _tab(asked) == "search" else None
        yield from self.search.look(asked.get("q", ""), model, gallery, self.k.value, photo)

    def load_settings(self, request: gr.Request) -> Update:
        """The drop-downs and the tab as the address has them; what to align waits for its tab."""
        asked = dict(request.query_params)
        model, gallery = self._chosen(asked)
        aligned = _tab(asked) == "align"
        photo = self._photo(asked, gallery) if aligned else 0
        return {
            self.model: gr.update(choices=list(self.library.models), value=model),
            self.gallery: gr.update(choices=self.library.labels, value=gallery),
            # Who has clicked on a tab meanwhile is not taken back.
            self.tabs: gr.Tabs(selected=_tab(asked)) if "tab" in asked else gr.skip(),
            self.align.asked: Asked(asked.get("q", "") * aligned, model, gallery, photo),
            self.sentences.asked: Pair((asked.get("a", ""), asked.get("b", "")), model, gallery),
            self.walk.asked: self._standing(asked, model, gallery),
            **self.training.asked(asked if _tab(asked) == "train" else {}),
        }

    def load_photo(self, request: gr.Request) -> Answer:
        """The photo to describe: that of the address, or the first of the gallery."""
        asked = dict(request.query_params)
        model, gallery = self._chosen(asked)
        photo = self._photo(asked, gallery) if _tab(asked) == "describe" else 0
        yield from self._describe(Described(model, gallery, photo=photo))

    def describe(self, shown: Shown | None) -> Answer:
        """From the photo shown large to the sentences that describe it."""
        if shown is not None:
            yield from self._describe(Described(shown.model, shown.gallery, photo=shown.photo or 0))

    def ask(self, described: Described | None, k: int, event: gr.EventData) -> Answer:
        """From the sentence that was clicked to the photos it describes."""
        if described is not None:
            number = callbacks.number(event, len(described.sentences))
            text = html.tidy(described.sentences[number])
            yield {self.search.query: text}
            yield from self.search.run(text, described.model, described.gallery, k)

    def ask_near(
        self, near: tuple[str, ...] | None, model: str, gallery: str, k: int, event: gr.EventData
    ) -> Answer:
        """From a caption near to one of two sentences to the photos it describes."""
        text = html.tidy((near or ())[callbacks.number(event, len(near or ()))])
        yield {self.search.query: text}
        yield from self.search.run(text, model, gallery, k)

    def align_shown(self, shown: Shown | None) -> Update:
        """From the photo shown large, with the sentence that found it, to their alignment."""
        if shown is None:
            return {self.align.asked: gr.skip()}
        return self._align(Asked(shown.text, shown.model, shown.gallery, shown.photo or 0))

    def align_described(self, described: Described | None, event: gr.EventData) -> Update:
        """From the sentence that was clicked, with its photo, to their alignment."""
        if described is None:
            return {self.align.asked: gr.skip()}
        text = html.tidy(described.sentences[callbacks.number(event, len(described.sentences))])
        what = (described.model, described.gallery, described.photo, described.upload)
        return self._align(Asked(text, *what))

    def _standing(self, asked: dict[str, str], model: str, gallery: str) -> Standing:
        """Where the tab Hierarchy begins: as the address asks, if it asks for that tab."""
        here = _tab(asked) == "hierarchy"
        photo = _whole(asked.get("photo")) if here else None
        wanted = asked.get("q", "") * here if photo is None else photo
        return Standing(model, gallery, here and asked.get("of") == "concepts", wanted)

    def walk_shown(self, shown: Shown | None) -> Update:
        """From the photo shown large to its place in the hierarchy."""
        if shown is None:
            return {self.walk.asked: gr.skip()}
        asked = Standing(shown.model, shown.gallery, wanted=shown.photo or 0)
        return {self.walk.asked: asked, self.tabs: gr.Tabs(selected="hierarchy")}

    def _align(self, asked: Asked) -> Update:
        return {self.align.asked: asked, self.tabs: gr.Tabs(selected="align")}

    def _describe(self, asked: Described) -> Answer:
        yield from self.caption.offer(asked.gallery)
        yield from self.caption.show(asked)

    def _chosen(self, asked: dict[str, str]) -> tuple[str, str]:
        model, gallery = asked.get("model", ""), asked.get("gallery", "")
        return (
            model if model in self.library.models else next(iter(self.library.models)),
            gallery if gallery in self.library.galleries else next(iter(self.library.galleries)),
        )

    def _photo(self, asked: dict[str, str], gallery: str) -> int:
        last = len(self.library.galleries[gallery].photos) - 1
        return min(_whole(asked.get("photo")) or 0, last)

    def connect(self, demo: gr.Blocks) -> None:
        """Ties the widgets that concern both tabs."""
        found, told = self.search, self.caption
        run, ask = found.say(found.run), [found.query, *self.settings]
        look, then = found.say(found.look), (found.say(found.answer), [found.shown], found.outputs)
        for start in (found.find.click, found.query.submit):
            start(run, ask, found.outputs, **QUIET)
        for start in (self.model.input, self.gallery.input):
            start(look, ask, found.outputs, **QUIET).then(*then, **QUIET)
        for button in found.examples:
            button.click(run, [button, *self.settings], found.outputs, **QUIET)
        chosen = [told.described, self.model, self.gallery]
        for start in (self.model.input, self.gallery.input):
            start(told.say(told.changed), chosen, told.outputs, **QUIET)
        tabs = (self.search_tab, "detail"), (self.describe_tab, "sentences")
        tabs = *tabs, (self.align_tab, "figure"), (self.sentences_tab, "alike")
        tabs = *tabs, (self.walk_tab, "trail"), (self.train_tab, "status")
        for tab, shown in tabs:
            tab.select(js=f"() => vsdemo.address(document.getElementById('{shown}'))")
        found.detail.submit(told.say(self.describe), [found.shown], told.outputs, **QUIET)
        found.detail.submit(lambda: gr.Tabs(selected="describe"), None, self.tabs, **QUIET)
        told.sentences.click(found.say(self.ask), [told.described, self.k], found.outputs, **QUIET)
        told.sentences.click(lambda: gr.Tabs(selected="search"), None, self.tabs, **QUIET)
        self._connect_align()
        self._connect_sentences()
        self._connect_walk()
        asked = [self.align.asked, self.sentences.asked, self.walk.asked]
        if self.training.open:
            asked.append(self.training.looked)
            to = (self.model, self.gallery, found.query, self.tabs)
            used = self.training.connect(self.train_tab, to)
            used.then(look, ask, found.outputs, **QUIET).then(*then, **QUIET)
        settings = [self.model, self.gallery, self.tabs, *asked]
        demo.load(self.load_settings, None, settings, **QUIET)
        demo.load(found.say(self.load), None, found.outputs, **QUIET).then(*then, **QUIET)
        demo.load(told.say(self.load_photo), None, told.outputs, **QUIET)
        self.fetch.connect(demo, self.rare)

    def _connect_align(self) -> None:
        """What leads to the tab Align puts its question there; the tab answers when it shows."""
        found, told, tab = self.search, self.caption, self.align
        to = [tab.asked, self.tabs]
        found.detail.apply(self.align_shown, [found.shown], to, **QUIET)
        told.sentences.apply(self.align_described, [told.described], to, **QUIET)
        self.align_tab.select(tab.say(tab.open), [tab.asked], tab.outputs, **QUIET)
        chosen = [tab.asked, self.model, self.gallery]
        for start in (self.model.input, self.gallery.input):
            start(tab.say(tab.changed), chosen, tab.outputs, **QUIET)

    def _connect_sentences(self) -> None:
        """The tab compares when it shows; its captions lead to photos."""
        tab, found = self.sentences, self.search
        self.sentences_tab.select(tab.say(tab.open), [tab.asked], tab.questions, **QUIET)
        chosen = [tab.asked, self.model, self.gallery]
        for start in (self.model.input, self.gallery.input):
            start(tab.say(tab.changed), chosen, tab.questions, **QUIET)
        near = [tab.shown, *self.settings]
        tab.near.click(found.say(self.ask_near), near, found.outputs, **QUIET)
        tab.near.click(lambda: gr.Tabs(selected="search"), None, self.tabs, **QUIET)

    def _connect_walk(self) -> None:
        """The tab goes where it was asked to when it shows."""
        tab = self.walk
        to = [tab.asked, self.tabs]
        self.search.detail.expand(self.walk_shown, [self.search.shown], to, **QUIET)
        self.walk_tab.select(tab.say(tab.open), [tab.asked], tab.outputs, **QUIET)
        chosen = [tab.asked, self.model, self.gallery]
        for start in (self.model.input, self.gallery.input):
            start(tab.say(tab.changed), chosen, tab.outputs, **QUIET)


def _tab(asked: dict[str, str]) -> str:
    """The tab that an address names."""
    tabs = ("describe", "align", "sentences", "hierarchy", "train")
    return asked["tab"] if asked.get("tab") in tabs else "search"


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else None
