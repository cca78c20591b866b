"""The app in the browser: composes the tabs and starts the server. The one home of gradio."""

from __future__ import annotations

import os

# Read when gradio is imported: the app asks no other host for anything.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["HF_HUB_OFFLINE"] = "1"

from typing import Any

import gradio as gr

from vsdemo.types import UserError
from vsdemo.ui import caption, page, pictures, search, theme
from vsdemo.ui.answers import Answer
from vsdemo.ui.caption import Caption, Described
from vsdemo.ui.library import Library
from vsdemo.ui.search import EXAMPLES, Search, Shown

TITLE = "vsdemo"
LINE = "Sentences and photos in one space"
MAX_UPLOAD = "20mb"
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


class Page:
    """The widgets that all tabs share, and the ways from one tab to another."""

    def __init__(self, library: Library) -> None:
        self.library = library
        with gr.Row(elem_classes="top"):
            gr.HTML(f"<h1>{TITLE}</h1><p>{LINE}</p>", elem_classes="title")
            models, galleries = list(library.models), list(library.galleries.values())
            self.model = gr.Dropdown(
                models, value=models[-1], label="Model", elem_classes="setting", min_width=120
            )
            self.gallery = gr.Dropdown(
                [(g.label, g.key) for g in galleries],
                value=galleries[0].key,
                label="Gallery",
                elem_classes="setting",
                min_width=120,
            )
            with gr.Accordion("More", open=False, elem_classes="rare"):
                self.k = gr.Slider(4, 60, 12, step=1, label="Photos at a time")
        with gr.Tabs(elem_id="tabs") as self.tabs:
            with gr.Tab("Search", id="search") as self.search_tab:
                self.search: Search = search.build(library)
            with gr.Tab("Describe", id="describe") as self.describe_tab:
                self.caption: Caption = caption.build(library, self.model, self.gallery)
        self.settings = [self.model, self.gallery, self.k]

    def load(self, request: gr.Request) -> Answer:
        """The first page: what the address asks for, or the first example."""
        asked = dict(request.query_params)
        model, gallery = self.model.value, self.gallery.value
        model = asked["model"] if asked.get("model") in self.library.models else model
        gallery = asked["gallery"] if asked.get("gallery") in self.library.galleries else gallery
        text = asked.get("q", EXAMPLES[0])
        photo = int(asked["photo"]) if asked.get("photo", "").isdecimal() else None
        yield {self.model: model, self.gallery: gallery, self.search.query: text}
        describe = asked.get("tab") == "describe"
        if describe:
            yield {self.tabs: gr.Tabs(selected="describe")}
        try:
            shown = Shown(text, model, gallery, self.k.value)
            yield from self.search.show(shown, None if describe else photo)
        except UserError:
            yield {self.search.grid: page.note("Photos appear here.")}
            raise

    def describe(self, shown: Shown | None) -> Answer:
        """From the photo shown large to the sentences that describe it."""
        if shown is not None:
            asked = Described(shown.model, shown.gallery, photo=shown.photo)
            yield {self.tabs: gr.Tabs(selected="describe"), self.caption.described: asked}
            yield from self.caption.show(asked)

    def ask(self, described: Described | None, k: int, event: gr.EventData) -> Answer:
        """From the sentence that was clicked to the photos it describes."""
        if described is not None:
            hit = described.hits[answers_number(event, len(described.hits))]
            yield {self.tabs: gr.Tabs(selected="search"), self.search.query: hit.item}
            yield from self.search.run(hit.item, described.model, described.gallery, k)
