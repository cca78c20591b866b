"""Bootstrap intervals."""

import numpy as np
import pytest

from vsdemo.evaluation.metrics.bootstrap import Parts, cell, intervals


def test_intervals_agree_with_the_standard_error():
    values = np.random.default_rng(1).normal(5, 2, 400)

    def statistic(rows: np.ndarray) -> dict:
        return {"mean": values[rows].mean(), "deep": {"max": values[rows].max()}}

    result = intervals(statistic, len(values))
    assert result == intervals(statistic, len(values))
    assert result != intervals(statistic, len(values), seed=1)
    low, high = result["mean"]
    assert low < values.mean() < high
    standard_error = values.std() / len(values) ** 0.5
    assert high - low == pytest.approx(2 * 1.96 * standard_error, rel=0.06)
    assert result["deep"]["max"][1] == round(values.max(), 2)


def test_photos_are_drawn_with_replacement():
    draws = []
    intervals(lambda rows: draws.append(rows) or {"n": len(set(rows))}, 50)
    assert {len(d) for d in draws} == {50}
    assert {len(set(d)) for d in draws} & {50} == set()
    assert set(np.concatenate(draws)) == set(range(50))


def test_cell_contains_a_value_and_its_interval():
    assert cell(24.94, [23.1, 26.75]) == "24.9 (23.1-26.8)"
    assert cell(1.0, [-0.5, 2.0], sign="+", to=" to ") == "+1.0 (-0.5 to 2.0)"


class Mean:
    """A measurement that is the mean of numbers."""

    def __init__(self, *values: float) -> None:
        self.values = np.array(values)

    def __len__(self) -> int:
        return len(self.values)

    def metrics(self, photos=None):
        return {"mean": float((self.values if photos is None else self.values[photos]).mean())}


def test_parts_are_measured_on_their_own_items():
    parts = Parts({"a": Mean(1, 3), "b": Mean(10, 20, 60)})
    assert len(parts) == 5
    assert parts.metrics() == {"a": {"mean": 2}, "b": {"mean": 30}}
    drawn = np.array([0, 4, 4, 2, 0])
    assert parts.metrics(drawn) == {"a": {"mean": 1}, "b": {"mean": pytest.approx(130 / 3)}}
    assert parts.metrics(np.array([2, 2])) == {"a": {"mean": 2}, "b": {"mean": 10}}
