"""`walk`, `compose` and `common`."""

import json

import pytest

from vsdemo.hierarchy.order import KINDS

VERBS = ("walk", "compose", "common")


@pytest.fixture
def photo(toy_root):
    return sorted((toy_root / "toy" / "images").iterdir())[3]


def rows(printed):
    """Return (violation, kind, text) of each line that has them."""
    cells = (line.split(maxsplit=2) for line in printed.splitlines())
    return [(float(c[0]), *c[1:]) for c in cells if len(c) == 3 and c[1] in KINDS]


def test_walk_from_a_concept(toy_concepts, run):
    code, printed, errors = run("walk", toy_concepts, "tree")
    assert (code, errors) == (0, "")
    assert printed.splitlines()[0].split() == ["concept", "tree"]
    up = [("concept", "plant"), ("concept", "living thing"), ("root", "entity")]
    expected = [(0.0, kind, [*text.split(), "true"]) for kind, text in (*up, ("concept", "oak"))]
    assert [(*row[:2], row[2].split()) for row in rows(printed)] == expected
    assert printed.splitlines()[4] == "and down again"
    code, printed, _ = run("walk", toy_concepts, "entity", "--json")
    result = json.loads(printed)
    assert (result["start"], result["kind"], result["up"]) == ("entity", "root", [])
    assert result["down"][0].keys() == {"kind", "text", "violation", "true"}
    assert result["down"][0]["true"] is True


def test_walk_from_a_sentence(toy_order, run):
    code, printed, errors = run("walk", toy_order, "a red dog on a green ground")
    assert code == 0, errors
    assert printed.splitlines()[0].split(maxsplit=1) == ["caption", "a red dog on a green ground"]
    result = rows(printed)
    assert ("root", "anything") in [row[1:] for row in result]
    assert all(violation >= 0 for violation, *_ in result)
    assert printed.splitlines()[-1].endswith("0 if the upper item lies above the lower one")


def test_walk_from_a_photo(toy_order, photo, run):
    code, printed, errors = run("walk", toy_order, photo, "--json")
    assert code == 0, errors
    result = json.loads(printed)
    assert (result["start"], result["kind"]) == (str(photo), "photo")
    assert result["up"][0]["kind"] == "caption"
    assert (result["up"][-1]["kind"], result["up"][-1]["text"]) == ("root", "anything")
    assert result["down"][-1]["kind"] == "photo"


def test_compose_and_common_of_concepts(toy_concepts, run):
    code, printed, errors = run("common", toy_concepts, "dog", "cat", "-k", 2)
    assert (code, errors) == (0, "")
    assert rows(printed)[0] == (0.0, "concept", "animal")
    assert len(rows(printed)) == 2
    assert printed.splitlines()[-1] == "squared distance; 0 for the same point"
    code, printed, _ = run("compose", toy_concepts, "Animal", "puppy", "--json")
    result = json.loads(printed)
    assert result["of"] == ["animal", "puppy"]
    assert len(result["concept"]) == 5
    assert result["concept"][0] == {"kind": "concept", "text": "dog", "distance": 4.0}


def test_compose_and_common_of_a_photo_and_a_sentence(toy_order, photo, run):
    for verb in ("compose", "common"):
        code, printed, errors = run(verb, toy_order, photo, "a dog", "-k", 3, "--split", "all")
        assert code == 0, errors
        kinds = [kind for _, kind, _ in rows(printed)]
        assert kinds == ["concept"] * 3 + ["caption"] * 3 + ["photo"] * 3
        assert "a dog" not in [text for *_, text in rows(printed)]


@pytest.mark.parametrize(
    ("verb", "words", "printed"),
    [
        ("walk", ("wug",), "There is no concept 'wug'"),
        ("walk", ("dog.n.09",), "There is no sense 'dog.n.09'"),
        ("compose", ("dog", "wug"), "There is no concept 'wug'"),
        ("compose", ("dog",), "A single item cannot be joined"),
        ("common", ("dog",), "A single item cannot be joined"),
        ("common", ("dog", "cat", "-k", "0"), "k must be a whole number from 1 to 1,000"),
    ],
)
def test_bad_input_for_concepts_is_refused(toy_concepts, run, verb, words, printed):
    code, out, errors = run(verb, toy_concepts, *words)
    assert (code, out) == (2, "")
    assert printed in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("wug",), "knows no word of the sentence ('wug')"),
        (("",), "The sentence is empty"),
        (("gone.jpg",), "gone.jpg"),
        (("a dog", "--split", "val"), "no split 'val'"),
        (("a dog", "--gallery", "/none"), "no data set"),
    ],
)
def test_bad_input_for_a_gallery_is_refused(toy_order, run, words, printed):
    code, out, errors = run("walk", toy_order, *words)
    assert (code, out) == (2, "")
    assert printed in errors
    assert errors.count("\n") == 1


def test_a_model_without_an_order_is_refused_before_photos_are_read(
    toy_checkpoint, run, monkeypatch
):
    monkeypatch.setattr("vsdemo.search.engine.Engine.__init__", None)
    for verb in VERBS:
        code, out, errors = run(verb, toy_checkpoint, *["a dog", "a cat"][: 1 + (verb != VERBS[0])])
        assert (code, out) == (2, "")
        assert "gru has a score without an order" in errors
        assert errors.count("\n") == 1
