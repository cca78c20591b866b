"""The panel that shows how a model reads the sentence, part by part; collapsed by default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from vsdemo.core.language import message, number, translate
from vsdemo.plots import profile_svg
from vsdemo.search.reading import ReadingStep, read, violations
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.html import PhotoAddress, PhotoText
from vsdemo.ui.components.templates import render
from vsdemo.ui.folded import FoldedPanel
from vsdemo.ui.library import Library
from vsdemo.ui.search.state import SearchState

LABEL = message("How the model reads the sentence")
READING = message("Reading the sentence")
NO_SENTENCE = message("There is no sentence yet.")
LEGEND = message(
    "Read by {model}: what it has composed after each step, and the photos that this describes "
    "best. Change one word to see where its meaning changes."
)
SIDE_BY_SIDE = message("{model} matches all parts of the sentence side by side; Align shows how.")
PHOTOS = 6  # of each step


class ReadingPanel(FoldedPanel):
    """The panel.

    Args:
        library: Models, galleries and engines.
    """

    def __init__(self, library: Library) -> None:
        super().__init__(LABEL, READING, channel="reading")
        self.library = library

    def subject(self, state: SearchState) -> tuple[str, str, str, int | None] | None:
        """Return the sentence, model, gallery and large photo; None without a sentence."""
        return (state.text, state.model, state.gallery, state.photo) if state.text else None

    def nothing(self) -> str:
        """Return what the panel says without a sentence."""
        return NO_SENTENCE

    def fill(self, state: SearchState) -> Updates:
        """Show the steps of the reading."""
        engine = yield from callbacks.load_engine(
            self.library, self.note, state.model, state.gallery
        )
        steps = read(engine, state.text, PHOTOS)
        encoder: Any = engine.model.text
        tokens = encoder.token_weights(engine.parse(state.text))
        excess = [] if state.photo is None else violations(engine, state.text, state.photo)
        legend = LEGEND if steps else SIDE_BY_SIDE
        address = images.addresses(self.library.galleries[state.gallery].token)
        yield {
            self.note: html.note(translate(legend, model=state.model)),
            self.content: reading(steps, address, html.photo_text(engine.gallery), excess, tokens),
        }


def reading(
    steps: Sequence[ReadingStep],
    address: PhotoAddress,
    text: PhotoText,
    excess: Sequence[float] = (),
    tokens: Sequence[tuple[str, float]] = (),
) -> Markup:
    """Return the steps with their photos.

    Args:
        steps: The steps.
        address: Addresses of photos.
        text: Alternative texts of photos.
        excess: By how much the sentence demands more than the large photo has, in each coordinate.
        tokens: The tokens of the sentence, and their shares in its embedding.
    """
    heaviest = max((weight for _, weight in tokens), default=1.0)
    violated = sum(value > 0 for value in excess)
    summary = translate(
        "Violated in {violated} of {total} dimensions",
        violated=number(violated),
        total=number(len(excess)),
    )
    rows = [
        (
            step.text,
            html.photo_picks(
                [hit.number for hit in step.hits],
                address,
                text,
                label=translate("Photo for “{text}”", text=step.text),
                kind="strip",
            ),
        )
        for step in steps
    ]
    return render(
        "search/reading.html",
        rows=rows,
        profile=Markup(profile_svg(excess, summary)) if excess else Markup(),  # escaped by the plot
        summary=summary,
        tokens=[(token, weight, weight / heaviest) for token, weight in tokens],
    )
