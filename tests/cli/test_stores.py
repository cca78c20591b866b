"""`store`, and `search` in stores: the photos that a search over all embeddings finds."""

import json
import socket

import pytest

from vsdemo.data import datasets

SENTENCE = "a red circle ."


@pytest.fixture
def embeddings(run, toy_checkpoint, tmp_path):
    """The photos of `toy`, embedded and merged."""
    folder = datasets.photos("toy", "train")[0].parent
    out = tmp_path / "embeddings"
    code, _, errors = run("embed-photos", str(toy_checkpoint), str(folder), "--out", str(out))
    assert code == 0, errors
    return out


def search(run, checkpoint, address, *options):
    code, out, errors = run(
        "search", str(checkpoint), SENTENCE, "--gallery", address, "--json", *options
    )
    assert code == 0, errors
    return json.loads(out), errors


def test_every_store_has_the_same_answer(run, toy_checkpoint, embeddings, tmp_path):
    exact, _ = search(run, toy_checkpoint, str(embeddings))
    assert exact["is_certain"]
    assert len(exact["hits"]) == 10
    for to, address in (
        ("usearch", f"usearch:{embeddings}"),
        (f"milvus:{tmp_path / 'photos.db'}", f"milvus:{tmp_path / 'photos.db'}"),
    ):
        code, out, errors = run("store", str(toy_checkpoint), str(embeddings), to)
        assert code == 0, errors
        assert f"--gallery {address}" in out
        answer, _ = search(run, toy_checkpoint, address)
        assert [hit["photo"] for hit in answer["hits"]] == [hit["photo"] for hit in exact["hits"]]
        assert answer["photos"] == exact["photos"]


def test_a_table_says_how_many_were_compared(run, toy_checkpoint, embeddings):
    run("store", str(toy_checkpoint), str(embeddings), "usearch")
    address = f"usearch:{embeddings}"
    code, out, errors = run(
        "search", str(toy_checkpoint), SENTENCE, "--gallery", address, "-k", "2"
    )
    assert code == 0, errors
    assert "candidates; a better photo may have been missed." in out


def test_the_fallback_answers_if_milvus_is_down(run, toy_checkpoint, embeddings, monkeypatch):
    monkeypatch.setattr("vsdemo.search.stores.milvus.TIMEOUT", 1.0)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"milvus:http://127.0.0.1:{closed.getsockname()[1]}"
        options = ("--fallback", str(embeddings))
        answer, errors = search(run, toy_checkpoint, address, *options)
        assert answer["is_certain"]
        assert "does not answer as it should" in errors
        code, _, errors = run("search", str(toy_checkpoint), SENTENCE, "--gallery", address)
    assert code == 2
    assert "does not answer as it should" in errors


def test_options_that_stores_do_not_have(run, toy_checkpoint, embeddings):
    code, _, errors = run(
        "search", str(toy_checkpoint), SENTENCE, "--gallery", str(embeddings), "--group-copies"
    )
    assert code == 2
    assert "leave out the other options" in errors


def test_another_checkpoint(run, toy_order, embeddings):
    code, _, errors = run("store", str(toy_order), str(embeddings), "usearch")
    assert code == 2
    assert "These embeddings come from" in errors
