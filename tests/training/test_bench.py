"""`bench training`: the best rounds of one process and of two."""

import json

import pytest

from vsdemo.core.errors import UserError
from vsdemo.training import bench


@pytest.fixture
def rates(monkeypatch):
    """Let trainings have these rates, the first of them that which fills the cache."""
    values = iter([9.0, 100.0, 150.0, 90.0, 180.0])
    trained = []

    def train(ranks: int) -> float:
        trained.append(ranks)
        return next(values)

    monkeypatch.setattr(bench, "_train", train)
    return trained


def test_json_has_the_ratio_of_the_best_rounds(run, rates):
    code, out, errors = run("bench", "training", "--rounds", 2, "--json")
    assert code == 0, errors
    result = json.loads(out)
    assert rates == [1, 1, 2, 1, 2]
    assert result["two_ranks_vs_one"] == 1.8
    assert result["rounds"] == {"1": [100.0, 90.0], "2": [150.0, 180.0]}


def test_a_table_without_json(run, rates):
    code, out, errors = run("bench", "training", "--rounds", 2)
    assert code == 0, errors
    assert "1.80 times as fast" in out


def test_a_training_that_fails_is_a_user_error(own_home, monkeypatch):
    monkeypatch.setattr(bench, "SETTINGS", {"epochs": 0})
    with pytest.raises(UserError, match="epochs must be a whole number from 1"):
        bench._train(1)
