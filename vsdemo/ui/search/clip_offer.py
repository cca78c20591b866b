"""The offer of CLIP next to the results in the visitor's own photos."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import gradio as gr
from markupsafe import Markup

from vsdemo.core.language import translate
from vsdemo.data.downloads import fetch
from vsdemo.data.downloads.download import format_size
from vsdemo.models import pretrained
from vsdemo.ui.callbacks import LATEST, QUIET, REQUESTS, Update
from vsdemo.ui.components import html
from vsdemo.ui.components.widgets import chip
from vsdemo.ui.downloads import TICK, progress
from vsdemo.ui.tabs import Context, Selection, Visit

CLIP = "clip"  # name of the download


class Stage(Enum):
    """What the line says."""

    HIDDEN = auto()
    OFFERED = auto()  # CLIP can be fetched
    RUNNING = auto()
    HERE = auto()  # CLIP was fetched, but is not the chosen model


class ClipOffer:
    """A line with one button, as long as CLIP is not available.

    It starts the same download as the panel "More". Before that, no host is contacted.

    Args:
        context: What the tabs share.
        visit: Holds the visit of the tab with the offer.
    """

    def __init__(self, context: Context, visit: gr.State) -> None:
        self.context, self.visit = context, visit
        self.downloads, self.library = context.downloads, context.library
        # Empty until the page is loaded, so that the photos below keep their place.
        first = next(iter(self.library.galleries.values()))
        with gr.Row(elem_classes="offer", visible=first.is_own) as self.row:
            self.line = gr.HTML()
            self.fetch = chip("Fetch CLIP", visible=False)
            self.cancel = chip("Cancel", visible=False)
            self.search = chip("Search with CLIP", visible=False)
        self.timer = gr.Timer(TICK, active=False)
        self.followed = gr.State(False)  # whether the page has shown the progress
        self._connect()

    @property
    def model(self) -> str | None:
        """Key of the model that the download brings; None as long as it is not available."""
        folder = pretrained.fetched_folder(fetch.find_download(CLIP))
        models = self.library.models.items()
        return next((key for key, checkpoint in models if checkpoint == folder), None)

    def _connect(self) -> None:
        context = self.context
        inputs = [context.gallery, context.model, self.followed]
        buttons = [self.fetch, self.cancel, self.search]
        outputs = [self.row, self.line, *buttons, self.timer, self.followed]
        # The first one also shows that the page is loaded. One listener has them all, so that the
        # answer about the gallery before does not arrive last.
        changed = [context.fetched.change, context.gallery.change, context.model.change]
        gr.on([*changed, self.timer.tick], self.update, inputs, outputs, **LATEST)
        self.fetch.click(self.start, inputs, outputs, **QUIET)
        self.cancel.click(self.stop, inputs, outputs, **QUIET)
        values: list[Any] = [context.selection, *context.settings]
        self.search.click(self.choose, values, [context.model, self.visit], **QUIET)

    def start(self, gallery: str, model: str, followed: bool) -> Update:  # noqa: FBT001 (a widget's value)
        """Start or resume the download."""
        self.downloads.start(CLIP)
        return self.update(gallery, model, followed=True)

    def stop(self, gallery: str, model: str, followed: bool) -> Update:  # noqa: FBT001 (a widget's value)
        """Stop the download."""
        self.downloads.stop(CLIP)
        return self.update(gallery, model, followed)

    def update(self, gallery: str, model: str, followed: bool) -> Update:  # noqa: FBT001 (a widget's value)
        """Show what there is to say about CLIP."""
        stage = self._stage(gallery, model, followed=followed)
        return {
            self.row: gr.update(visible=stage is not Stage.HIDDEN),
            self.line: self._line(stage),
            self.fetch: gr.update(visible=stage is Stage.OFFERED),
            self.cancel: gr.update(visible=stage is Stage.RUNNING),
            self.search: gr.update(visible=stage is Stage.HERE),
            self.timer: gr.Timer(active=stage is Stage.RUNNING),
            self.followed: stage in (Stage.RUNNING, Stage.HERE),
        }

    def choose(
        self, selection: Selection, model: str, gallery: str, k: int, page: gr.Request
    ) -> Update:
        """Choose CLIP, with which the tab then repeats its search."""
        chosen = self.model or model  # it may have been deleted meanwhile
        restored = REQUESTS.restored(str(page.session_hash))
        return {
            self.context.model: chosen,
            self.visit: Visit(chosen, gallery, k, selection, restored),
        }

    def _stage(self, gallery: str, model: str, *, followed: bool) -> Stage:
        """Return what the line says.

        Args:
            gallery: Key of the gallery.
            model: Key of the chosen model.
            followed: Whether the page has shown the progress.
        """
        self.downloads.completed()  # lets the library offer the model
        if not self.library.galleries[gallery].is_own:
            return Stage.HIDDEN
        if not self.downloads.states[CLIP].ended:
            return Stage.RUNNING
        if not pretrained.known():  # another model of open_clip finds as much
            return Stage.OFFERED
        return Stage.HERE if followed and self.model not in (None, model) else Stage.HIDDEN

    def _line(self, stage: Stage) -> Markup:
        match stage:
            case Stage.OFFERED:
                problem = self.downloads.states[CLIP].problem
                return html.problem(problem) if problem else html.note(_offer())
            case Stage.RUNNING:
                return progress(CLIP, self.downloads.states[CLIP])
            case Stage.HERE:
                return html.note(translate("CLIP is available."))
            case _:
                return Markup()


def _offer() -> str:
    """Return what CLIP is good for and what it costs."""
    item = fetch.find_download(CLIP)
    received = ""
    if item.received:
        received = translate("{size} downloaded", size=format_size(item.received))
    facts = ", ".join(filter(None, [format_size(item.size), received, item.terms]))
    return translate("CLIP finds much more in your own photos ({facts}).", facts=facts)
