"""Means over several trainings and differences between them, with intervals for both sources.

Results vary with the photos of the test set and with the seed of a training. The interval of a mean
over runs has both: the variance by photos is that of a bootstrap of the mean, with the same draws
for all runs on a split; the variance by seeds is that between the runs, divided by their number.

    se^2 = se_photos^2 + sd_runs^2 / n        mean +- t(df) se

with Welch and Satterthwaite's degrees of freedom, which are few where seeds matter most. Runs on
different splits have test sets of their own, so what varies between them has both sources already;
splits overlap, which makes their intervals somewhat too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import stdtrit

from vsdemo.core.nested import flatten
from vsdemo.evaluation.metrics.bootstrap import Measurement, sample

Estimate = dict[str, float | list[float] | None]  # mean, sd and ci95, as in `tables.estimate`


@dataclass(frozen=True)
class RunResult:
    """The metrics of one training on a split.

    Args:
        data: Name of the data set.
        seed: Seed of the training.
        size: Number of photos or pairs that a bootstrap draws.
        values: Name -> metric, such as "t2i r1".
        samples: Name -> metric of each sample of photos, (RESAMPLES,).
    """

    data: str
    seed: int
    size: int
    values: dict[str, float]
    samples: dict[str, np.ndarray]

    @classmethod
    def of(cls, measurement: Measurement, data: str, seed: int) -> RunResult:
        """Return the metrics of a measurement."""
        values = flatten(measurement.metrics(), separator=" ")
        rows = [
            flatten(metrics, separator=" ")
            for metrics in sample(measurement.metrics, len(measurement))
        ]
        samples = {name: np.array([row.get(name, np.nan) for row in rows]) for name in values}
        return cls(data, seed, len(measurement), values, samples)


def estimates(runs: Sequence[RunResult]) -> dict[str, Estimate]:
    """Return mean, sd and ci95 over runs, of each metric that all of them have."""
    return {name: _estimate(runs, name) for name in _shared(runs)}


def differences(a: Sequence[RunResult], b: Sequence[RunResult]) -> dict[str, Estimate]:
    """Return the same for a minus b, paired by data set and seed.

    Raises:
        ValueError: They have different data sets or seeds.
    """
    others = {(run.data, run.seed): run for run in b}
    if {(run.data, run.seed) for run in a} != set(others):
        raise ValueError("runs to compare need the same data sets and seeds")
    return estimates([_minus(run, others[run.data, run.seed]) for run in a])


def _minus(a: RunResult, b: RunResult) -> RunResult:
    names = _shared([a, b])
    return RunResult(
        data=a.data,
        seed=a.seed,
        size=a.size,
        values={name: a.values[name] - b.values[name] for name in names},
        samples={name: a.samples[name] - b.samples[name] for name in names},
    )


def _shared(runs: Sequence[RunResult]) -> list[str]:
    return [name for name in runs[0].values if all(name in run.values for run in runs)]


def _estimate(runs: Sequence[RunResult], name: str) -> Estimate:
    values = np.array([run.values[name] for run in runs])
    n = len(values)
    sd = float(values.std(ddof=1)) if n > 1 else None
    parts = []  # (variance, degrees of freedom)
    if len({run.data for run in runs}) == 1:
        means = np.nanmean([run.samples[name] for run in runs], axis=0)
        parts.append((float(np.nanvar(means)), max(1, runs[0].size - 1)))
    if sd is not None:
        parts.append((sd**2 / n, n - 1))
    mean = float(values.mean())
    return {"mean": mean, "sd": sd, "ci95": _interval(mean, parts)}


def _interval(mean: float, parts: Sequence[tuple[float, int]]) -> list[float]:
    variance = sum(part for part, _ in parts)
    if variance == 0:
        return [mean, mean]
    freedom = variance**2 / sum(part**2 / df for part, df in parts)
    half = float(stdtrit(freedom, 0.975)) * sqrt(variance)
    return [mean - half, mean + half]


def record_of(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate for JSON, with at most four decimals."""
    return {
        key: [round(bound, 4) for bound in value] if isinstance(value, list) else _round(value)
        for key, value in estimate.items()
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
