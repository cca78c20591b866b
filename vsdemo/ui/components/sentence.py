"""What several tabs show of a sentence: its tree, and what an alignment found of it in a photo."""

from __future__ import annotations

from markupsafe import Markup

from vsdemo.core.alignment import Alignment
from vsdemo.core.language import message, number, translate
from vsdemo.core.sentences import Tree
from vsdemo.plots import tree_svg
from vsdemo.ui.components.templates import render

TREE_HINT = message("Hover over or focus a word to see its role.")


def dependency_tree(sentence: str, parsed: Tree) -> Markup:
    """Return the dependency tree of a sentence."""
    svg = Markup(tree_svg(parsed))  # escaped by the plot
    return render("components/tree.html", sentence=sentence, tree=svg, hint=translate(TREE_HINT))


def phrases_shown(alignment: Alignment) -> str:
    """Return how many phrases the photo shows, not counting function words."""
    phrases = alignment.content_fragments
    shown = sum(alignment.best_region(m) is not None for m in phrases)
    return translate(
        "In the picture: {shown} of {total} phrases.",
        shown=number(shown),
        total=number(len(phrases)),
    )
