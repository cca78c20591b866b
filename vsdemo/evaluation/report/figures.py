"""Figures of a record, and patterns such as "{i2t r1:.1f} of {n:,}" that are filled with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from vsdemo.evaluation.metrics import bootstrap


@dataclass(frozen=True)
class Figure:
    """A number with what is known about its uncertainty.

    Args:
        value: The number.
        interval: Its 95% interval, [low, high].
        deviation: Its standard deviation over runs, which is shown rather than the interval.
    """

    value: float
    interval: Sequence[float] | None = None
    deviation: float | None = None

    def __format__(self, spec: str) -> str:
        """Return the number as text.

        Args:
            spec: One of
                - a format of numbers such as ".1f" or ",": the number alone;
                - "": "3.4 ± 0.5", "24.9 (23.1-26.8)" or, without uncertainty, "24.9"; counts as
                  "1,000";
                - "bounds": "23.1-26.8";
                - "to": "-0.8 (-2.1 to 0.5)";
                - "more" or "less", whichever is better, for the difference between two models:
                  "2.4 better (1.1 to 3.7)" or "2.4 worse (1.1 to 3.7)".
                The last three may be followed by a format of numbers.
        """
        if match := re.fullmatch(r"(to|more|less)(.*)", spec):
            return self.with_bounds(match[1], match[2] or ".1f")
        if spec == "bounds":
            return "-".join(f"{bound:.1f}" for bound in self.interval or ())
        if spec:
            return format(self.value, spec)
        if self.deviation is not None:
            return f"{self.value:.1f} ± {self.deviation:.1f}"
        if self.interval is not None:
            return bootstrap.cell(self.value, self.interval)
        return f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:.1f}"

    def with_bounds(self, style: str, number: str = ".1f") -> str:
        """Return the number and "(low to high)" in one of the last three formats."""
        value, bounds, word = self.value, list(self.interval or ()), ""
        if style != "to":
            word = " better" if (value < 0) == (style == "less") else " worse"
            if value < 0:
                value, bounds = -value, [-bound for bound in reversed(bounds)]
        between = f" ({' to '.join(format(bound, number) for bound in bounds)})" if bounds else ""
        return f"{value:{number}}{word}{between}"


Value = Figure | str
Lookup = Callable[[str], Value | None]


def find(figures: Mapping[str, Any], names: Sequence[str]) -> Value | None:
    """Return a figure of nested metrics by its names from outside in; None if there is none.

    Intervals are in a mapping `ci95` at any level, with the names of the levels below it.
    """
    value: Any = figures
    interval = None
    for depth, name in enumerate(names):
        if not isinstance(value, Mapping) or name not in value:
            return None
        interval = _dig(value.get("ci95"), names[depth:]) or interval
        value = value[name]
    if isinstance(value, Mapping) and "mean" in value:  # an estimate over runs
        interval, deviation, value = value.get("ci95"), value.get("sd"), value["mean"]
    else:
        deviation = None
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Figure(value=value, interval=interval, deviation=deviation)


def _dig(values: Any, names: Sequence[str]) -> Any:
    for name in names:
        if not isinstance(values, Mapping):
            return None
        values = values.get(name)
    return values


class MissingFigure(LookupError):
    """A pattern names a figure that does not exist."""


class _Filler(Formatter):
    """Reads a field such as "{t2i r1:.1f}" as the name of a figure and its format."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Value, str]:
        """Return the figure with this name."""
        value = self._lookup(field_name)
        if value is None:
            raise MissingFigure(field_name)
        return value, field_name

    def format_field(self, value: Value, format_spec: str) -> str:
        """Return a figure in its format, and text as it is."""
        return value if isinstance(value, str) else format(value, format_spec)


def fill(pattern: str, lookup: Lookup) -> str:
    """Return a pattern with the figures that it names.

    Args:
        pattern: Text with fields such as "{t2i r1}" or "{n:,}"; see `Figure.__format__`.
        lookup: Returns the figure or the text with a name.

    Raises:
        MissingFigure: The lookup returns None.
    """
    return _Filler(lookup).vformat(pattern, (), {})
