"""Stores that are damaged, of something else, or out of reach: one sentence each."""

import json
import multiprocessing
import shutil
import socket
import time

import numpy as np
import pytest
import torch

from tests.search.stores.conftest import DIM, vectors, write_folder
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.models.scores import ORDER, SCORES
from vsdemo.search.stores import graph, milvus, opening
from vsdemo.search.stores.store import search_store

QUERY = Embeddings(vectors(1, seed=1))


def no_progress(done: int, total: int) -> None:
    """Report nothing."""


def cut(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


@pytest.fixture
def fails(is_one_sentence):
    """A function that checks the message of what a function raises."""

    def check(message, run):
        with pytest.raises(UserError, match=message) as caught:
            run()
        assert is_one_sentence(caught), str(caught.value)

    return check


def search(address, score=ORDER):
    return search_store(opening.open_store(address), QUERY, score, 5)


def test_a_folder_without_embeddings(tmp_path, fails):
    fails("has no merged embeddings", lambda: search(str(tmp_path)))


def test_damaged_files_of_a_folder(embeddings, fails):
    shutil.copy(embeddings / "img_emb" / "img_emb_0.npy", extra := embeddings / "img_emb" / "2.npy")
    fails("900 of 600 embeddings; a file is missing or duplicated", lambda: search(str(embeddings)))
    extra.unlink()
    (last := embeddings / "img_emb" / "img_emb_1.npy").rename(kept := embeddings / "kept")
    fails("300 of 600 embeddings", lambda: search(str(embeddings)))
    kept.rename(last)
    np.save(last, np.zeros((300, DIM + 1), np.float16))
    fails("another length than 16", lambda: search(str(embeddings)))
    cut(last)
    fails("damaged or cut short", lambda: search(str(embeddings)))


@pytest.mark.parametrize("damage", [cut, lambda path: path.unlink()])
def test_damaged_tables_of_a_folder(embeddings, fails, damage):
    damage(embeddings / "metadata" / "metadata_0.parquet")
    fails("is missing or damaged; merge", lambda: search(str(embeddings)))


def test_a_condition_on_what_is_not_known(tmp_path, fails):
    folder = write_folder(tmp_path / "paths", vectors(9), columns=False)
    store = opening.open_store(str(folder))
    conditions = milvus.PhotoFilter(camera="canon", megapixels=1)
    fails(
        "lack the camera and height and width of photos",
        lambda: search_store(store, QUERY, ORDER, 5, conditions),
    )


def test_a_folder_without_a_graph(embeddings, fails):
    fails("has no graph", lambda: search(f"usearch:{embeddings}"))


def test_a_damaged_graph(embeddings, fails):
    address = opening.build(embeddings, "usearch", ORDER, no_progress)
    cut(embeddings / graph.FILE)
    fails("is incomplete or damaged", lambda: search(address))
    opening.build(embeddings, "usearch", ORDER, no_progress)
    assert search(address).hits


def test_a_graph_of_other_embeddings(embeddings, fails):
    address = opening.build(embeddings, "usearch", ORDER, no_progress)
    about = embeddings / "embeddings.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"content_hash": "other"}))
    fails("was built from other embeddings", lambda: search(address))


def build_and_stop(folder, saved):
    """Build a graph, saving it every so many embeddings, until this process is killed."""
    graph.SAVED = saved
    graph.build(folder, ORDER, lambda done, total: done == total or time.sleep(0.2))


@pytest.mark.long
def test_a_killed_build_goes_on_where_it_was_saved(tmp_path):
    folder = write_folder(tmp_path / "many", vectors(7000), files=7)
    process = multiprocessing.get_context("spawn").Process(
        target=build_and_stop, args=(folder, 1000)
    )
    process.start()
    while not (folder / graph.FILE).exists():
        time.sleep(0.02)
    process.kill()
    process.join()
    done = []
    address = opening.build(folder, "usearch", ORDER, lambda *counts: done.append(counts))
    assert 1000 < done[0][0] < done[-1][0] == 7000
    query = Embeddings(vectors(7000)[[6500]])
    assert search_store(opening.open_store(address), query, ORDER, 1).hits[0].number == 6500


@pytest.fixture
def sent(embeddings, tmp_path):
    return opening.build(embeddings, f"milvus:{tmp_path / 'photos.db'}", ORDER, no_progress)


def test_milvus_that_is_down(fails, monkeypatch):
    monkeypatch.setattr(milvus, "TIMEOUT", 1.0)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"milvus:http://127.0.0.1:{closed.getsockname()[1]}"
    fails("does not answer as it should", lambda: search(address))


def test_milvus_that_is_slow(fails, monkeypatch):
    monkeypatch.setattr(milvus, "TIMEOUT", 1.0)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"milvus:http://127.0.0.1:{silent.getsockname()[1]}"
        started = time.monotonic()
        fails("does not answer as it should", lambda: search(address))
        assert time.monotonic() - started < 10


def test_no_collection(tmp_path, fails):
    fails("There is no collection photos", lambda: search(f"milvus:{tmp_path / 'new.db'}"))


def test_a_collection_of_others(sent, fails):
    client, _ = milvus._connect(sent.removeprefix("milvus:"))
    client.create_collection("theirs", dimension=DIM)
    fails("was not made by vsdemo", lambda: search(f"{sent}#theirs"))


def test_a_collection_that_was_emptied(sent, embeddings, fails):
    store = opening.open_store(sent)
    client, name = milvus._connect(sent.removeprefix("milvus:"))
    client.delete(name, filter="number >= 0")
    fails("has 0 of 600 photos", lambda: search_store(store, QUERY, ORDER, 5))
    fails("has 0 of 600 photos", lambda: search(sent))
    opening.build(embeddings, sent, ORDER, no_progress)
    assert search(sent).hits


def test_a_collection_that_was_removed(sent, fails):
    store = opening.open_store(sent)
    client, name = milvus._connect(sent.removeprefix("milvus:"))
    client.drop_collection(name)
    fails("does not answer as it should", lambda: search_store(store, QUERY, ORDER, 5))
    fails("There is no collection", lambda: search(sent))


def test_another_metric(sent, fails):
    fails("compares vectors by COSINE", lambda: search(sent, SCORES["inner"]))


def test_other_embeddings_in_the_same_collection(sent, tmp_path, fails):
    other = write_folder(tmp_path / "other", torch.cat([vectors(9)] * 2), content_hash="other")
    fails("send these to another one", lambda: opening.build(other, sent, ORDER, no_progress))


def test_an_interrupted_sending_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(milvus, "BATCH", 100)
    folder, to = write_folder(tmp_path / "many", vectors(550)), f"milvus:{tmp_path / 'photos.db'}"

    def interrupt(done, total):
        if done >= 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        opening.build(folder, to, ORDER, interrupt)
    done = []
    opening.build(folder, to, ORDER, lambda *counts: done.append(counts[0]))
    assert done[0] > 300
    assert opening.open_store(to).about.photos == 550
