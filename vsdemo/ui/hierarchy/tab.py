"""The tab Hierarchy: what lies above what in an order-embedding, walked over a map."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.images import SUFFIXES, open_photo
from vsdemo.hierarchy import nodes
from vsdemo.hierarchy.nodes import Node
from vsdemo.hierarchy.order import PHOTO
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import Answer
from vsdemo.ui.components import html
from vsdemo.ui.hierarchy import navigation, view
from vsdemo.ui.hierarchy.compose import JoinPanel
from vsdemo.ui.hierarchy.loader import Ground, Grounds
from vsdemo.ui.hierarchy.map import plotly_map
from vsdemo.ui.hierarchy.state import Standing
from vsdemo.ui.library import Library

ABOUT = (
    "Walk from anything up to ever more general sentences and concepts, and down to photos: what "
    "an order-embedding has learnt."
)
WORDS = "Concepts of WordNet"
WALKS = ["Photos and sentences", WORDS]
STARTS = {False: "a dog", True: "dog"}
SIDE = 1280  # pixels
ABOUT_MAP = (
    "Near on the map is alike, not more: UMAP only places the points. What lies above what is told "
    "by the arrows, the colour and the lists."
)


class Walk:
    """Widgets of the tab, and what they do."""

    def __init__(self, library: Library) -> None:
        self.library, self.grounds = library, Grounds(library)
        gr.HTML(f'<p class="about">{ABOUT}</p>')
        plain: dict[str, Any] = {"show_label": False, "container": False}
        with gr.Row(elem_classes="ask"):
            self.query = gr.Textbox(
                label="Where to go",
                placeholder="A word or a sentence",
                **{"max_lines": 1, "elem_id": "where", **plain},
            )
            self.go = gr.Button("Go there", variant="primary", scale=0, elem_id="walk")
        with gr.Row(elem_classes="pick walks"):
            self.what = gr.Radio(
                WALKS, value=WALKS[0], label="What to walk", elem_classes="what", **plain
            )
            self.upload = gr.UploadButton(
                "Use your own photo", file_types=["image"], elem_classes="chip", size="sm"
            )
        self.note = gr.HTML(html.note(""), elem_classes="notes")
        self.trail = _shown("trail")
        with gr.Row(elem_classes="results", elem_id="levels"):
            self.above, self.here, self.below = (
                _column(name) for name in ("above", "here", "below")
            )
        with gr.Row(elem_classes="results", elem_id="mapped"):
            with gr.Column(scale=8, min_width=320):
                self.map_note = gr.HTML(html.note(ABOUT_MAP), elem_classes="notes")
                self.map = plotly_map("Map of the hierarchy", "map")
            with gr.Column(scale=4, min_width=280):
                self.join = JoinPanel(self.grounds, self._source)
                self.picked = _shown("picked")
        with gr.Accordion("How it works: two dimensions to play with", open=False):
            gr.HTML(self.grounds.toy(), elem_id="toy")
        # drawn: the ground whose map is on the page
        self.asked, self.drawn = gr.State(None), gr.State(None)

    @property
    def outputs(self) -> list[Any]:
        """Every widget that an answer may change; the map follows where `asked` has changed."""
        levels = [self.trail, self.above, self.here, self.below, self.picked]
        return [self.query, self.what, self.note, *levels, self.asked]

    def say(self, callback: Callable[..., Answer]) -> Callable[..., Answer]:
        """A callback that tells what went wrong below the question."""
        return callbacks.telling(self.note)(callback)

    def open(self, asked: Standing | None) -> Answer:
        """Goes where somebody wanted to, or to the first example, when the tab shows."""
        if asked is not None and asked.place is None:
            yield from self._settle(asked)

    def changed(self, asked: Standing | None, model: str, gallery: str) -> Answer:
        """Walks by another model or in another gallery, once somebody has looked."""
        if asked is None:
            return
        if asked.place is None or asked.concepts:
            yield {self.asked: replace(asked, model=model, gallery=gallery)}
            return
        wanted: str | int = asked.place.text
        if asked.place.kind == PHOTO:
            wanted = asked.wanted if gallery == asked.gallery else ""
        yield from self._settle(Standing(model, gallery, wanted=wanted))

    def choose(self, what: str, asked: Standing | None) -> Answer:
        """Walks concepts alone, or photos and sentences."""
        if asked is not None and asked.concepts != (what == WORDS):
            yield from self._settle(Standing(asked.model, asked.gallery, what == WORDS))

    def run(self, text: str, asked: Standing | None) -> Answer:
        """Goes to what was typed."""
        if asked is None:
            return
        if Path(text[:255]).suffix.lower() in SUFFIXES:  # no path on the server is read
            raise UserError("Type a word or a sentence; for a photo there is a button below.")
        ground = yield from self._ground(asked)
        place = nodes.find_node(ground.world, ground.reader, text)
        yield from self._arrive(replace(asked, upload=""), ground, place)

    def take(self, path: str | None, asked: Standing | None) -> Answer:
        """Goes to a visitor's own photo."""
        if path is None or asked is None:
            return
        opened = open_photo(path)
        asked = Standing(asked.model, asked.gallery, upload=str(path))
        ground = yield from self._ground(asked)
        point = ground.reader.encode_photo(opened).x.float().cpu()
        yield {self.what: WALKS[0], self.picked: ""}
        yield from self._arrive(asked, ground, Node("your photo", PHOTO, point))

    def step(self, asked: Standing | None, event: gr.EventData) -> Answer:
        """Goes to an item that was clicked."""
        if asked is not None and asked.place is not None:
            ground = yield from self._ground(asked)
            place = navigation.at(ground, callbacks.number(event, len(ground.world)))
            yield from self._arrive(replace(asked, upload=""), ground, place)

    def select(self, asked: Standing | None, event: gr.EventData) -> Answer:
        """Goes to the item that was clicked on the map, or gathers those that were selected."""
        if asked is None or asked.place is None:
            return
        ground = yield from self._ground(asked)
        data = event._data if isinstance(event._data, dict) else {}
        numbers = [n for n in data.get("numbers", ()) if n in range(len(ground.shown))]
        chosen = [ground.shown[n] for n in numbers]
        if len(chosen) == 1:
            place = navigation.at(ground, chosen[0])
            yield from self._arrive(replace(asked, upload=""), ground, place)
        elif chosen:
            yield {self.picked: view.gathered(ground.world, chosen, self._source(asked))}

    def _settle(self, asked: Standing) -> Answer:
        """Goes to what is wanted, where that is here; else to the first example."""
        yield {self.what: WALKS[asked.concepts], self.picked: ""}
        ground = yield from self._ground(asked)
        yield from self._arrive(asked, ground, self._wanted(asked, ground))

    def _wanted(self, asked: Standing, ground: Ground) -> Node:
        if isinstance(asked.wanted, int) and ground.of_photos:
            return navigation.at(ground, ground.photo(asked.wanted))
        for text in (asked.wanted, STARTS[asked.concepts]):
            with suppress(UserError):
                return nodes.find_node(ground.world, ground.reader, str(text))
        return navigation.at(ground, 0)

    def _ground(self, asked: Standing) -> Any:
        return callbacks.settled(self.note, *self.grounds.found(asked.ground))

    def _arrive(self, asked: Standing, ground: Ground, place: Node) -> Answer:
        asked = navigation.arrive(asked, ground, place)
        above, below, photos = navigation.levels(ground, place, self._source(asked))
        typed = "" if place.kind == PHOTO else view.spoken(place.text)
        yield {
            self.trail: navigation.trail(asked, ground),
            self.above: above,
            self.here: navigation.here(ground, place, self._picture(asked, ground)) + photos,
            self.below: below,
            self.query: typed,
            self.note: html.note(f"By {ground.name}, over {len(ground.world):,} places."),
            self.asked: asked,
        }

    def chart(self, asked: Standing | None, drawn: tuple[str, str] | None) -> Answer:
        """Draws the map, or on the one that is there the trail and the place."""
        if asked is None or asked.place is None:
            return
        ground = yield from callbacks.settled(self.map_note, *self.grounds.found(asked.ground))
        points = yield from callbacks.settled(
            self.map_note, *self.grounds.map(asked.ground, ground)
        )
        template = self._source(asked)(0, "small").replace("/0/", "/{number}/")
        value = navigation.map_value(asked, ground, points, template, drawn != asked.ground)
        yield {self.map: value, self.map_note: html.note(ABOUT_MAP), self.drawn: asked.ground}

    def _source(self, asked: Standing) -> html.Source:
        return images.source(self.library.galleries[asked.gallery].token)

    def _picture(self, asked: Standing, ground: Ground) -> str:
        place = asked.place
        if place is None or place.kind != PHOTO:
            return ""
        if place.number is not None:
            return self._source(asked)(ground.world.items[place.number].number, "large")
        saved = images.saved(open_photo(asked.upload), SIDE, Path(self.note.GRADIO_CACHE))
        return f"gradio_api/file={quote(saved)}"


def _shown(name: str) -> gr.HTML:
    return gr.HTML("", elem_id=name, js_on_load="vsdemo.report(element, trigger, watch)")


def _column(name: str) -> gr.HTML:
    with gr.Column(scale=4, min_width=280):
        return _shown(name)


def build(library: Library) -> Walk:
    """Places the tab's widgets and ties those that concern only this tab."""
    tab = Walk(library)
    say, quiet = tab.say, {"show_progress": "hidden", "api_visibility": "private"}
    latest = {"trigger_mode": "always_last", **quiet}
    for start in (tab.go.click, tab.query.submit):
        start(say(tab.run), [tab.query, tab.asked], tab.outputs, **latest)
    for shown in (tab.trail, tab.above, tab.here, tab.below, tab.picked, tab.join.joined):
        shown.select(say(tab.step), [tab.asked], tab.outputs, **latest)
    tab.map.select(say(tab.select), [tab.asked], tab.outputs, **latest)
    tab.what.input(say(tab.choose), [tab.what, tab.asked], tab.outputs, **latest)
    tab.upload.upload(say(tab.take), [tab.upload, tab.asked], tab.outputs, **latest)
    tab.join.follow(tab.here, tab.asked)
    chart, outputs = callbacks.telling(tab.map_note)(tab.chart), [tab.map, tab.map_note, tab.drawn]
    tab.asked.change(chart, [tab.asked, tab.drawn], outputs, **latest)
    return tab
