"""All stores: the same photos as by comparing the query with all of them."""

from datetime import date

import pytest
import torch

from tests.search.stores.conftest import COUNT, DIM, path_of, vectors, write_folder
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.data.catalog.filters import Orientation, PhotoFilter
from vsdemo.models.scores import ORDER, SCORES, OrderViolation, angle_and_order
from vsdemo.search.stores import opening
from vsdemo.search.stores.addresses import is_store
from vsdemo.search.stores.folder import FolderStore
from vsdemo.search.stores.store import check_model, search_store

ALL_SCORES = {
    "cosine": SCORES["cosine"],
    "inner": SCORES["inner"],
    "euclidean": SCORES["euclidean"],
    "order": ORDER,
    "two parts": angle_and_order(DIM - 4, weight=0.1),
}


def best(score, query, x, k, allowed=None):
    """Return the numbers of the k best of embeddings (N, D)."""
    scores = score(query, Embeddings(x.half().float()))[0]
    if allowed is not None:
        scores[[number not in allowed for number in range(len(x))]] = -torch.inf
        k = min(k, len(allowed))
    return scores.topk(k).indices.tolist()


@pytest.mark.parametrize("name", ALL_SCORES)
def test_the_best_photos_by_the_exact_score(embeddings, make_store, name):
    score, x = ALL_SCORES[name], vectors(COUNT)
    store = make_store(embeddings, score)
    for row in vectors(5, seed=1):
        query = Embeddings(row[None])
        result = search_store(store, query, score, 10)
        expected = best(score, query, x, 10)
        assert [hit.number for hit in result.hits] == expected
        assert [hit.item for hit in result.hits] == [path_of(number) for number in expected]
        assert [hit.rank for hit in result.hits] == list(range(1, 11))
        exact = score(query, Embeddings(x[expected].half().float()))[0]
        assert [hit.score for hit in result.hits] == pytest.approx(exact.tolist(), abs=1e-5)


CONDITIONS = {
    "folder": PhotoFilter(folder="2024"),
    "folder below": PhotoFilter(folder="2024/june/"),
    "quote": PhotoFilter(folder="it's"),
    "since": PhotoFilter(since=date(2024, 6, 1)),
    "until": PhotoFilter(until=date(2024, 5, 31)),
    "camera": PhotoFilter(camera="canon"),
    "wildcards": PhotoFilter(camera="0%_R"),
    "orientation": PhotoFilter(orientation=Orientation.PORTRAIT),
    "megapixels": PhotoFilter(megapixels=11.9),
    "several": PhotoFilter(folder="2024", since=date(2024, 1, 1), orientation="landscape"),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions(embeddings, make_store, name):
    conditions, score = CONDITIONS[name], SCORES["cosine"]
    allowed = FolderStore(embeddings).meeting(conditions).tolist()
    assert 0 < len(allowed) < COUNT
    query = Embeddings(vectors(1, seed=1))
    result = search_store(make_store(embeddings, score), query, score, 10, conditions)
    assert [hit.number for hit in result.hits] == best(score, query, vectors(COUNT), 10, allowed)


def test_conditions_that_no_photo_meets(embeddings, make_store):
    store = make_store(embeddings, ORDER)
    conditions = PhotoFilter(since=date(2030, 1, 1))
    result = search_store(store, Embeddings(vectors(1)), ORDER, 10, conditions)
    assert result.hits == []


def test_more_results_than_photos(tmp_path, make_store):
    store = make_store(write_folder(tmp_path / "few", vectors(7)), ORDER)
    result = search_store(store, Embeddings(vectors(1, seed=1)), ORDER, 30)
    assert sorted(hit.number for hit in result.hits) == list(range(7))


def test_what_is_certain_is_so(embeddings, make_store, monkeypatch):
    monkeypatch.setattr("vsdemo.search.stores.store.CANDIDATES", 40)
    monkeypatch.setattr(OrderViolation, "candidates", 1)
    store, x = make_store(embeddings, ORDER), vectors(COUNT)
    for row in [*vectors(30, seed=1), x[3]]:
        query = Embeddings(row[None])
        result = search_store(store, query, ORDER, 2)
        if result.is_certain:
            assert [hit.number for hit in result.hits] == best(ORDER, query, x, 2)


def test_a_photo_itself_is_certain_in_milvus(embeddings, tmp_path, monkeypatch):
    monkeypatch.setattr("vsdemo.search.stores.store.CANDIDATES", 40)
    to = f"milvus:{tmp_path / 'photos.db'}"
    opening.build(embeddings, to, ORDER, lambda done, total: None, "FLAT")
    result = search_store(opening.open_store(to), Embeddings(vectors(COUNT)[[3]]), ORDER, 1)
    assert result.is_certain
    assert result.candidates == 40
    assert [hit.number for hit in result.hits] == [3]


def test_another_checkpoint(embeddings, is_one_sentence):
    about = opening.open_store(str(embeddings)).about
    check_model(about, "a/b", "abc", ORDER)
    with pytest.raises(UserError, match="come from a/b") as caught:
        check_model(about, "c/d", "other", ORDER)
    assert is_one_sentence(caught)


@pytest.mark.parametrize("to", ["usearch", "milvus"])
def test_numbers_that_are_not_finite_are_not_stored(tmp_path, to, is_one_sentence):
    x = vectors(20)
    x[13, 2] = torch.nan
    folder = write_folder(tmp_path / "bad", x)
    address = to if to == "usearch" else f"milvus:{tmp_path / 'photos.db'}"
    with pytest.raises(UserError, match="Embedding 13 has numbers") as caught:
        opening.build(folder, address, ORDER, lambda done, total: None)
    assert is_one_sentence(caught)


@pytest.mark.parametrize("address", ["faiss:x", "x"])
def test_an_unknown_store(embeddings, address, is_one_sentence):
    with pytest.raises(UserError, match="is not a store") as caught:
        opening.build(embeddings, address, ORDER, lambda done, total: None)
    assert is_one_sentence(caught)


def test_addresses(embeddings, tmp_path):
    assert is_store(str(embeddings))
    assert is_store("milvus:photos.db")
    assert is_store("usearch:photos")
    assert not is_store(str(tmp_path))
    assert not is_store("flickr8k")
