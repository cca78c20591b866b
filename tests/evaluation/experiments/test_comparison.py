"""Means over runs and their intervals, against formulas and simulated results."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from vsdemo.evaluation.experiments import comparison
from vsdemo.evaluation.experiments.comparison import RunResult


@dataclass
class Scores:
    """A measurement that is the mean of numbers."""

    values: np.ndarray

    def __len__(self):
        return len(self.values)

    def metrics(self, photos=None):
        chosen = self.values if photos is None else self.values[photos]
        return {"t2i": {"r1": float(chosen.mean())}}


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr("vsdemo.evaluation.metrics.bootstrap.RESAMPLES", 400)


def run(values, seed, data="flickr8k"):
    return RunResult.of(Scores(np.asarray(values, float)), data, seed)


def test_the_interval_of_one_run_is_that_of_its_photos():
    values = np.random.default_rng(0).normal(5, 2, 300)
    estimate = comparison.estimates([run(values, 0)])["t2i r1"]
    half = 1.96 * values.std() / 300**0.5
    assert estimate["mean"] == pytest.approx(values.mean())
    assert estimate["sd"] is None
    assert estimate["ci95"] == pytest.approx(
        [values.mean() - half, values.mean() + half], abs=0.1 * half
    )


def test_runs_on_splits_of_their_own_have_the_interval_of_student():
    runs = [run([value] * 4, 0, f"pascal1k:{k}") for k, value in enumerate([1.0, 2.0, 6.0])]
    estimate = comparison.estimates(runs)["t2i r1"]
    low, high = stats.t.interval(0.95, 2, loc=3, scale=stats.sem([1, 2, 6]))
    assert estimate["sd"] == pytest.approx(np.std([1, 2, 6], ddof=1))
    assert estimate["ci95"] == pytest.approx([low, high], abs=1e-3)


def test_seeds_and_photos_widen_the_interval():
    rng = np.random.default_rng(1)
    photos = rng.normal(0, 1, 200)
    same = comparison.estimates([run(photos, seed) for seed in range(3)])["t2i r1"]
    spread = comparison.estimates([run(photos + gap, s) for s, gap in enumerate((-0.3, 0, 0.3))])
    low, high = same["ci95"]
    lower, higher = spread["t2i r1"]["ci95"]
    assert same["sd"] == pytest.approx(0, abs=1e-12)
    assert spread["t2i r1"]["sd"] == pytest.approx(0.3)
    assert lower < low - 0.3
    assert higher > high + 0.3


def test_differences_are_paired():
    rng = np.random.default_rng(2)
    hard = rng.normal(0, 5, 500)  # how hard a photo is, for both models
    a = [run(hard + 1 + rng.normal(0, 0.1, 500), seed) for seed in (0, 1)]
    b = [run(hard + rng.normal(0, 0.1, 500), seed) for seed in (1, 0)]
    gap = comparison.differences(a, b)["t2i r1"]
    low, high = gap["ci95"]
    assert gap["mean"] == pytest.approx(1, abs=0.05)
    assert 0.8 < low < 1 < high < 1.2
    with pytest.raises(ValueError, match="same data sets and seeds"):
        comparison.differences(a, b[:1])


def test_intervals_hold_the_true_difference_as_often_as_they_say():
    """Two models whose difference has photos, seeds and noise of known deviations."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(150):
        photos = rng.normal(0, 1, 60)
        runs = [
            run(0.5 + photos + rng.normal(0, 0.15) + rng.normal(0, 0.5, 60), seed)
            for seed in range(3)
        ]
        low, high = comparison.estimates(runs)["t2i r1"]["ci95"]
        held += low <= 0.5 <= high
    assert 0.9 <= held / 150 <= 0.99


def test_a_figure_that_one_run_lacks_is_left_out():
    full = run([1.0, 2.0], 0)
    part = RunResult("flickr8k", 1, 2, {}, {})
    assert comparison.estimates([full, part]) == {}


def test_records_have_four_decimals():
    record = comparison.record_of({"mean": 1 / 3, "sd": None, "ci95": [0.123456, 1]})
    assert record == {"mean": 0.3333, "sd": None, "ci95": [0.1235, 1]}
