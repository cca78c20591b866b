"""The panel with saved searches and labels of an index, on one's own machine only."""

from __future__ import annotations

from typing import Any

import gradio as gr

from vsdemo.data.catalog.annotations import Annotations
from vsdemo.data.galleries import Gallery
from vsdemo.ui.callbacks import Update
from vsdemo.ui.components.widgets import chip, note_html
from vsdemo.ui.search.results import can_pick


def annotations_of(gallery: Gallery) -> Annotations | None:
    """Return what the user keeps of an index; None where nothing can be kept."""
    catalog = gallery.catalog if can_pick(gallery) else None
    return Annotations(catalog.name) if catalog else None


class OwnPanel:
    """The widgets of the panel."""

    def __init__(self) -> None:
        with gr.Accordion(
            "Saved searches and labels", open=False, visible=False, elem_classes="filters own-panel"
        ) as self.panel:
            self.note = note_html()
            with gr.Row(elem_classes="conditions"):
                self.saved = gr.Dropdown([], value=None, label="Saved searches", min_width=160)
                self.delete = chip("Delete it")
                self.name = gr.Textbox(
                    label="Name of this search", max_lines=1, min_width=160, elem_id="search-name"
                )
                self.save = chip("Save this search")
            with gr.Row(elem_classes="conditions"):
                self.label = gr.Dropdown([], value=None, label="Labels", min_width=160)
                self.find = chip("Find more")
                self.unsure = chip("Show doubtful photos")
                self.write = chip("Write to XMP sidecars")
                self.remove = chip("Delete label")

    @property
    def outputs(self) -> list[Any]:
        """Every widget that `show` and callbacks change."""
        return [self.panel, self.note, self.saved, self.name, self.label]

    def hide(self) -> Update:
        """Hide the panel until it is known what is kept of a gallery."""
        return {self.panel: gr.update(visible=False)}

    def show(self, gallery: Gallery) -> Update:
        """Offer what the user keeps of a gallery; of others, hide the panel."""
        kept = annotations_of(gallery)
        if kept is None:
            return {self.panel: gr.update(visible=False)}
        searches = [search.name for search in kept.searches()]
        labels = [
            (f"{label.name} ({len(label.positive)} + {len(label.negative)})", label.name)
            for label in kept.labels()
        ]
        return {
            self.panel: gr.update(visible=True),
            self.saved: gr.update(choices=searches),
            self.label: gr.update(choices=labels),
        }
