"""`python -m vsdemo index`."""

import json

import pytest

from tests.conftest import draw


@pytest.fixture
def folder(own_home, tmp_path):
    photos = tmp_path / "My Photos"
    photos.mkdir()
    for colour in ("red", "green", "blue"):
        draw("circle", colour, "white").save(photos / f"{colour}.png")
    return photos


def test_a_folder_is_indexed_and_searched(run, folder, toy_checkpoint):
    code, out, _ = run("index", folder, "--name", "mine", "--model", toy_checkpoint, "--json")
    summary = json.loads(out)
    assert code == 0
    assert (summary["photos"], summary["new"], summary["unreadable"]) == (3, 3, 0)
    assert summary["seconds"] >= 0
    code, out, _ = run(
        "search", toy_checkpoint, "a red circle", "--gallery", "mine", "-k", 3, "--json"
    )
    assert code == 0
    assert {hit["photo"] for hit in json.loads(out)["hits"]} == {"red.png", "green.png", "blue.png"}


def test_without_a_name_it_is_called_like_the_folder(run, folder, toy_checkpoint):
    _, out, _ = run("index", folder, "--model", toy_checkpoint)
    assert out.startswith("my-photos: 3 photos (3 new) in ")
    _, out, _ = run("index", folder, "--model", toy_checkpoint)
    assert out.startswith("my-photos: 3 photos (nothing new) in ")


def test_what_cannot_be_indexed_is_one_sentence(run, folder, tmp_path, toy_checkpoint):
    for words, reason in (
        ((tmp_path / "gone",), "There is no folder"),
        ((folder / "red.png",), "There is no folder"),
        ((folder, "--name", "A B"), "cannot be the name"),
        ((folder, "--model", tmp_path), "There is no checkpoint"),
    ):
        models = () if "--model" in words else ("--model", toy_checkpoint)
        code, _, err = run("index", *words, *models)
        assert code == 2, words
        assert reason in err, err
        assert err.count("\n") == 1
