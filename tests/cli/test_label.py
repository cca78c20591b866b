"""`python -m vsdemo label` and `saved`."""

import json
import shutil

import pytest

from tests.conftest import COLOURS, SHAPES, draw
from vsdemo.data.catalog import xmp
from vsdemo.data.catalog.annotations import Annotations
from vsdemo.data.catalog.saved_search import SavedSearch


def keywords_in(sidecar):
    return xmp.keywords(xmp.read(sidecar), sidecar)


@pytest.fixture
def folder(run, own_home, tmp_path, toy_checkpoint):
    """Return a folder of 48 photos of shapes, which is indexed."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for shape in SHAPES:
        for colour in COLOURS:
            for ground in ("white", "black", "grey"):
                draw(shape, colour, ground).save(folder / f"{colour}-{shape}-{ground}.png")
    assert run("index", folder, "--name", "mine", "--model", toy_checkpoint)[0] == 0
    return folder


def photos(folder, start):
    return sorted(folder.glob(f"{start}-*.png"))


def mark(run, folder):
    """Mark six red photos, and five others."""
    assert run("label", "mark", "red things", *photos(folder, "red")[:6])[0] == 0
    code, out, _ = run("label", "mark", "red things", *photos(folder, "blue")[:5], "--not")
    assert (code, out) == (0, "red things: 6 fit, 5 do not\n")


def test_photos_are_marked_and_listed(run, folder):
    assert "no labels yet" in run("label")[1]
    mark(run, folder)
    code, out, _ = run("label", "--json")
    assert code == 0
    assert json.loads(out) == [{"name": "red things", "positive": 6, "negative": 5}]
    assert run("label", "--gallery", folder)[1].splitlines()[1].split() == [
        "red",
        "things",
        "6",
        "5",
    ]
    out = run("label", "mark", "red things", photos(folder, "blue")[0], "--clear")[1]
    assert out == "red things: 6 fit, 4 do not\n"
    assert run("label", "rename", "red things", "rot")[0] == 0
    assert run("label", "delete", "rot")[0] == 0
    assert json.loads(run("label", "--json")[1]) == []


def test_other_photos_are_suggested(run, folder, toy_checkpoint):
    mark(run, folder)
    words = ("label", "suggest", "red things", "--model", toy_checkpoint, "-k", "4")
    code, out, _ = run(*words, "--threshold", "0", "--json")
    answer = json.loads(out)
    assert code == 0
    assert [hit["rank"] for hit in answer["suggestions"]] == [1, 2, 3, 4]
    assert all(0 <= hit["probability"] <= 1 for hit in answer["suggestions"])
    marked = {*map(str, photos(folder, "red")[:6] + photos(folder, "blue")[:5])}
    assert not marked & {hit["photo"] for hit in answer["suggestions"] + answer["uncertain"]}
    assert answer["accuracy"]["examples"] == 11
    assert "marked photos" in answer["reliability"]
    code, out, _ = run(*words, "--threshold", "1")
    assert out.startswith("No other photo has a probability of at least 1.\n")
    assert out.splitlines()[-1] == answer["reliability"]


def test_a_label_is_written_to_sidecars_on_request_only(run, folder, toy_checkpoint):
    mark(run, folder)
    run("label", "suggest", "red things", "--model", toy_checkpoint)
    assert not list(folder.glob("*.xmp"))
    code, out, _ = run("label", "write-xmp", "red things", "--json")
    assert code == 0
    assert json.loads(out) == {"keyword": "red things", "written": 6, "unchanged": 0, "removed": 0}
    sidecars = sorted(folder.glob("*.xmp"))
    assert [path.stem for path in sidecars] == [path.name for path in photos(folder, "red")[:6]]
    assert keywords_in(sidecars[0]) == ["red things"]
    words = ("--threshold", "0", "--model", toy_checkpoint, "--json")
    summary = json.loads(run("label", "write-xmp", "red things", *words)[1])
    assert (summary["written"], summary["unchanged"]) == (48 - 6 - 5, 6)
    run("label", "delete", "red things")
    assert "43 lost it" in run("label", "write-xmp", "red things", "--remove")[1]
    assert not list(folder.glob("*.xmp"))


def test_wrong_input_is_one_sentence(run, folder, tmp_path):
    draw("bar", "red", "pink").save(tmp_path / "other.png")
    red = photos(folder, "red")[0]
    for words, reason in (
        (("label", "mark", "x", tmp_path / "other.png"), "is not in the index 'mine'"),
        (("label", "mark", "x", tmp_path / "gone.png"), "No such file"),
        (("label", "mark", "x" * 65, red), "at most 64 characters"),
        (("label", "mark", "x", red, "--not", "--clear"), "exclude each other"),
        (("label", "suggest", "x"), "has no label 'x'"),
        (("label", "suggest", "x", "--threshold", "2"), "'--threshold'"),
        (("label", "suggest", "x", "-k", "0"), "k must be a whole number"),
        (("label", "write-xmp", "x"), "has no label 'x'"),
        (("label", "--gallery", "other"), "no index 'other'; use one of mine"),
        (("saved", "delete", "x"), "no saved search 'x'"),
        (("saved", "rename", "x", "y"), "no saved search 'x'"),
    ):
        code, _, err = run(*words)
        assert code == 2, words
        assert reason in err, err
        assert err.count("\n") == 1


def test_without_a_choice_the_only_index_is_meant(run, own_home, folder):
    (own_home / "annotations").mkdir()
    Annotations("second").mark("dog", ["a" * 32], positive=True)
    code, _, err = run("label")
    assert code == 2
    assert "choose one with --gallery: mine, second." in err
    shutil.rmtree(own_home / "catalogs")
    assert run("label")[1].splitlines()[1].split() == ["dog", "1", "0"]


def test_without_an_index_it_says_how_to_make_one(run, own_home):
    for verb in ("label", "saved"):
        code, _, err = run(verb)
        assert code == 2
        assert "`python -m vsdemo index FOLDER`" in err


def test_saved_searches_are_listed_renamed_and_deleted(run, own_home):
    annotations = Annotations("mine")
    search = SavedSearch(name="beach", sentences="a beach\na dog", model="flickr8k/gru")
    annotations.save_search(search)
    code, out, _ = run("saved", "--json")
    assert code == 0
    assert [SavedSearch.model_validate(one) for one in json.loads(out)] == [search]
    assert run("saved")[1] == "beach  a beach a dog  0 photos\n"
    run("saved", "rename", "beach", "sea")
    assert run("saved")[1].startswith("sea")
    run("saved", "delete", "sea")
    assert "no saved searches" in run("saved")[1]
