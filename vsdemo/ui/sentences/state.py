"""What the tab Sentences compares, and the models' comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vsdemo.core.errors import UserError
from vsdemo.core.language import message, number, translate
from vsdemo.data.galleries import TITLES
from vsdemo.search.engine import Reader
from vsdemo.search.sentence_comparison import SentenceComparison, compare_sentences
from vsdemo.ui.programs.call import ProgramCall
from vsdemo.ui.tabs import Selection

OTHER_DATA = message("other data")  # models of open_clip name none
UNKNOWN_DATA = message("unknown data")


@dataclass(frozen=True)
class PairState:
    """Two sentences to compare.

    Attributes:
        texts: The sentences.
        model: Key of the model.
        gallery: Key of the gallery.
        selection: What the visitor has selected.
    """

    texts: tuple[str, str]
    model: str
    gallery: str
    selection: Selection = field(default_factory=Selection)

    @property
    def address(self) -> dict[str, str]:
        """What the address bar of the browser shows."""
        first, second = self.texts
        return {
            "tab": "sentences",
            "a": first,
            "b": second,
            "model": self.model,
            "gallery": self.gallery,
        }

    @property
    def call(self) -> ProgramCall | None:
        """What a program would ask for."""
        first, second = self.texts
        return ProgramCall("sentences", texts={"first": first, "second": second})


@dataclass(frozen=True)
class Row:
    """A model and its comparison of the sentences, or the reason why it has none.

    Attributes:
        model: Key of the model.
        title: Name of the model within its group.
        trained_on: Title of its training set, by which rows are grouped.
        comparison: The comparison, or the reason.
    """

    model: str
    title: str
    trained_on: str
    comparison: SentenceComparison | str

    @classmethod
    def of(cls, model: str, reader: Reader | str, texts: tuple[str, str]) -> Row:
        """Compare two sentences by a model; a text is the reason why it could not be loaded."""
        if isinstance(reader, str):
            return cls(model, title=model, trained_on=UNKNOWN_DATA, comparison=reader)
        dataset = reader.spec.dataset
        comparison: SentenceComparison | str
        try:
            comparison = compare_sentences(reader, *texts)
        except UserError as error:
            comparison = str(error)
        return cls(
            model,
            title=model.removeprefix(f"{dataset} "),
            trained_on=TITLES.get(dataset, dataset) or OTHER_DATA,
            comparison=comparison,
        )


@dataclass(frozen=True)
class Comparisons:
    """The comparisons of two sentences by every model.

    Attributes:
        rows: A row for each model.
        chosen: Key of the chosen model.
    """

    rows: tuple[Row, ...]
    chosen: str

    @classmethod
    def of(cls, state: PairState, readers: Mapping[str, Reader | str]) -> Comparisons:
        """Compare the sentences by every model; see `Row.of`."""
        rows = tuple(Row.of(model, reader, state.texts) for model, reader in readers.items())
        return cls(rows, state.model)

    @property
    def by_model(self) -> dict[str, SentenceComparison]:
        """The comparisons of the models that have one, that of the chosen model first."""
        rows = sorted(self.rows, key=lambda row: row.model != self.chosen)
        return {
            row.model: row.comparison
            for row in rows
            if isinstance(row.comparison, SentenceComparison)
        }

    @property
    def by_order(self) -> str | None:
        """The chosen model if it has an order, else the first that has; None without any."""
        return next((model for model, result in self.by_model.items() if result.excess), None)

    @property
    def by_letters(self) -> str | None:
        """The chosen model if it reads characters, else the first that does; None without any."""
        return next((model for model, result in self.by_model.items() if result.attention), None)

    @property
    def summary(self) -> str:
        """How many models could compare the sentences."""
        return translate(
            "By {count} of {total} models.",
            count=number(len(self.by_model)),
            total=number(len(self.rows)),
        )
