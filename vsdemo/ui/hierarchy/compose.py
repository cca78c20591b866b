"""The panel that joins kept items (Vendrov et al. 2016, Figure 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gradio as gr
import torch

from vsdemo.core import language
from vsdemo.core.errors import UserError
from vsdemo.core.language import message, translate
from vsdemo.hierarchy import joins
from vsdemo.hierarchy.order import Hierarchy, Node
from vsdemo.search.hierarchies import text_node
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import NEWEST, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import static
from vsdemo.ui.components.widgets import chip, clickable_html, note_html
from vsdemo.ui.hierarchy import navigation, view
from vsdemo.ui.hierarchy.lesson import COMPOSE, COMPOSED, STEPS
from vsdemo.ui.hierarchy.loader import Hierarchies
from vsdemo.ui.hierarchy.state import HierarchyKey, HierarchyState

PER_KIND = 5  # results of each kind
MAX_KEPT = 6
JOINS: dict[str, Callable[[Hierarchy, Sequence[Node], int], joins.Items]] = {
    message("Compose"): joins.together,
    message("Common"): joins.in_common,
}
ELEM_IDS = {"Compose": "compose", "Common": "abstract"}
Kept = tuple[HierarchyKey, tuple[Node, ...]]  # a hierarchy and its kept nodes


class JoinPanel:
    """The kept items, buttons that join them, and the items nearest to the join."""

    def __init__(
        self, hierarchies: Hierarchies, address: Callable[[HierarchyState], html.PhotoAddress]
    ) -> None:
        self.hierarchies, self.address = hierarchies, address
        self.note = note_html(html.note(""))
        self.tray = clickable_html("tray", static(lambda: view.tray(())))
        with gr.Row(elem_classes="join-buttons"):
            self.buttons = {name: chip(name, elem_id=ELEM_IDS[name]) for name in JOINS}
        self.joined = clickable_html("joined")
        self.kept = gr.State(None)

    def follow(self, here: gr.HTML, state: gr.State, steps: gr.HTML) -> None:
        """Connect the button "Keep" in `here`, that of the lesson, and the panel's own buttons."""
        guard = callbacks.report_errors(self.note, "join")
        inputs = [state, self.kept]
        outputs = [self.note, self.tray, self.joined, self.kept]
        here.apply(guard(self.keep), inputs, outputs, **NEWEST)
        steps.select(guard(self.follow_lesson), [state], outputs, **NEWEST)
        state.change(guard(self.change_hierarchy), inputs, outputs, **NEWEST)
        self.tray.click(guard(self.remove), inputs, outputs, **NEWEST)
        for name, button in self.buttons.items():

            def join(state: HierarchyState | None, kept: Kept | None, name: str = name) -> Updates:
                yield from self.join(state, kept, name)

            button.click(guard(join), inputs, outputs, **NEWEST)

    def keep(self, state: HierarchyState | None, kept: Kept | None) -> Updates:
        """Keep the current node."""
        if state is None or state.node is None:
            return
        nodes, node = _nodes(state, kept), state.node
        if any(torch.equal(other.embedding, node.embedding) for other in nodes):
            raise UserError(translate("This item is already kept; go to another one first."))
        if len(nodes) == MAX_KEPT:
            count = language.number(MAX_KEPT)
            raise UserError(
                translate("At most {count} items can be kept; remove one first.", count=count)
            )
        yield self._show((state.key, (*nodes, node)))

    def follow_lesson(self, state: HierarchyState | None, event: gr.EventData) -> Updates:
        """Keep and compose two sentences, in the step of the lesson that does."""
        if state is None or callbacks.clicked_number(event, len(STEPS)) != COMPOSE:
            return
        state = state.in_gallery
        gallery = yield from callbacks.wait_for(self.note, self.hierarchies.get(state.key))
        nodes = [text_node(gallery.hierarchy, gallery.reader, text) for text in COMPOSED]
        kept = (state.key, tuple(nodes))
        yield self._show(kept)
        yield from self.join(state, kept, "Compose")

    def change_hierarchy(self, state: HierarchyState | None, kept: Kept | None) -> Updates:
        """Remove all items when another hierarchy is shown, since its items differ."""
        if state is not None and (kept is None or kept[0] != state.key):
            yield self._show((state.key, ()))

    def remove(
        self, state: HierarchyState | None, kept: Kept | None, event: gr.EventData
    ) -> Updates:
        """Remove a kept item."""
        if state is not None:
            nodes = _nodes(state, kept)
            number = callbacks.clicked_number(event, len(nodes))
            yield self._show((state.key, nodes[:number] + nodes[number + 1 :]))

    def _show(self, kept: Kept) -> Update:
        texts = [view.name_of(node) for node in kept[1]]
        return {
            self.kept: kept,
            self.tray: view.tray(texts),
            self.joined: "",
            self.note: html.note(""),
        }

    def join(self, state: HierarchyState | None, kept: Kept | None, name: str) -> Updates:
        """Show the items nearest to the join of the kept ones."""
        nodes = _nodes(state, kept) if state else ()
        if state is None or len(nodes) < 2:
            raise UserError(translate("First keep at least two items with the button “Keep”."))
        gallery = yield from callbacks.wait_for(self.note, self.hierarchies.get(state.key))
        items = JOINS[name](gallery.hierarchy, nodes, PER_KIND)
        title = f"{translate(name)}: {' + '.join(view.name_of(node) for node in nodes)}"
        yield {
            self.joined: view.joined(
                gallery.hierarchy,
                items,
                self.address(state),
                title=title,
                truths=navigation.joined_truths(gallery, nodes, items, up=name == "Common"),
            ),
            self.note: html.note(_order(gallery.hierarchy, name)),
        }


def _order(hierarchy: Hierarchy, name: str) -> str:
    """Return in which order the items of a join are listed."""
    if joins.is_by_distance(hierarchy):
        return translate("Nearest items first, by squared distance.")
    if name == "Compose":
        return translate("What lies below all of them, the smallest violation first.")
    if not hierarchy.has_limits:
        return translate("What lies above all of them, the smallest violation first.")
    return translate("What lies above all of them, the most specific first.")


def _nodes(state: HierarchyState, kept: Kept | None) -> tuple[Node, ...]:
    """Return the kept nodes of the hierarchy on the page."""
    return kept[1] if kept and kept[0] == state.key else ()
