"""The panel with the map of the gallery, collapsed by default."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Sequence
from threading import Lock
from typing import Any, Protocol

import gradio as gr
import numpy as np

from vsdemo.core.language import message, number, translate
from vsdemo.search.gallery_map import GalleryMap, build_map
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import LATEST, NEWEST, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import label, static
from vsdemo.ui.components.widgets import chip, note_html
from vsdemo.ui.library import LOADING, Library
from vsdemo.ui.library.pending import Pending, Status
from vsdemo.ui.search.map import MapRecord, gallery_map_widget

LABEL = message("Map of these photos")
DRAWING = message("Drawing the map")
LEGEND = message(
    "Photos that the model finds similar lie near each other; a name fits its region best."
)
BEST = message("The best results of the search are highlighted.")
NOTHING = message("There is no photo in this area.")
MAX_MAPS = 4  # in memory

MapKey = tuple[str, str, str]  # model, gallery, and a token of the gallery's photos


class ShowsPhotos(Protocol):
    """The state of a tab with photos of a gallery."""

    @property
    def model(self) -> str:
        """Key of the model."""

    @property
    def gallery(self) -> str:
        """Key of the gallery."""

    @property
    def highlights(self) -> Sequence[int]:
        """Numbers of the photos that the map highlights; empty without a search."""

    @property
    def photo(self) -> int | None:
        """Number of the large photo."""


class GalleryMaps:
    """Maps by model and gallery, drawn in the background; the last ones stay in memory."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = Lock()
        self._maps: OrderedDict[MapKey, Pending[GalleryMap]] = OrderedDict()

    def get(self, key: MapKey) -> Pending[GalleryMap]:
        """Return the map of the photos of a gallery."""
        with self._lock:
            pending = self._maps.get(key)
            if pending is None or pending.failed:
                status = self._library.status(LOADING)
                pending = self._library.submit(status, self._load, status, key)
                self._maps[key] = pending
            self._maps.move_to_end(key)
            drawn = [key for key, other in self._maps.items() if other.future.done()]
            for oldest in drawn[: max(0, len(self._maps) - MAX_MAPS)]:
                del self._maps[oldest]
            return pending

    def _load(self, status: Status, key: MapKey) -> GalleryMap:
        model, gallery, _ = key
        engine = self._library.engine(model, gallery).result(waiting=status)
        status.begin(DRAWING)
        return build_map(engine, status.report, status.cancelled)


class MapPanel:
    """The panel; it draws the map only while it is open.

    A click on a photo is a `select` event of `map`, like one in the grid of photos.

    Attributes:
        map: The widget.
        selected: Holds the numbers of the photos that the visitor has selected on the map, a tuple
            in ascending order; None without a selection.
    """

    def __init__(self, library: Library) -> None:
        self._library, self._maps = library, GalleryMaps(library)
        with gr.Accordion(label(LABEL), open=False, elem_classes="map-panel") as self.panel:
            self.note = note_html(static(lambda: html.progress(LOADING)))
            self.map = gallery_map_widget(LABEL, "gallery-map")
            self.clear = chip("Clear the selection", visible=False)
        self.open = gr.State(False)
        self.selected = gr.State(None)
        self._drawn = gr.State(None)  # the key of the map on the page

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change."""
        return [self.note, self.map, self.clear, self.open, self.selected, self._drawn]

    def follow(self, state: gr.State) -> None:
        """Show the gallery of a tab's state whenever it changes, with its results highlighted."""
        guard, outputs = callbacks.report_errors(self.note, channel="gallery map"), self.outputs
        values = [state, self.open, self.selected, self._drawn]
        self.panel.expand(
            guard(self.unfold), [state, self.selected, self._drawn], outputs, **NEWEST
        )
        self.panel.collapse(lambda: False, None, self.open, **LATEST)
        state.change(guard(self.draw), values, outputs, **NEWEST)
        self.map.points(guard(self.send_points), [state, self.selected], outputs, **NEWEST)
        self.map.area(guard(self.select_area), state, outputs, **NEWEST)
        self.map.region(guard(self.select_region), state, outputs, **NEWEST)
        self.clear.click(guard(self.clear_selection), state, outputs, **NEWEST)
        self.note.stop(guard(callbacks.stop(self.note)), None, self.note, **NEWEST)

    def unfold(
        self, state: ShowsPhotos | None, selected: tuple[int, ...] | None, drawn: MapKey | None
    ) -> Updates:
        """Draw the map when the panel is opened."""
        yield {self.open: True}
        yield from self.draw(state, True, selected, drawn)

    def draw(
        self,
        state: ShowsPhotos | None,
        is_open: bool,  # noqa: FBT001 (a widget's value)
        selected: tuple[int, ...] | None,
        drawn: MapKey | None,
    ) -> Updates:
        """Draw the map, or only highlight the results if it is on the page already."""
        if state is None or not is_open:
            return
        gallery_map = yield from self._load(state)
        is_new = drawn != self._key(state)
        kept = None if is_new else selected
        yield self._show(state, gallery_map, kept, has_points=is_new)

    def send_points(self, state: ShowsPhotos | None, selected: tuple[int, ...] | None) -> Updates:
        """Draw the map on a page that has lost the positions."""
        if state is not None:
            gallery_map = yield from self._load(state)
            yield self._show(state, gallery_map, selected, has_points=True)

    def select_area(self, state: ShowsPhotos | None, event: gr.EventData) -> Updates:
        """Select the photos inside the area that was drawn."""
        if state is not None:
            gallery_map = yield from self._load(state)
            polygon = callbacks.event_data(event).get("polygon", ())
            yield self._select(state, gallery_map, gallery_map.inside(polygon))

    def select_region(self, state: ShowsPhotos | None, event: gr.EventData) -> Updates:
        """Select the photos of the region whose name was clicked."""
        if state is not None:
            gallery_map = yield from self._load(state)
            region = callbacks.clicked_number(event, len(gallery_map.regions))
            yield self._select(state, gallery_map, gallery_map.of_region(region))

    def clear_selection(self, state: ShowsPhotos | None) -> Updates:
        """Select nothing, and highlight the results again."""
        if state is not None:
            gallery_map = yield from self._load(state)
            yield self._show(state, gallery_map, None)

    def _key(self, state: ShowsPhotos) -> MapKey:
        return state.model, state.gallery, self._library.galleries[state.gallery].token

    def _load(self, state: ShowsPhotos) -> Generator[Update, None, GalleryMap]:
        # The engine leaves out unreadable photos, so the key is that of its photos.
        engine = self._library.engine(state.model, state.gallery)
        yield from callbacks.wait_for(self.note, engine)
        return (yield from callbacks.wait_for(self.note, self._maps.get(self._key(state))))

    def _select(self, state: ShowsPhotos, gallery_map: GalleryMap, numbers: np.ndarray) -> Update:
        if not len(numbers):
            return {
                **self._show(state, gallery_map, None),
                self.note: html.note(translate(NOTHING)),
            }
        return self._show(state, gallery_map, tuple(numbers.tolist()))

    def _show(
        self,
        state: ShowsPhotos,
        gallery_map: GalleryMap,
        selected: tuple[int, ...] | None,
        *,
        has_points: bool = False,
    ) -> Update:
        """Return the map and what is selected on it."""
        key, count = self._key(state), len(gallery_map.positions)
        highlights = state.highlights if selected is None else ()
        if selected is not None:
            text = translate(
                "{selected} of {count} photos selected.",
                selected=number(len(selected)),
                count=number(count),
            )
        else:
            text = translate(LEGEND)
            if highlights:
                text = f"{text} {translate(BEST)}"
        record = MapRecord(
            gallery_map,
            key=" ".join(key),
            source=f"photo/{key[-1]}/{{number}}/small",
            highlighted=[photo for photo in highlights if photo < count],
            chosen=state.photo,
            selected=selected,
        )
        return {
            self.note: html.note(text),
            self.map: record.to_json(has_points=has_points),
            self.clear: gr.update(visible=selected is not None),
            self.selected: selected,
            self._drawn: key,
        }
