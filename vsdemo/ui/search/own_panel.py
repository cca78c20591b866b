"""The panel with saved searches and labels of an index, only on the user's own machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.language import message, number, translate, translate_count
from vsdemo.data.catalog.annotations import Annotations
from vsdemo.data.catalog.keywords import write_keyword
from vsdemo.data.galleries import Gallery
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import NEWEST, QUIET, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import label, static
from vsdemo.ui.components.templates import render
from vsdemo.ui.components.widgets import chip, note_html
from vsdemo.ui.library import Library
from vsdemo.ui.search import picks, saved
from vsdemo.ui.search.picks import annotations_of
from vsdemo.ui.search.state import SearchState

Guard = Callable[[Callable[..., Updates]], Callable[..., Updates]]


class OwnPanel:
    """The panel, and the bar with what can be done with selected photos.

    Attributes:
        picks_note: Says what was done with the selected photos.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        with gr.Accordion(
            label("Saved searches and labels"),
            open=False,
            visible=False,
            elem_classes="filters own-panel",
        ) as self.panel:
            self.note = note_html()
            with gr.Row(elem_classes="conditions"):
                self.saved = gr.Dropdown(
                    [], value=None, label=label("Saved searches"), min_width=160
                )
                self.delete = chip("Delete this search")
                self.name = gr.Textbox(
                    label=label("Name of this search"),
                    max_lines=1,
                    min_width=160,
                    elem_id="search-name",
                )
                self.save = chip("Save this search")
            with gr.Row(elem_classes="conditions"):
                self.label = gr.Dropdown([], value=None, label=label("Labels"), min_width=160)
                self.find = chip("Find more")
                self.unsure = chip("Show uncertain photos")
                self.write = chip("Write to XMP sidecars")
                self.remove = chip("Delete label")

    def place_picks(self) -> None:
        """Create the bar and its note here."""
        self.picks_note = note_html()
        self.picked = gr.HTML(
            static(lambda: render("search/picked.html")),
            elem_id="picked",
            js_on_load="vsdemo.followPicks(element, trigger)",
            padding=False,
        )

    def connect(self, state: gr.State, *, keep: Guard, pick: Guard) -> None:
        """Connect what changes only the panel and the bar.

        Args:
            state: Holds the `SearchState`.
            keep: Decorates the callbacks of the panel.
            pick: Decorates those of the bar.
        """
        outputs = self.outputs
        self.save.click(keep(self.save_search), [state, self.name], outputs, **QUIET)
        self.delete.click(keep(self.delete_saved), [state, self.saved], outputs, **QUIET)
        self.write.click(keep(self.write_label), [state, self.label], outputs, **QUIET)
        self.remove.click(keep(self.delete_label), [state, self.label], outputs, **QUIET)
        note = self.picks_note
        self.picked.input(pick(self.use_picks), state, [note, *outputs], **NEWEST)
        note.stop(pick(callbacks.stop(note)), None, note, **NEWEST)

    @property
    def outputs(self) -> list[Any]:
        """Every widget that `show` and callbacks change."""
        return [self.panel, self.note, self.saved, self.name, self.label]

    def hide(self) -> Update:
        """Hide the panel until it is known what the user keeps of a gallery."""
        return {self.panel: gr.update(visible=False)}

    def show(self, gallery: Gallery) -> Update:
        """Offer what the user keeps of a gallery; hide the panel for other galleries."""
        kept = annotations_of(gallery)
        if kept is None:
            return {self.panel: gr.update(visible=False)}
        searches = [search.name for search in kept.searches()]
        labels = [
            (
                f"{kept_label.name} ({len(kept_label.positive)} + {len(kept_label.negative)})",
                kept_label.name,
            )
            for kept_label in kept.labels()
        ]
        return {
            self.panel: gr.update(visible=True),
            self.saved: gr.update(choices=searches),
            self.label: gr.update(choices=labels),
        }

    def save_search(self, state: SearchState | None, name: str) -> Updates:
        """Save the search under a name."""
        gallery, kept = self.kept(state)
        if state is None or not state.has_query:
            raise UserError(translate("There is no search yet; type a sentence first."))
        kept.save_search(saved.to_saved(state, name, gallery))
        yield {
            **self.show(gallery),
            self.note: html.note(translate("“{name}” is saved.", name=name.strip())),
            self.name: "",
        }

    def delete_saved(self, state: SearchState | None, name: str | None) -> Updates:
        """Delete a saved search."""
        gallery, kept = self.kept(state)
        kept.delete_search(name or "")
        update = self.show(gallery)
        update[self.saved] = gr.update(choices=update[self.saved]["choices"], value=None)
        yield {**update, self.note: html.note(translate("“{name}” is deleted.", name=name))}

    def write_label(self, state: SearchState | None, name: str | None) -> Updates:
        """Write a label as a keyword into the sidecars of the photos that were marked."""
        gallery, kept = self.kept(state)
        catalog = gallery.catalog
        if not name or catalog is None:
            raise UserError(translate("Choose a label first; select photos to make one."))
        summary = write_keyword(catalog, kept, name, kept.label(name).positive)
        text = translate(
            "“{name}” is a keyword in {count} XMP files next to the marked photos; the photos "
            "themselves are unchanged.",
            name=name,
            count=number(summary.written + summary.unchanged),
        )
        yield {self.note: html.note(text)}

    def delete_label(self, state: SearchState | None, name: str | None) -> Updates:
        """Delete a label; keywords that were written stay."""
        gallery, kept = self.kept(state)
        kept.delete_label(name or "")
        update = self.show(gallery)
        update[self.label] = gr.update(choices=update[self.label]["choices"], value=None)
        yield {**update, self.note: html.note(translate("“{name}” is deleted.", name=name))}

    def kept(self, state: SearchState | None) -> tuple[Gallery, Annotations]:
        """Return the gallery and what the user keeps of it."""
        gallery = self.library.galleries[state.gallery] if state else None
        kept = annotations_of(gallery) if gallery else None
        if gallery is None or kept is None:
            raise UserError(translate(picks.NO_INDEX))
        return gallery, kept

    def use_picks(self, state: SearchState | None, event: gr.EventData) -> Updates:
        """Export the selected photos, or mark them for a label."""
        if state is None:
            return
        data, gallery = callbacks.event_data(event), self.library.galleries[state.gallery]
        numbers, action = picks.picked_numbers(data, gallery), data.get("action")
        if action in (picks.FITS, picks.DOES_NOT_FIT):
            name, fits = str(data.get("name", "")), action == picks.FITS
            count = picks.mark(gallery, name, numbers, fits=fits)
            text = (
                translate_count(
                    "{count} photo is marked: “{name}” fits.",
                    "{count} photos are marked: “{name}” fits.",
                    count,
                    name=name,
                )
                if fits
                else translate_count(
                    "{count} photo is marked: “{name}” does not fit.",
                    "{count} photos are marked: “{name}” does not fit.",
                    count,
                    name=name,
                )
            )
            yield {**self.show(gallery), self.picks_note: html.note(text)}
            return
        status = self.library.status(message("Exporting"))
        ranking = state.ongoing.ranking
        pending = self.library.submit(
            status, picks.export, gallery, ranking, numbers, str(action), status
        )
        target = yield from callbacks.wait_for(self.picks_note, pending)
        text = translate("{count} exported to {target}.", count=number(len(numbers)), target=target)
        yield {self.picks_note: html.note(text)}
