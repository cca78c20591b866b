"""95% bootstrap confidence intervals of metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from vsdemo.core.nested import combine

RESAMPLES = 2000

Metrics = dict[str, Any]  # nested: name -> value or Metrics


class Measurement(Protocol):
    """Results of a model on a split, from which the metrics of any sample of photos follow.

    Some tasks draw pairs of sentences instead of photos.
    """

    def __len__(self) -> int:
        """Return the number of photos."""
        ...

    def metrics(self, photos: np.ndarray | None = None) -> Metrics:
        """Return the metrics of all photos, or of the photos with these numbers.

        Args:
            photos: (N,) numbers of photos, possibly repeated.
        """
        ...


@dataclass(frozen=True)
class Parts:
    """Measurements on sets of their own, as one whose metrics are grouped by set.

    Args:
        parts: Name of a set -> the measurement on it.
    """

    parts: Mapping[str, Measurement]

    def __len__(self) -> int:
        return sum(map(len, self.parts.values()))

    def metrics(self, photos: np.ndarray | None = None) -> Metrics:
        """Return the metrics of each set.

        Args:
            photos: (N,) numbers that run through the sets one after the other. A set without one
                among them keeps all its items.
        """
        result, start = {}, 0
        for name, part in self.parts.items():
            own = None
            if photos is not None:
                inside = photos[(photos >= start) & (photos < start + len(part))]
                own = inside - start if len(inside) else None
            result[name] = part.metrics(own)
            start += len(part)
        return result


def intervals(statistic: Callable[[np.ndarray], Metrics], size: int, seed: int = 0) -> Metrics:
    """Return 95% percentile intervals of a statistic over samples with replacement.

    Galleries stay whole and queries are resampled, so that an interval is about other queries of
    the same kind against this gallery.

    Args:
        statistic: Maps the numbers of a sample, (size,), to a nested dict of numbers.
        size: Number of photos or pairs to draw from and to draw.
        seed: Seed of the samples; paired intervals need the same one.

    Returns:
        The dict of the statistic with [low, high] in place of each number.
    """
    result: Metrics = combine(sample(statistic, size, seed), _percentiles)
    return result


def sample(statistic: Callable[[np.ndarray], Metrics], size: int, seed: int = 0) -> list[Metrics]:
    """Return a statistic of RESAMPLES samples with replacement, with the arguments of `intervals`.

    Statistics of several models are paired: with the same size and seed, they see the same samples.
    """
    generator = np.random.default_rng(seed)
    return [statistic(generator.integers(0, size, size)) for _ in range(RESAMPLES)]


def _percentiles(values: list[float]) -> list[float]:
    return [round(float(bound), 2) for bound in np.percentile(values, [2.5, 97.5])]


def with_intervals(measurement: Measurement) -> Metrics:
    """Return the metrics of a measurement, and their 95% intervals as `ci95`."""
    return {**measurement.metrics(), "ci95": intervals(measurement.metrics, len(measurement))}


def difference(a: Measurement, b: Measurement) -> Metrics:
    """Return the metrics of a minus those of b on the same split, with paired intervals."""

    def minus(photos: np.ndarray | None = None) -> Metrics:
        return subtract(a.metrics(photos), b.metrics(photos))

    return {**minus(), "ci95": intervals(minus, len(a))}


def subtract(a: Metrics, b: Metrics) -> Metrics:
    """Return metrics minus others with the same names."""
    result: Metrics = combine([a, b], lambda values: values[0] - values[1])
    return result


def cell(value: float, interval: Sequence[float], *, sign: str = "", to: str = "-") -> str:
    """Return a value and its interval as text, such as "24.9 (23.1-26.8)".

    Args:
        value: A metric.
        interval: [low, high].
        sign: "+" to write the sign of positive values too.
        to: Text between the bounds; " to " where they may be negative.
    """
    low, high = interval
    return f"{value:{sign}.1f} ({low:.1f}{to}{high:.1f})"
