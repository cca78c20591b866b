"""Bootstrap intervals."""

import numpy as np
import pytest

from vsdemo.evaluation.metrics.bootstrap import cell, intervals


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
