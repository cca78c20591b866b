"""The panel that composes and abstracts places which a visitor keeps (Vendrov 2016, Figure 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr
import torch
from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.hierarchy import nodes, order
from vsdemo.hierarchy.nodes import Node
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import Answer
from vsdemo.ui.components import html
from vsdemo.ui.hierarchy import view
from vsdemo.ui.hierarchy.loader import Grounds
from vsdemo.ui.hierarchy.state import Standing

EACH = 5  # of each kind
MOST = 6  # places
JOINS = {  # button: what it does
    "Compose": order.compose,
    "Abstract": order.abstract,
}
Kept = tuple[tuple[str, str], tuple[Node, ...]]  # the ground, and places of it


class JoinPanel:
    """What is kept, buttons that join it, and what is nearest to the join."""

    def __init__(self, grounds: Grounds, source: Callable[[Standing], html.Source]) -> None:
        self.grounds, self.source = grounds, source
        self.note = gr.HTML(html.note(""), elem_classes="notes")
        report = "vsdemo.report(element, trigger, watch)"
        self.tray = gr.HTML(view.tray(()), elem_id="tray", js_on_load=report)
        with gr.Row(elem_classes="joins"):
            self.buttons = {
                name: gr.Button(name, size="sm", elem_classes="chip", elem_id=name.lower())
                for name in JOINS
            }
        self.joined = gr.HTML("", elem_id="joined", js_on_load=report)
        self.kept = gr.State(None)

    def follow(self, here: gr.HTML, asked: gr.State) -> None:
        """Keeps what `here` shows when it says so, and answers the buttons."""
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        say, both = callbacks.telling(self.note), [asked, self.kept]
        outputs = [self.note, self.tray, self.joined, self.kept]
        here.apply(say(self.keep), both, outputs, trigger_mode="always_last", **quiet)
        asked.change(say(self.changed), both, outputs, trigger_mode="always_last", **quiet)
        self.tray.click(say(self.drop), both, outputs, trigger_mode="always_last", **quiet)
        for name, button in self.buttons.items():

            def join(asked: Standing | None, kept: Kept | None, name: str = name) -> Answer:
                yield from self.join(asked, kept, name)

            button.click(say(join), both, outputs, trigger_mode="always_last", **quiet)

    def keep(self, asked: Standing | None, kept: Kept | None) -> Answer:
        """Keeps the place where somebody stands."""
        if asked is None or asked.place is None:
            return
        own = _of(asked, kept)
        if any(torch.equal(place.embedding, asked.place.embedding) for place in own):
            raise UserError("That is kept already; go to another place, then keep that too.")
        if len(own) == MOST:
            raise UserError(f"{MOST} places are kept, more cannot be joined; put one back.")
        yield self._told((asked.ground, (*own, asked.place)))

    def changed(self, asked: Standing | None, kept: Kept | None) -> Answer:
        """Puts all back once another ground is walked, where numbers are those of other items."""
        if asked is not None and kept is not None and kept[0] != asked.ground:
            yield self._told((asked.ground, ()))

    def drop(self, asked: Standing | None, kept: Kept | None, event: gr.EventData) -> Answer:
        """Puts one back."""
        if asked is not None:
            own = _of(asked, kept)
            number = callbacks.number(event, len(own))
            yield self._told((asked.ground, own[:number] + own[number + 1 :]))

    def _told(self, kept: Kept) -> dict[Any, Any]:
        tray = view.tray([view.spoken(place.text) for place in kept[1]])
        return {self.kept: kept, self.tray: tray, self.joined: "", self.note: html.note("")}

    def join(self, asked: Standing | None, kept: Kept | None, name: str) -> Answer:
        """Shows what is nearest to the join of what is kept."""
        own = _of(asked, kept) if asked else ()
        if asked is None or len(own) < 2:
            raise UserError("Keep two places at least, each by its button “Keep for joining”.")
        ground = yield from callbacks.settled(self.note, *self.grounds.found(asked.ground))
        how: Callable[[Tensor], Tensor] = JOINS[name]
        point = how(torch.cat([place.embedding for place in own]))
        found = nodes.nearest_by_kind(ground.world, point, own, EACH)
        title = f"{name}: {' + '.join(view.spoken(place.text) for place in own)}"
        yield {
            self.joined: view.joined(ground.world, found, title, self.source(asked)),
            self.note: html.note("Nearest first, by the squared distance."),
        }


def _of(asked: Standing, kept: Kept | None) -> tuple[Node, ...]:
    """What is kept of the ground that is walked."""
    return kept[1] if kept and kept[0] == asked.ground else ()
