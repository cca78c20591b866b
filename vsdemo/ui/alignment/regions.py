"""The panel that shows which regions of a gallery fit a fragment, a word or a sentence best."""

from __future__ import annotations

from typing import Any

import gradio as gr

from vsdemo.core.images import open_photo
from vsdemo.ui import callbacks, images
from vsdemo.ui.alignment import view
from vsdemo.ui.alignment.state import Asked
from vsdemo.ui.callbacks import Answer, Update
from vsdemo.ui.components import html
from vsdemo.ui.library import Library

REGIONS = 12  # at a time


class RegionsPanel:
    """The panel below an alignment."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.note = gr.HTML(html.note(""), elem_classes="notes")
        self.found = gr.HTML(
            "", elem_id="found", js_on_load="vsdemo.report(element, trigger, watch)"
        )

    @property
    def empty(self) -> Update:
        """Nothing was asked yet."""
        return {self.note: html.note(""), self.found: ""}

    def follow(self, parts: gr.HTML, asked: gr.State) -> None:
        """Answers the button in `parts`, for what was chosen there."""
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        find = callbacks.telling(self.note)(self.find)
        parts.apply(find, [asked], [*self.empty], trigger_mode="always_last", **quiet)

    def find(self, asked: Asked | None, event: gr.EventData) -> Answer:
        """Finds regions for the chosen fragment or word, or for the whole sentence."""
        if asked is None or asked.alignment is None:
            return
        text, gallery = asked.words_of(callbacks.number(event, asked.choices)), asked.gallery
        engine = yield from callbacks.engine(self.library, self.note, asked.by, gallery)
        yield {self.note: html.progress("Looking at the regions of the gallery", 0, 0)}
        hits, photos = engine.regions(text, REGIONS), engine.gallery.photos
        sizes = {h.number: open_photo(photos[h.number]).size for h in hits}
        source = images.source(self.library.galleries[gallery].token)
        yield {
            self.found: view.found(hits, sizes, source, f"“{text}”"),
            self.note: html.note(f"Best {len(hits)} regions of the gallery for “{text}”."),
        }
