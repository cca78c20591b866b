"""`traverse`, `compose` and `abstract`: for people, for programs, and bad input."""

import json

import pytest

from vsdemo.hierarchy.space import KINDS

VERBS = ("traverse", "compose", "abstract")


@pytest.fixture
def photo(toy_root):
    return sorted((toy_root / "toy" / "images").iterdir())[3]


def rows(told):
    """(violation, kind, text) of each line that has them."""
    cells = (line.split(maxsplit=2) for line in told.splitlines())
    return [(float(c[0]), *c[1:]) for c in cells if len(c) == 3 and c[1] in KINDS]


def test_a_concept_is_walked_up_to_the_root_and_down(toy_concepts, run):
    code, told, errors = run("traverse", toy_concepts, "tree")
    assert (code, errors) == (0, "")
    assert told.splitlines()[0].split() == ["concept", "tree"]
    up = [(0.0, "concept", "plant"), (0.0, "concept", "living thing"), (0.0, "root", "entity")]
    assert rows(told) == [*up, (0.0, "concept", "oak")]
    assert told.splitlines()[4] == "and down again"
    code, told, _ = run("traverse", toy_concepts, "entity", "--json")
    found = json.loads(told)
    assert (found["start"], found["kind"], found["up"]) == ("entity", "root", [])
    assert found["down"][0].keys() == {"kind", "text", "violation"}


def test_a_sentence_is_walked(toy_order, run):
    code, told, errors = run("traverse", toy_order, "a red dog on a green ground")
    assert code == 0, errors
    assert told.splitlines()[0].split(maxsplit=1) == ["caption", "a red dog on a green ground"]
    found = rows(told)
    assert ("root", "anything") in [row[1:] for row in found]
    assert all(violation >= 0 for violation, *_ in found)
    assert told.splitlines()[-1].endswith("0: it lies above without any")


def test_a_photo_is_walked_from_a_caption_to_the_root_and_down_to_a_photo(toy_order, photo, run):
    code, told, errors = run("traverse", toy_order, photo, "--json")
    assert code == 0, errors
    found = json.loads(told)
    assert (found["start"], found["kind"]) == (str(photo), "photo")
    assert found["up"][0]["kind"] == "caption"
    assert (found["up"][-1]["kind"], found["up"][-1]["text"]) == ("root", "anything")
    assert found["down"][-1]["kind"] == "photo"


def test_concepts_are_composed_and_abstracted(toy_concepts, run):
    code, told, errors = run("abstract", toy_concepts, "dog", "cat", "-k", 2)
    assert (code, errors) == (0, "")
    assert rows(told)[0] == (0.0, "concept", "animal")
    assert len(rows(told)) == 2
    assert told.splitlines()[-1].strip() == "squared distance; 0 is the same point"
    code, told, _ = run("compose", toy_concepts, "Animal", "puppy", "--json")
    found = json.loads(told)
    assert found["of"] == ["animal", "puppy"]
    assert len(found["concept"]) == 5
    assert found["concept"][0] == {"kind": "concept", "text": "dog", "violation": 4.0}


def test_a_photo_and_a_sentence_are_joined(toy_order, photo, run):
    for verb in ("compose", "abstract"):
        code, told, errors = run(verb, toy_order, photo, "a dog", "-k", 3, "--split", "all")
        assert code == 0, errors
        kinds = [kind for _, kind, _ in rows(told)]
        assert kinds == ["concept"] * 3 + ["caption"] * 3 + ["photo"] * 3
        assert "a dog" not in [text for *_, text in rows(told)]


@pytest.mark.parametrize(
    ("verb", "words", "told"),
    [
        ("traverse", ("wug",), "No concept is called 'wug'"),
        ("traverse", ("dog.n.09",), "There is no sense 'dog.n.09'"),
        ("compose", ("dog", "wug"), "No concept is called 'wug'"),
        ("compose", ("dog",), "One thing alone cannot be joined"),
        ("abstract", ("dog",), "One thing alone cannot be joined"),
        ("abstract", ("dog", "cat", "-k", "0"), "k must be a whole number from 1 to 1,000"),
    ],
)
def test_what_concepts_cannot_answer_is_one_sentence(toy_concepts, run, verb, words, told):
    code, out, errors = run(verb, toy_concepts, *words)
    assert (code, out) == (2, "")
    assert told in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("wug",), "knows no word of the sentence ('wug')"),
        (("",), "The sentence is empty"),
        (("gone.jpg",), "gone.jpg"),
        (("a dog", "--split", "val"), "no split 'val'"),
        (("a dog", "--gallery", "/none"), "no data set"),
    ],
)
def test_what_a_gallery_cannot_answer_is_one_sentence(toy_order, run, words, told):
    code, out, errors = run("traverse", toy_order, *words)
    assert (code, out) == (2, "")
    assert told in errors
    assert errors.count("\n") == 1


def test_a_model_without_an_order_is_refused_before_photos_are_looked_at(
    toy_checkpoint, run, monkeypatch
):
    monkeypatch.setattr("vsdemo.search.engine.Engine.__init__", None)
    for verb in VERBS:
        code, out, errors = run(verb, toy_checkpoint, *["a dog", "a cat"][: 1 + (verb != VERBS[0])])
        assert (code, out) == (2, "")
        assert "gru has a score without an order" in errors
        assert errors.count("\n") == 1
