"""The tab Hierarchy: explores an order-embedding by its levels and on a map."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.images import SUFFIXES, open_photo
from vsdemo.core.language import message, translate
from vsdemo.hierarchy.order import PHOTO, Node
from vsdemo.search import hierarchies
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import NEWEST, Update, Updates
from vsdemo.ui.components import html, words
from vsdemo.ui.components.labels import choice, label, static
from vsdemo.ui.components.widgets import (
    about_html,
    clickable_html,
    note_html,
    one_line,
    upload_chip,
)
from vsdemo.ui.hierarchy import lesson, navigation, view
from vsdemo.ui.hierarchy.compose import JoinPanel
from vsdemo.ui.hierarchy.loader import Hierarchies, HierarchyGallery
from vsdemo.ui.hierarchy.map import map_widget
from vsdemo.ui.hierarchy.state import HierarchyKey, HierarchyState
from vsdemo.ui.late_text import LateText
from vsdemo.ui.library.pending import Pending
from vsdemo.ui.tabs import Context, Selection, Visit, is_shown

ABOUT = message(
    "Start from a word, a sentence or a photo, and explore what a model places above it, as more "
    "general, and below it, as more specific."
)
ABOUT_MAP = message(
    "Similar items are close to each other on the map. Arrows, colours and lists show which items "
    "are more general."
)
GALLERY, CONCEPTS = message("Photos and sentences"), message("Concepts of WordNet")
FIRST_TEXT, FIRST_CONCEPT = "an animal", "dog"
FIRST_SENTENCE = "a brown dog runs"  # without limits, only what follows from a sentence is true
SIDE = 1280  # pixels


class HierarchyTab:
    """The widgets of the tab, and their callbacks."""

    key: ClassVar = "hierarchy"
    title: ClassVar = message("Hierarchy")

    def __init__(self, context: Context) -> None:
        self.context, self.library = context, context.library
        self.hierarchies = Hierarchies(self.library)
        about_html(ABOUT)
        with gr.Row(elem_classes="query-row"):
            self.query = one_line(
                message("Starting point"),
                message("A word or a sentence"),
                elem_id="hierarchy-query",
            )
            self.go = gr.Button(label("Go"), variant="primary", scale=0, elem_id="hierarchy-go")
        with gr.Row(elem_classes="pick hierarchy-options"):
            self.scope = gr.Radio(
                [(choice(GALLERY), GALLERY), (choice(CONCEPTS), CONCEPTS)],
                value=GALLERY,
                label=label("What to explore"),
                elem_classes="hierarchy-scope",
                show_label=False,
                container=False,
            )
            self.upload = upload_chip()
        self.words = clickable_html("hierarchy-words", padding=False)
        self.note = note_html(html.note(""))
        self.trail = clickable_html("trail")
        with gr.Row(elem_classes="results", elem_id="mapped"):
            with gr.Column(scale=7, min_width=320, elem_classes="map-column"):
                self.map = map_widget(message("Map of the hierarchy"), "map")
                self.map_note = note_html(static(lambda: html.note(translate(ABOUT_MAP))))
                self.map_selection = clickable_html("map-selection")
            with gr.Column(scale=5, min_width=280):
                self.above, self.here, self.below = map(clickable_html, ("above", "here", "below"))
        self.join = JoinPanel(self.hierarchies, self._address)
        with gr.Accordion(label("A lesson in five steps"), open=False, elem_id="lesson-panel"):
            self.lesson = clickable_html("lesson", static(lesson.lesson))
            gr.HTML(static(self.hierarchies.toy), elem_id="toy")
        self.state = gr.State(None)
        self.late_text = LateText(self.query)
        self.drawn = gr.State(None)  # key of the hierarchy whose map is on the page
        self._connect()

    @property
    def inputs(self) -> list[Any]:
        """The widgets whose values `show` takes after the visit."""
        return [self.state, self.query]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change; the map follows changes of `state`."""
        levels = [self.trail, self.above, self.here, self.below, self.map_selection]
        return [
            self.query,
            self.scope,
            self.words,
            self.note,
            *levels,
            self.state,
            self.late_text.late,
            *self.context.place,
        ]

    def _connect(self) -> None:
        self.late_text.connect()
        guard, outputs, state = self.context.guard(self), self.outputs, [self.state]
        for event in (self.go.click, self.query.submit):
            event(guard(self.run), [self.query, *state], outputs, **NEWEST)
        for widget in (
            self.trail,
            self.above,
            self.here,
            self.below,
            self.map_selection,
            self.join.joined,
        ):
            widget.select(guard(self.go_to_item), state, outputs, **NEWEST)
        self.map.select(guard(self.select), state, outputs, **NEWEST)
        self.words.click(guard(self.correct), state, outputs, **NEWEST)
        self.scope.input(guard(self.choose), [self.scope, *state], outputs, **NEWEST)
        self.upload.upload(guard(self.use_upload), [self.upload, *state], outputs, **NEWEST)
        self.lesson.select(guard(self.follow_lesson), state, outputs, **NEWEST)
        self.join.follow(self.here, self.state, self.lesson)
        draw = self.context.guard(self, note=self.map_note, channel="map")(self.draw)
        map_outputs = [self.map, self.map_note, self.drawn]
        self.state.change(draw, [self.state, self.drawn], map_outputs, **NEWEST)
        self.note.stop(guard(callbacks.stop(self.note)), None, self.note, **NEWEST)

    def begin_loading(self, visit: Visit) -> Sequence[Pending[Any]]:
        """Begin to load the hierarchy."""
        return [self.hierarchies.get(_start(visit, None).key)]

    def show(self, visit: Visit, state: HierarchyState | None, query: str = "") -> Updates:
        """Show the place of what is selected, else the same node as before."""
        if state is not None and is_shown(visit, state):
            yield self.context.record(state)
            return
        selection = visit.selection
        before = query if state else ""
        state = _start(visit, state)
        yield {self.state: state}  # what is chosen meanwhile is of this model and gallery
        if selection.upload and not state.concepts:
            updates = self._arrive_upload(state, selection.upload)
        else:
            updates = self._arrive_target(state)
        for update in updates:
            yield self.late_text.defer(update, before)

    def choose(self, scope: str, state: HierarchyState | None) -> Updates:
        """Switch between WordNet's concepts, and photos and sentences."""
        concepts = scope == CONCEPTS
        if state is None:
            return
        if state.concepts == concepts:
            yield {self.scope: scope, self.note: ""}  # ends a request for the other scope
            return
        yield from self._arrive_target(
            HierarchyState(state.model, state.gallery, concepts=concepts, selection=Selection())
        )

    def run(self, text: str, state: HierarchyState | None) -> Updates:
        """Go to the typed text."""
        if state is None:
            return
        if Path(text[:255]).suffix.lower() in SUFFIXES:  # never read a path on the server
            raise UserError(
                translate("Type a word or a sentence; to use a photo, click the button below.")
            )
        gallery = yield from self._hierarchy(state)
        node = hierarchies.text_node(gallery.hierarchy, gallery.reader, text)
        for update in self._go_to(state, gallery, node):
            del update[self.query]  # the next text may be typed already
            yield update

    def correct(self, state: HierarchyState | None, event: gr.EventData) -> Updates:
        """Go to the sentence after replacing an unread word with the clicked one."""
        if state is not None and state.node is not None:
            gallery = yield from self._hierarchy(state)
            unread = navigation.unread_words(gallery, state.node)
            text = callbacks.corrected_text(event, state.node.text, unread)
            node = hierarchies.text_node(gallery.hierarchy, gallery.reader, text)
            yield from self._go_to(state, gallery, node)

    def use_upload(self, path: str | None, state: HierarchyState | None) -> Updates:
        """Go to a visitor's photo."""
        if path is None or state is None:
            return
        selection = Selection(state.selection.text, upload=str(path))
        yield from self._arrive_upload(
            HierarchyState(state.model, state.gallery, selection=selection), str(path)
        )

    def go_to_item(self, state: HierarchyState | None, event: gr.EventData) -> Updates:
        """Go to the clicked item."""
        if state is not None and state.node is not None:
            gallery = yield from self._hierarchy(state)
            number = callbacks.clicked_number(event, len(gallery.hierarchy))
            yield from self._go_to(state, gallery, gallery.hierarchy.node(number))

    def follow_lesson(self, state: HierarchyState | None, event: gr.EventData) -> Updates:
        """Go where a step of the lesson leads: among photos and sentences."""
        number = callbacks.clicked_number(event, len(lesson.STEPS))
        if state is None or (number == lesson.COMPOSE and not state.concepts):
            return
        state = state.in_gallery
        gallery = yield from self._hierarchy(state)
        target = lesson.STEPS[number].target or lesson.COMPOSED[0]
        if number == lesson.MISTAKE:
            node = navigation.mistaken_photo(gallery)
        else:
            node = hierarchies.text_node(gallery.hierarchy, gallery.reader, target)
        yield from self._go_to(state, gallery, node)

    def select(self, state: HierarchyState | None, event: gr.EventData) -> Updates:
        """Go to the item clicked on the map, or list the selected items."""
        if state is None or state.node is None:
            return
        gallery = yield from self._hierarchy(state)
        indices = range(len(gallery.map_items))
        numbers = callbacks.event_data(event).get("numbers", ())
        items = [gallery.map_items[number] for number in numbers if number in indices]
        if len(items) == 1:
            yield from self._go_to(state, gallery, gallery.hierarchy.node(items[0]))
        elif items:
            yield {
                self.map_selection: view.selection(gallery.hierarchy, items, self._address(state))
            }

    def _go_to(self, state: HierarchyState, gallery: HierarchyGallery, node: Node) -> Updates:
        """Go to a node that was chosen."""
        selection = Selection(node.text)
        if node.kind == PHOTO and node.number is not None:
            number = gallery.hierarchy.items[node.number].number
            selection = Selection(state.selection.text, number, state.gallery)
        state = replace(state, upload="", selection=selection)
        yield from self._arrive(state, gallery, node)

    def _arrive_upload(self, state: HierarchyState, path: str) -> Updates:
        """Show a visitor's photo."""
        image = open_photo(path)
        state = replace(state, upload=path)
        gallery = yield from self._hierarchy(state)
        yield {self.scope: GALLERY, self.map_selection: ""}
        node = hierarchies.photo_node(gallery.reader, image, view.OWN_PHOTO)
        yield from self._arrive(state, gallery, node)

    def _arrive_target(self, state: HierarchyState) -> Updates:
        """Show the target if it exists, else the first example."""
        yield {self.scope: CONCEPTS if state.concepts else GALLERY, self.map_selection: ""}
        gallery = yield from self._hierarchy(state)
        yield from self._arrive(state, gallery, _target_node(state, gallery))

    def _hierarchy(self, state: HierarchyState) -> Generator[Update, None, HierarchyGallery]:
        gallery = yield from callbacks.wait_for(self.note, self.hierarchies.get(state.key))
        return gallery.with_additions(state.additions)

    def _arrive(self, state: HierarchyState, gallery: HierarchyGallery, node: Node) -> Updates:
        state, gallery = navigation.arrive(state, gallery, node)
        node = state.node or node
        levels = navigation.levels(gallery, node, self._address(state))
        here = navigation.here(gallery, node, self._photo_address(state, gallery))
        by = html.note(navigation.source(gallery))
        caution = navigation.caution(gallery)
        yield {
            self.trail: navigation.trail(state, gallery),
            self.above: levels.above,
            self.here: here + levels.photos + by,
            self.below: levels.below,
            self.words: words.unread_words(node.text, navigation.unread_words(gallery, node)),
            self.query: "" if node.kind == PHOTO else view.spoken(node.text),
            self.note: html.note(caution) if caution else "",
            self.scope: CONCEPTS if state.concepts else GALLERY,
            self.state: state,
            **self.context.record(state),
        }

    def draw(self, state: HierarchyState | None, drawn: HierarchyKey | None) -> Updates:
        """Draw the map or, if it is on the page already, only the trail and the node."""
        if state is None or state.node is None:
            return
        pending = self.hierarchies.get(state.key)
        gallery = yield from callbacks.wait_for(self.map_note, pending)
        points = yield from callbacks.wait_for(
            self.map_note, self.hierarchies.map(state.key, gallery)
        )
        source = self._address(state)(0, "small").replace("/0/", "/{number}/")
        is_new = drawn != state.key
        yield {
            self.map: navigation.map_value(state, gallery, points, source, whole=is_new),
            self.map_note: html.note(translate(ABOUT_MAP)),
            self.drawn: state.key,
        }

    def _address(self, state: HierarchyState) -> html.PhotoAddress:
        return images.addresses(self.library.galleries[state.gallery].token)

    def _photo_address(self, state: HierarchyState, gallery: HierarchyGallery) -> str:
        """Return the address of the node's photo; empty if the node is not a photo."""
        node = state.node
        if node is None or node.kind != PHOTO:
            return ""
        if node.number is not None:
            return self._address(state)(gallery.hierarchy.items[node.number].number, "large")
        return images.upload_address(state.upload, SIDE, self.note.GRADIO_CACHE)


def _start(visit: Visit, state: HierarchyState | None) -> HierarchyState:
    """Return where to begin: what is selected, else the node on the page."""
    selection = visit.selection
    concepts = state.concepts if state else False
    target: str | int = ""
    if state is None or selection != state.selection:
        concepts = selection.value("of") == "concepts"
        photo = selection.photo_in(visit.gallery)
        target = selection.text if photo is None or concepts else photo
    if target == "" and state is not None:
        if state.node is not None and state.node.kind != PHOTO:
            target = state.node.text
        elif state.gallery == visit.gallery or isinstance(state.target, str):
            target = state.target
    return HierarchyState(
        visit.model, visit.gallery, concepts=concepts, target=target, selection=selection
    )


def _target_node(state: HierarchyState, gallery: HierarchyGallery) -> Node:
    if isinstance(state.target, int) and gallery.has_photos:
        return gallery.hierarchy.node(gallery.photo(state.target))
    first = FIRST_TEXT if gallery.hierarchy.has_limits else FIRST_SENTENCE
    for text in (state.target, FIRST_CONCEPT if state.concepts else first):
        with suppress(UserError):
            return hierarchies.text_node(gallery.hierarchy, gallery.reader, str(text))
    return gallery.hierarchy.node(0)
