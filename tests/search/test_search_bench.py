"""`bench search`: the same vectors by every way, and a table of the times."""

import json

import pytest

from vsdemo.search import search_bench

KEYS = {"order_ms", "blas_ms", "order_vs_blas", "order_vs_torch_1000"}


@pytest.fixture
def small(monkeypatch):
    """Measure few and short vectors."""
    values = {"STORED": 200, "MANY_STORED": 400, "QUERIES": 20, "DIM": 16, "BLOCK": 160}
    for name, value in values.items():
        monkeypatch.setattr(search_bench, name, value)
    monkeypatch.setattr(search_bench, "ROUNDS", 2)


def test_json_has_every_time(run, small):
    code, out, errors = run("bench", "search", "--json")
    assert code == 0, errors
    result = json.loads(out)
    assert result.keys() > KEYS
    assert all(result[key] > 0 for key in KEYS)


def test_a_table_without_json(run, small):
    code, out, errors = run("bench", "search")
    assert code == 0, errors
    assert out.splitlines()[0].startswith("200 vectors of 16 numbers")
    assert "20 queries beside plain torch" in out


def test_each_way_gets_the_same_vectors(small):
    vectors = search_bench._vectors(50, seed=3)
    assert (vectors >= 0).all()
    assert vectors.norm(dim=1).tolist() == pytest.approx([1] * 50, abs=1e-5)
    assert (vectors == search_bench._vectors(50, seed=3)).all()
