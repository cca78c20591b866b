"""The field with the chosen model, and the panel that it opens."""

from __future__ import annotations

from concurrent.futures import Future, wait
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import GONE, LATEST, NEWEST, Update, Updates
from vsdemo.ui.components.labels import static
from vsdemo.ui.library import Library
from vsdemo.ui.library.offers import State
from vsdemo.ui.models import view

CHANNEL = "models"  # channel of requests that fill the panel
TICK = 1  # seconds between two updates of an open panel


class ModelMenu:
    """A field that shows the chosen model and what it costs, and a panel to choose another one.

    The panel floats above the page. It is filled when it is opened, and again while a preparation
    or a measurement goes on; closed it does no work.

    Args:
        library: Models, galleries and engines.
        gallery: Key of the first gallery.

    Attributes:
        chosen: Holds the key of the model.
        panel: The panel; it reports a `select` event when a model is clicked, see `clicked`.
    """

    def __init__(self, library: Library, gallery: str) -> None:
        self.library = library
        first = library.default_model(gallery)
        self.chosen = gr.State(first)
        with gr.Column(elem_classes="model-menu", min_width=0):
            self.field = gr.HTML(
                static(lambda: view.field(first, None)),
                elem_id="model",
                js_on_load="vsdemo.models.connectField(element, trigger, watch)",
                padding=False,
            )
            self.panel = gr.HTML(
                static(view.waiting),
                elem_id="models",
                js_on_load="vsdemo.models.connectPanel(element, trigger, watch)",
                padding=False,
            )

    def connect(self, demo: gr.Blocks, gallery: Any) -> None:
        """Fill the panel while it is open, and keep the field up to date.

        Args:
            demo: The page.
            gallery: Widget with the key of the gallery.
        """
        inputs = [self.chosen, gallery]
        guard = callbacks.report_errors(self.panel, CHANNEL)
        self.field.expand(guard(self.open), inputs, [self.panel, self.field], **NEWEST)
        self.field.collapse(guard(self.close), None, self.panel, **NEWEST)
        changed = [demo.load, self.chosen.change, gallery.change]
        gr.on(changed, self.update_field, inputs, self.field, **LATEST)

    def update_field(self, model: str, gallery: str) -> str:
        """Return the field with what the chosen model costs in a gallery."""
        if model not in self.library.models:  # its run was deleted
            return view.field(model, None)
        return view.field(model, self.library.offer(model, gallery))

    def open(self, model: str, gallery: str) -> Updates:
        """Fill the panel, and fill it again until nothing changes by itself any more."""
        measured: list[Future[Any]] = []
        if any(offer.state is State.UNMEASURED for offer in self.library.offers(gallery)):
            yield self._filled(model, gallery, is_measuring=True)
            measured.append(self.library.measure(gallery).future)
        filled: Update = {}
        while True:
            works = [*self.library.preparations(gallery), *measured]
            running = [work for work in works if not work.done()]
            is_measuring = any(not work.done() for work in measured)
            update = self._filled(model, gallery, is_measuring=is_measuring)
            yield update if update != filled else {self.panel: gr.skip()}
            if not running:
                return
            filled = update
            wait(running, TICK)

    def close(self) -> Updates:
        """End `open`, whose place this request takes."""
        yield {self.panel: gr.skip()}

    def clicked(self, gallery: str, event: gr.EventData) -> str:
        """Return the key of the clicked model.

        Raises:
            UserError: The page sent something other than a model that can be chosen.
        """
        name = callbacks.event_data(event).get("name")
        if not isinstance(name, str) or name not in self.library.models:
            raise UserError(GONE)
        offer = self.library.offer(name, gallery)
        if not offer.can_be_chosen:
            raise UserError(offer.reason)
        return name

    def _filled(self, model: str, gallery: str, *, is_measuring: bool = False) -> Update:
        groups = self.library.groups(gallery)
        offers = {offer.key: offer for group in groups for offer in group.offers}
        label = self.library.galleries[gallery].label
        return {
            self.panel: view.panel(groups, chosen=model, gallery=label, is_measuring=is_measuring),
            self.field: view.field(model, offers.get(model)),
        }
