"""`search` over an index: conditions, several parts, pages, exports and saved searches."""

import csv
import json
import zipfile

import pytest

from tests.conftest import draw

COLOURS = ("red", "green", "blue", "yellow")


@pytest.fixture
def mine(own_home, tmp_path, run, toy_checkpoint):
    folder = tmp_path / "photos"
    for number, colour in enumerate(COLOURS):
        album = folder / ("a" if number % 2 else "b")
        album.mkdir(parents=True, exist_ok=True)
        draw("circle", colour, "white").save(album / f"{colour}.png")
    draw("circle", "red", "white").save(folder / "a" / "copy.png")
    code, _, err = run("index", str(folder), "--name", "mine", "--model", str(toy_checkpoint))
    assert code == 0, err
    return folder


@pytest.fixture
def search(run, mine, toy_checkpoint):
    def search(*options):
        code, out, err = run("search", str(toy_checkpoint), *options, "--gallery", "mine", "--json")
        assert code == 0, err
        return json.loads(out)

    return search


def names(answer):
    return [hit["photo"] for hit in answer["hits"]]


def test_conditions_and_pages(search):
    everything = search("a red circle")
    assert everything["photos"] == 5
    assert {name.split("/")[0] for name in names(everything)} == {"a", "b"}
    assert names(search("a red circle", "--start", "2", "-k", "2")) == names(everything)[2:4]
    in_a = search("a red circle", "--folder", "a")
    assert names(in_a) == [name for name in names(everything) if name.startswith("a/")]
    assert search("a red circle", "--camera", "Leica")["hits"] == []
    assert len(search("", "--folder", "b")["hits"]) == 2


def test_copies_are_shown_once(search):
    answer = search("a red circle", "--group-copies")
    assert len({*names(answer)} & {"a/copy.png", "b/red.png"}) == 1
    assert len(answer["hits"]) == 4


def test_a_photo_and_a_sentence(search, mine):
    photo = str(mine / "b" / "blue.png")
    alone = search("--photo", photo)
    assert names(alone)[0] == "b/blue.png"
    mixed = search("a red circle", "--photo", photo, "--photo-weight", "0.1")
    assert mixed["unit"] == "fit"
    assert names(mixed)[0] != "b/blue.png"


def test_photos_are_exported(search, run, mine, tmp_path, toy_checkpoint):
    table, archive = tmp_path / "found.csv", tmp_path / "found.zip"
    answer = search("a red circle", "--to", str(table))
    with table.open(encoding="utf-8") as file:
        assert [row["file"] for row in csv.DictReader(file)] == names(answer)
    search("a red circle", "-k", "2", "--to", str(archive))
    with zipfile.ZipFile(archive) as opened:
        assert {*opened.namelist()} == {*names(answer)[:2]}
    again = run("search", str(toy_checkpoint), "a bar", "--gallery", "mine", "--to", str(table))
    assert again[0] != 0
    assert "exists already" in again[2]


def test_a_search_is_saved_and_repeated(search, run):
    answer = search("a red circle", "--folder", "a", "--save", "Dots")
    assert names(search("--saved", "Dots")) == names(answer)
    code, out, _ = run("saved", "--json")
    assert code == 0
    assert [item["name"] for item in json.loads(out)] == ["Dots"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["-people"], "only excludes things"),
        (["a dog^0"], "weight"),
        (["a dog", "--folder", "nowhere"], "no photos in the folder"),
        (["a dog", "--saved", "Nothing"], "Nothing"),
        ([], "sentence"),
    ],
)
def test_bad_input(options, reason, run, mine, toy_checkpoint):
    words = ["search", str(toy_checkpoint), "--gallery", "mine", "--", *options]
    if any(option.startswith("--") for option in options):
        words.remove("--")
    code, _, err = run(*words)
    assert code != 0
    assert reason in err
    assert "Traceback" not in err
