"""Votes for models whose names are hidden: they are kept in the visitor's browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from vsdemo.evaluation.metrics.proportion import wilson
from vsdemo.ui.components.templates import render


@dataclass(frozen=True)
class Votes:
    """How often each model was shown and how often it was voted for.

    Attributes:
        shown: Key of a model -> votes in which it was one of the models.
        won: Key of a model -> votes for it.
    """

    shown: Mapping[str, int]
    won: Mapping[str, int]

    @classmethod
    def read(cls, value: Any) -> Votes:
        """Read what a browser has kept; what is not valid is left out."""
        rows = value if isinstance(value, dict) else {}
        valid = {
            str(model): (row[0], row[1])
            for model, row in rows.items()
            if isinstance(row, list)
            and len(row) == 2
            and all(isinstance(count, int) for count in row)
            and 0 <= row[0] <= row[1]
        }
        return cls(
            shown={model: shown for model, (_, shown) in valid.items()},
            won={model: won for model, (won, _) in valid.items()},
        )

    def record(self) -> dict[str, list[int]]:
        """Return what the browser keeps."""
        return {model: [self.won[model], shown] for model, shown in self.shown.items()}

    def add(self, models: Sequence[str], choice: str | None) -> Votes:
        """Return the votes with one more.

        Args:
            models: The models that were shown.
            choice: The one that was voted for; None if none was better.
        """
        shown = dict(self.shown) | {model: self.shown.get(model, 0) + 1 for model in models}
        won = {model: self.won.get(model, 0) + (model == choice) for model in shown}
        return Votes(shown, won)

    def figure(self) -> Markup:
        """Return a bar for each model with the share of its votes; empty without votes."""
        bars = [VoteBar.of(model, self.won[model], shown) for model, shown in self.shown.items()]
        return render("compare/votes.html", bars=sorted(bars, key=lambda bar: -bar.share))


@dataclass(frozen=True)
class VoteBar:
    """The bar of a model.

    Attributes:
        model: Key of the model.
        won: Votes for it.
        shown: Votes in which it was one of the models.
        share: Their quotient, 0 to 1.
        low: Lower end of the 95% interval of the share.
        high: Upper end of it.
    """

    model: str
    won: int
    shown: int
    share: float
    low: float
    high: float

    @classmethod
    def of(cls, model: str, won: int, shown: int) -> VoteBar:
        """Compute the share and its interval."""
        low, high = wilson(won, shown)
        return cls(model, won, shown, won / shown, low, high)
