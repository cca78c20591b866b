"""`bench search`: every way finds the same, and all figures are there."""

import json

import pytest

from vsdemo.core.paths import checkpoints_root
from vsdemo.search import bench_vectors, search_bench
from vsdemo.search.engine import Reader
from vsdemo.search.stores import opening

TIMES = {"order_ms", "blas_ms", "order_vs_blas", "order_vs_torch_1000", "memory_ratio"}
OF_STORES = {
    f"{figure}_{name}"
    for figure in ("exact_ms", "usearch_ms", "usearch_vs_exact", "usearch_recall", "milvus_recall")
    for name in search_bench.CHECKPOINTS
}


@pytest.fixture(scope="module", autouse=True)
def small(tmp_path_factory):
    """Measure few vectors, in a VSDEMO_HOME of their own."""
    values = {"STORED": 200, "QUERIES": 20, "STORE_QUERIES": 5, "TORCH_STORED": 50, "ROUNDS": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_HOME", str(tmp_path_factory.mktemp("home")))
        for name, value in values.items():
            patch.setattr(search_bench, name, value)
        patch.setattr(bench_vectors, "SCENES", 20)
        yield


@pytest.mark.long
def test_json_has_every_figure(run):
    code, out, errors = run("bench", "search", "--vectors", "300", "--json")
    assert code == 0, errors
    result = json.loads(out)
    assert result.keys() > TIMES | OF_STORES
    assert all(result[key] > 0 for key in OF_STORES)
    assert result["usearch_recall"] >= 0.99
    assert result["milvus_recall"] >= 0.99


@pytest.mark.long
def test_a_table_without_json(run):
    code, out, errors = run("bench", "search", "--vectors", "300")
    assert code == 0, errors
    assert out.splitlines()[0].startswith("300 vectors in half precision")
    assert "order, usearch" in out


def test_sentences_differ_and_are_the_same_each_time():
    def nothing(stage, done, total):
        assert done <= total

    texts = bench_vectors.sentences(320, nothing)
    assert len(set(texts)) == 320
    assert bench_vectors.sentences(320, nothing) == texts
    reader = Reader(checkpoints_root() / "flickr8k" / "bow")
    folder = bench_vectors.stored(texts[:300], reader, nothing)
    store = opening.open_store(str(folder))
    assert store.about.photos == 300
    assert store.paths([0, 299]) == [texts[0], texts[299]]
