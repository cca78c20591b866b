"""The panel with the dependency tree of a sentence, collapsed by default."""

from __future__ import annotations

from typing import Protocol

from vsdemo.core.language import message, translate
from vsdemo.data.text import parser
from vsdemo.ui.callbacks import Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.sentence import dependency_tree
from vsdemo.ui.folded import FoldedPanel

LABEL = message("Dependency tree of the sentence")
PARSING = message("Parsing the sentence")
LEGEND = message("Arrows point from a word to its dependents.")
NO_SENTENCE = message("There is no sentence yet.")


class HasText(Protocol):
    """The state of a tab with a sentence."""

    @property
    def text(self) -> str:
        """The sentence."""


class TreePanel(FoldedPanel):
    """The panel."""

    def __init__(self) -> None:
        super().__init__(LABEL, PARSING, channel="tree")

    def subject(self, state: HasText) -> str:
        """Return the sentence."""
        return state.text

    def nothing(self) -> str:
        """Return what the panel says without a sentence."""
        return NO_SENTENCE

    def fill(self, state: HasText) -> Updates:
        """Draw the tree of the sentence."""
        (tree,) = parser.load("shipped").parse([state.text])
        yield {
            self.note: html.note(translate(LEGEND)),
            self.content: dependency_tree(state.text, tree),
        }
