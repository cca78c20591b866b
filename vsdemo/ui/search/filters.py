"""The panel with conditions, order and weight, collapsed by default."""

from __future__ import annotations

from datetime import date
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.language import message, translate
from vsdemo.data.catalog.filters import Orientation, PhotoFilter, PhotoOrder
from vsdemo.data.catalog.table import PhotoTable
from vsdemo.ui.callbacks import LATEST, Update
from vsdemo.ui.components.labels import choice, label
from vsdemo.ui.search.refinement import Refinement

ANY = choice("Any")
MAX_CHOICES = 500  # folders or cameras in a list
DEPTH = 3  # folders below folders that are listed
ORIENTATIONS = [
    (choice("Any shape"), Orientation.ANY),
    (choice("Landscape"), Orientation.LANDSCAPE),
    (choice("Portrait"), Orientation.PORTRAIT),
    (choice("Square"), Orientation.SQUARE),
]
ORDERS = [
    (choice("Best first"), PhotoOrder.FIT),
    (choice("Newest first"), PhotoOrder.NEWEST),
    (choice("Oldest first"), PhotoOrder.OLDEST),
]
SIZES = [
    (choice("Any size"), 0),
    (choice("2 megapixels"), 2),
    (choice("8 megapixels"), 8),
    (choice("20 megapixels"), 20),
]


class FilterPanel:
    """The panel.

    Attributes:
        weight: How much the photo of the query counts.
    """

    def __init__(self) -> None:
        with gr.Accordion(label("Filters"), open=False, elem_classes="filters") as self.panel:
            # Nothing is known about photos that are not indexed except what they look like.
            with gr.Row(visible=False, elem_classes="conditions") as self.known:
                self.folder = gr.Dropdown(
                    [(ANY, "")], value="", label=label("Folder"), min_width=160
                )
                self.camera = gr.Dropdown(
                    [(ANY, "")], value="", label=label("Camera"), min_width=160
                )
                self.since = _day(message("From"), "since")
                self.until = _day(message("To"), "until")
                self.orientation = gr.Dropdown(
                    ORIENTATIONS, value=Orientation.ANY, label=label("Shape"), min_width=120
                )
                self.megapixels = gr.Dropdown(
                    SIZES, value=0, label=label("Minimum size"), min_width=120
                )
                self.order = gr.Dropdown(
                    ORDERS, value=PhotoOrder.FIT, label=label("Order"), min_width=120
                )
            with gr.Row(elem_classes="conditions"):
                self.copies = gr.Checkbox(
                    label=label("Only one of several nearly identical photos")
                )
                self.weight = gr.Slider(
                    0.1,
                    3.0,
                    1.0,
                    step=0.1,
                    label=label("Weight of the photo compared with the sentence"),
                )
            self.clear = gr.Button(label("Clear filters"), elem_classes="chip", size="sm")

    @property
    def values(self) -> list[Any]:
        """The widgets that `read` takes."""
        conditions = [self.folder, self.camera, self.since, self.until, self.orientation]
        return [*conditions, self.megapixels, self.order, self.copies, self.weight]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that `show` and `write` change."""
        return [self.panel, self.known, *self.values]

    def on_change(self, callback: Any, inputs: list[Any], outputs: list[Any]) -> None:
        """Call a callback after a visitor has changed anything."""
        changes = [widget.input for widget in self.values[:-1] if widget not in self._days]
        changes += [widget.submit for widget in self._days]
        changes += [widget.blur for widget in self._days]
        for changed in (*changes, self.weight.release):
            changed(callback, inputs, outputs, **LATEST)

    @property
    def _days(self) -> tuple[Any, Any]:
        return self.since, self.until

    def hide(self) -> Update:
        """Hide the conditions until it is known whether a gallery is indexed."""
        return {self.known: gr.update(visible=False)}

    def show(self, table: PhotoTable) -> Update:
        """Offer the folders and cameras of an index."""
        folders = [f for f in table.folder_counts if f and f.count("/") < DEPTH][:MAX_CHOICES]
        cameras = [*table.camera_counts][:MAX_CHOICES]
        return {
            self.known: gr.update(visible=True),
            self.folder: gr.update(choices=[(ANY, ""), *((f, f) for f in folders)]),
            self.camera: gr.update(choices=[(ANY, ""), *((c, c) for c in cameras)]),
        }

    def write(self, refinement: Refinement) -> Update:
        """Show what narrows a search down; the panel opens if that is anything."""
        conditions = refinement.conditions
        opened = {self.panel: gr.update(open=True)} if refinement.address else {}
        return {
            **opened,
            self.folder: conditions.folder,
            self.camera: conditions.camera,
            self.since: conditions.since.isoformat() if conditions.since else "",
            self.until: conditions.until.isoformat() if conditions.until else "",
            self.orientation: conditions.orientation,
            self.megapixels: conditions.megapixels,
            self.order: refinement.order,
            self.copies: refinement.groups_copies,
            self.weight: refinement.photo_weight,
        }


def read(*values: Any) -> Refinement:
    """Return what the widgets of `FilterPanel.values` say.

    Raises:
        UserError: A day is not a date.
    """
    folder, camera, since, until, orientation, megapixels, order, copies, weight = values
    conditions = PhotoFilter(
        folder=folder or "",
        camera=camera or "",
        since=_to_date(since),
        until=_to_date(until),
        orientation=orientation,
        megapixels=megapixels,
    )
    return Refinement(conditions, PhotoOrder(order), bool(copies), float(weight))


def _to_date(text: str | None) -> date | None:
    if not (text and text.strip()):
        return None
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        wrong = text.strip()[:40]
        raise UserError(
            translate("{text!r} is not a date; write it like 2024-05-31.", text=wrong)
        ) from None


def _day(title: str, name: str) -> gr.Textbox:
    return gr.Textbox(
        label=label(title),
        placeholder="2024-05-31",
        max_lines=1,
        min_width=120,
        elem_classes=f"day {name}",
    )
