"""The panel with the best regions of a gallery for a fragment, a word or a sentence."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from vsdemo.core.images import open_photo
from vsdemo.core.language import message, number, translate
from vsdemo.search.engine import MAX_K
from vsdemo.ui import callbacks, images
from vsdemo.ui.alignment import view
from vsdemo.ui.alignment.state import AlignState
from vsdemo.ui.callbacks import NEWEST, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.widgets import chip, clickable_html, note_html
from vsdemo.ui.library import Library

REGIONS = 12  # at a time


@dataclass(frozen=True)
class Shown:
    """What the panel shows: the best `count` regions for a text."""

    text: str
    count: int


class RegionsPanel:
    """The panel below an alignment."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.note = note_html(html.note(""))
        self.hits = clickable_html("region-results")
        self.more = chip(message("More regions"), visible=False)
        self.shown = gr.State(None)

    @property
    def empty(self) -> Update:
        """The panel before a search."""
        return {
            self.note: html.note(""),
            self.hits: "",
            self.more: gr.update(visible=False),
            self.shown: None,
        }

    def follow(self, parts: gr.HTML, state: gr.State) -> None:
        """Search for the selection in `parts` when its button is clicked."""
        guard, outputs = callbacks.report_errors(self.note, "regions"), [*self.empty]
        parts.apply(guard(self.find_regions), [state], outputs, **NEWEST)
        self.more.click(guard(self.show_more), [state, self.shown], outputs, **NEWEST)
        state.change(guard(self.end), None, outputs, **NEWEST)
        self.note.stop(guard(callbacks.stop(self.note)), None, self.note, **NEWEST)

    def end(self) -> Updates:
        """End a search for another alignment."""
        yield self.empty

    def find_regions(self, state: AlignState | None, event: gr.EventData) -> Updates:
        """Find regions for the selected fragment or word, or for the whole sentence."""
        if state is None or state.alignment is None:
            return
        text = state.choice_text(callbacks.clicked_number(event, state.choice_count))
        yield from self._show(state, Shown(text, REGIONS))

    def show_more(self, state: AlignState | None, shown: Shown | None) -> Updates:
        """Show the next regions below those on the page."""
        if state is not None and shown is not None:
            yield from self._show(state, Shown(shown.text, shown.count + REGIONS))

    def _show(self, state: AlignState, shown: Shown) -> Updates:
        text = shown.text
        engine = yield from callbacks.load_engine(
            self.library, self.note, state.aligned_by, state.gallery
        )
        yield {self.note: html.progress(message("Searching the regions of the gallery"))}
        photos = engine.gallery.photos
        hits = engine.regions(text, min(shown.count, len(photos), MAX_K))
        sizes = {hit.number: open_photo(photos[hit.number]).size for hit in hits}
        address = images.addresses(self.library.galleries[state.gallery].token)
        yield {
            self.hits: view.region_grid(
                hits,
                sizes,
                address,
                html.photo_text(engine.gallery),
                label=translate("Regions that match “{phrase}”", phrase=text),
            ),
            self.note: html.note(
                translate(
                    "Best {count} regions of the gallery for “{phrase}” by {model}.",
                    count=number(len(hits)),
                    phrase=text,
                    model=state.aligned_by,
                )
            ),
            self.more: gr.update(visible=len(hits) < min(len(photos), MAX_K)),
            self.shown: shown,
        }
