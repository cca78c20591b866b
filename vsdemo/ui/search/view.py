"""What the tab Search shows, as values of its templates."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from vsdemo.core.sentences import Tree
from vsdemo.plots import tree_svg
from vsdemo.search.engine import Engine
from vsdemo.ui.components.html import Bar, PhotoCard, progress, tidy
from vsdemo.ui.components.templates import render
from vsdemo.ui.search.state import SearchState

TREE_HINT = "Hover over or focus a word to see its role."
MAX_UNKNOWN = 5  # unknown words in a note


def detail(
    photo: str,
    captions: Sequence[str],
    *,
    text: str,
    bar: Bar | None,
    nearest: Sequence[PhotoCard],
) -> Markup:
    """Return one large photo with its captions and what to do with it.

    Args:
        photo: Address of the photo.
        captions: Captions of this photo, to click.
        text: Alternative text of the photo.
        bar: Its score for the query, if there is one.
        nearest: The nearest photos.
    """
    return render(
        "search/detail.html",
        photo=photo,
        text=text,
        captions=[tidy(caption) for caption in captions],
        bar=bar,
        nearest=nearest,
    )


def tree(sentence: str, parsed: Tree) -> Markup:
    """Return the dependency tree of a sentence."""
    svg = Markup(tree_svg(parsed))  # escaped by the plot
    return render("search/tree.html", sentence=sentence, tree=svg, hint=TREE_HINT)


def partial_results(engine: Engine, state: SearchState, total: int, left: float | None) -> Markup:
    """Return the note of a search over the first photos of a gallery.

    Args:
        engine: An engine over the first photos.
        state: What is shown.
        total: Photos of the gallery.
        left: Seconds until all can be searched, if known.
    """
    count = len(engine.photos)
    if state.hits:
        best = f"Best {len(state.hits):,} of the first {count:,} photos by {state.model}"
        label = f"{best}; the others follow"
    else:
        label = f"Type a sentence to search the first {count:,} photos; the others follow"
    sentences = [*_remarks(engine, state.text), label]
    return progress(" ".join(sentences), count, total, seconds_left=left, can_stop=True)


def summary(engine: Engine, state: SearchState) -> str:
    """Return how many photos were searched by which model, and which words were ignored."""
    text = f"Best {len(state.hits):,} of {len(engine.photos):,} photos by {state.model}."
    return " ".join([text, *_remarks(engine, state.text)])


def _remarks(engine: Engine, text: str) -> list[str]:
    """Return sentences about files that could not be read and words that were ignored."""
    remarks = []
    if engine.unreadable:
        remarks.append(f"{len(engine.unreadable):,} files could not be read.")
    if text and (unknown := list(dict.fromkeys(engine.unknown_words(text)))):
        words = ", ".join(f"“{word}”" for word in unknown[:MAX_UNKNOWN])
        them = "it" if len(unknown) == 1 else "them"
        remarks.append(f"The model does not know {words} and ignored {them}.")
    return remarks
