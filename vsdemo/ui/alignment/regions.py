"""The panel with the best regions of a gallery for a fragment, a word or a sentence."""

from __future__ import annotations

import gradio as gr

from vsdemo.core.images import open_photo
from vsdemo.ui import callbacks, images
from vsdemo.ui.alignment import view
from vsdemo.ui.alignment.state import AlignState
from vsdemo.ui.callbacks import NEWEST, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.widgets import clickable_html, note_html
from vsdemo.ui.library import Library

REGIONS = 12  # at a time


class RegionsPanel:
    """The panel below an alignment."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.note = note_html(html.note(""))
        self.hits = clickable_html("region-results")

    @property
    def empty(self) -> Update:
        """The panel before a search."""
        return {self.note: html.note(""), self.hits: ""}

    def follow(self, parts: gr.HTML, state: gr.State) -> None:
        """Search for the selection in `parts` when its button is clicked."""
        find_regions = callbacks.report_errors(self.note, "regions")(self.find_regions)
        parts.apply(find_regions, [state], [*self.empty], **NEWEST)

    def find_regions(self, state: AlignState | None, event: gr.EventData) -> Updates:
        """Find regions for the selected fragment or word, or for the whole sentence."""
        if state is None or state.alignment is None:
            return
        text = state.choice_text(callbacks.clicked_number(event, state.choice_count))
        engine = yield from callbacks.load_engine(
            self.library, self.note, state.aligned_by, state.gallery
        )
        yield {self.note: html.progress("Searching the regions of the gallery")}
        hits, photos = engine.regions(text, REGIONS), engine.gallery.photos
        sizes = {hit.number: open_photo(photos[hit.number]).size for hit in hits}
        address = images.addresses(self.library.galleries[state.gallery].token)
        yield {
            self.hits: view.region_grid(
                hits,
                sizes,
                address,
                html.photo_text(engine.gallery),
                label=f"Regions that match “{text}”",
            ),
            self.note: html.note(
                f"Best {len(hits)} regions of the gallery for “{text}” by {state.aligned_by}."
            ),
        }
