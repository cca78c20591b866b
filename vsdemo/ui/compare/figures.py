"""The table of all models, with the papers' figures, and examples that a model wins or loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from vsdemo.core.errors import UserError
from vsdemo.core.language import message
from vsdemo.evaluation.experiments.experiment import reported
from vsdemo.models import checkpoint
from vsdemo.ui.callbacks import Updates
from vsdemo.ui.compare.state import CompareState
from vsdemo.ui.components.templates import render
from vsdemo.ui.folded import FoldedPanel
from vsdemo.ui.library import Library
from vsdemo.ui.library.models import paper_of

LABEL = message("All models, with the papers' figures")
READING = message("Reading the figures")
MEASURES = (("t2i", "r1"), ("t2i", "r10"), ("i2t", "r1"), ("i2t", "r10"))


@dataclass(frozen=True)
class FiguresRow:
    """A model with its figures.

    Attributes:
        model: Key of the model.
        paper: Authors and year of its paper; may be empty.
        kind: What it does, in plain words.
        data: Title of the data set that it was measured on.
        figures: R@1 and R@10 of photos, then of sentences, in percent; None if unknown.
        paper_data: Title of the paper's data set; empty if the paper has no such figures.
        paper_figures: The same in the paper.
    """

    model: str
    paper: str
    kind: str
    data: str
    figures: Sequence[float | None]
    paper_data: str = ""
    paper_figures: Sequence[float | None] = ()


class FiguresPanel(FoldedPanel):
    """The panel with the table, for the model and the gallery of the tab.

    Args:
        library: Models and galleries.
    """

    def __init__(self, library: Library) -> None:
        super().__init__(LABEL, READING, channel="figures")
        self.library = library

    def subject(self, state: CompareState) -> tuple[str, ...]:
        """Return gallery and model, and which models there are."""
        return state.gallery, state.model, *self.library.models

    def fill(self, state: CompareState) -> Updates:
        """Show the table."""
        yield {self.note: "", self.content: table(rows(self.library, state.gallery), state.model)}


def rows(library: Library, gallery: str) -> list[FiguresRow]:
    """Return the models that can search a gallery, those that fit it best first."""
    offers = [offer for group in library.groups(gallery) for offer in group.offers]
    result = []
    for offer in (offer for offer in offers if offer.can_be_chosen):
        folder = library.models[offer.key]
        try:
            metrics = checkpoint.read_metrics(folder)
            preset = checkpoint.read_spec(folder).preset
        except UserError:
            continue  # the model menu says what is damaged
        paper = reported(preset)
        result.append(
            FiguresRow(
                model=offer.key,
                paper=paper_of(folder),
                kind=offer.kind,
                data=offer.data,
                figures=_figures(metrics.get("test") or metrics.get("dev") or {}),
                paper_data=paper.data if paper else "",
                paper_figures=_figures(_retrieval(paper.figures)) if paper else (),
            )
        )
    return result


def table(models: Sequence[FiguresRow], current: str) -> Markup:
    """Return the table.

    Args:
        models: The rows.
        current: Key of the model that the others are compared with.
    """
    return render("compare/figures.html", rows=models, current=current)


def _figures(metrics: Mapping[str, Any]) -> list[float | None]:
    return [(metrics.get(direction) or {}).get(name) for direction, name in MEASURES]


def _retrieval(figures: Mapping[str, Any]) -> Mapping[str, Any]:
    retrieval: Mapping[str, Any] = figures.get("retrieval") or figures["first_captions"]
    return retrieval
