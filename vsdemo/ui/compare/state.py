"""What the tab Compare shows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vsdemo.search.model_comparison import PairComparison, RankingComparison
from vsdemo.ui.programs.call import OWN_PHOTO, ProgramCall
from vsdemo.ui.tabs import Selection

ROWS = 6  # results of each model
WITH, SECOND = "with", "second"  # in addresses: the other models, and the second sentence
LETTERS = "ABCD"  # stand for models that are hidden


@dataclass(frozen=True)
class CompareState:
    """The query, the models and what they answer.

    Attributes:
        text: The sentence; empty if a photo is the query.
        model: Key of the first model, that of the page.
        gallery: Key of the gallery.
        others: Keys of the other models.
        second: A second sentence, to see which models notice the difference; empty without one.
        photo: Number of the photo that is the query; None without one.
        upload: File of a visitor's photo that is the query.
        chosen: Number of the photo that was clicked; None before that.
        order: The models in the order in which they are shown while they are hidden; empty if they
            are not.
        result: What the models answer; several comparisons for two sentences.
        selection: What the visitor has selected.
        late: Number of the sentence that is filled into the field; see `LateText`.
    """

    text: str
    model: str
    gallery: str
    others: tuple[str, ...] = ()
    second: str = ""
    photo: int | None = None
    upload: str | None = None
    chosen: int | None = None
    order: tuple[str, ...] = ()
    result: RankingComparison | Sequence[PairComparison] | None = field(default=None, compare=False)
    selection: Selection = field(default_factory=Selection)
    late: int = field(default=0, compare=False)

    @property
    def is_pending(self) -> bool:
        """Whether the models have not answered yet."""
        return self.result is None

    @property
    def models(self) -> tuple[str, ...]:
        """Keys of all compared models, each once."""
        return self.order or tuple(dict.fromkeys((self.model, *self.others)))

    @property
    def large(self) -> int | None:
        """Number of the photo that is shown large: the chosen one, else the best of `model`."""
        if self.chosen is not None or not isinstance(self.result, RankingComparison):
            return self.chosen
        if self.has_photo:
            return None
        first = next((c for c in self.result.answered if c.title == self.model), None)
        return first.numbers[0] if first and first.hits else None

    @property
    def is_blind(self) -> bool:
        """Whether the names of the models are hidden."""
        return bool(self.order)

    @property
    def has_photo(self) -> bool:
        """Whether a photo is the query."""
        return self.photo is not None or self.upload is not None

    def title(self, model: str) -> str:
        """Return how a column is called on the page: by a letter if it is a hidden model."""
        return LETTERS[self.order.index(model)] if model in self.order else model

    def asking(
        self,
        selection: Selection,
        *,
        second: str = "",
        photo: int | None = None,
        upload: str | None = None,
        chosen: int | None = None,
    ) -> CompareState:
        """Return the state with another query, whose sentence is that of the selection."""
        return replace(
            self,
            text=selection.text,
            second=second,
            photo=photo,
            upload=upload,
            chosen=chosen,
            order=(),
            selection=selection,
        )

    def hide_models(self) -> CompareState:
        """Return the state with the models in a random order, without their names."""
        models = replace(self, order=()).models
        return replace(self, order=tuple(random.sample(models, len(models))))

    @property
    def address(self) -> dict[str, str]:
        """What the address bar of the browser shows; never a visitor's photo."""
        values = {"tab": "compare", "model": self.model, "gallery": self.gallery}
        if self.text:
            values["q"] = self.text
        if self.second:
            values[SECOND] = self.second
        photo = self.photo if self.has_photo else self.chosen
        if photo is not None:
            values["photo"] = str(photo)
        if self.others:
            values[WITH] = ",".join(self.others)
        return values

    @property
    def call(self) -> ProgramCall | None:
        """What a program would ask for; None while the models are hidden, or without a query."""
        if self.is_blind or not (self.text or self.has_photo):
            return None
        photo = OWN_PHOTO if self.upload else self.photo
        texts = {"sentence": self.text, "second": self.second}
        return ProgramCall(
            "compare",
            texts={name: text for name, text in texts.items() if text},
            photo=photo,
            models=self.models,
            gallery=self.gallery,
            takes_gallery=True,
            k=ROWS,
        )
