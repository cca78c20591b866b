"""`align` and `regions`, with a model that stands in for one."""

import json

import pytest
from PIL import Image

from tests.support.fake_alignment import alignment, install

SENTENCE = "a small dog runs after one red ball"


@pytest.fixture
def able(monkeypatch, fake_parser):
    """The toy model, as if it could align."""
    install(monkeypatch)


@pytest.fixture
def photo(tmp_path):
    Image.new("RGB", (96, 72), "red").save(tmp_path / "red.png")
    return tmp_path / "red.png"


def test_a_line_a_fragment_then_the_score(run, able, toy_checkpoint, photo):
    code, out, errors = run("align", toy_checkpoint, photo, SENTENCE)
    assert (code, errors) == (0, "")
    *lines, last = out.splitlines()
    found = alignment(SENTENCE)
    assert len(lines) == len(found.fragments)
    for m, (line, fragment) in enumerate(zip(lines, found.fragments, strict=True)):
        assert line.split()[0] == fragment.relation
        assert ("not grounded" in line) == (found.best_region(m) is None)
    box = [float(v) for v in lines[1].split()[-4:]]
    assert box == pytest.approx(found.boxes[found.best_region(1)], abs=0.01)
    assert last == f"score {found.total:.2f}, the sum of {len(lines)} parts"


def test_json_has_all_of_it(run, able, toy_checkpoint, photo):
    told = json.loads(run("align", toy_checkpoint, photo, SENTENCE, "--json")[1])
    found = alignment(SENTENCE)
    assert (told["photo"], told["sentence"]) == (str(photo), SENTENCE)
    assert told["scores"] == [list(row) for row in found.scores]
    assert told["tree"]["heads"] == list(found.tree.heads)
    assert told["fragments"][0].keys() == {"relation", "words"}
    assert told["total"] == found.total


def test_a_picture_is_drawn(run, able, toy_checkpoint, photo, tmp_path):
    to = tmp_path / "new" / "words.png"
    assert run("align", toy_checkpoint, photo, SENTENCE, "--to", to)[:2] == (0, f"{to}\n")
    with Image.open(to) as drawn:
        assert drawn.width > 1000


def test_regions_of_a_gallery(run, able, toy_checkpoint, tmp_path):
    chosen = ("regions", toy_checkpoint, "red bar", "--split", "test")
    lines = run(*chosen)[1].splitlines()
    told = json.loads(run(*chosen, "--json")[1])
    assert told["sentence"] == "red bar"
    assert [h["item"] for h in told["hits"]] == [line.split()[-1] for line in lines]
    first = told["hits"][0]
    assert (first["rank"], first["box"], first["score"]) == (1, [0.5, 0, 1, 1], 2.0)
    assert lines[0].split()[:6] == ["1", "2.00", "0.50", "0.00", "1.00", "1.00"]
    to = tmp_path / "sheet.png"
    assert run(*chosen, "--to", to)[0] == 0
    with Image.open(to) as drawn:
        assert drawn.width > 400


@pytest.mark.parametrize("verb", ["align", "regions"])
def test_a_model_without_regions_is_told_in_one_sentence(run, toy_checkpoint, photo, verb):
    photos = [photo] if verb == "align" else []
    code, out, errors = run(verb, toy_checkpoint, *photos, SENTENCE)
    assert (code, out) == (2, "")
    assert "one for a whole photo" in errors
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["red.png", ""], "empty"),
        (["gone.png", "a dog"], "no file"),
        (["red.png", "a dog", "--to", "a.txt"], "image file"),
        (["red.png", "a dog", "--to", "/proc/none/a.png"], "/proc/none"),
    ],
)
def test_bad_input_gets_one_sentence(run, able, toy_checkpoint, photo, monkeypatch, words, why):
    monkeypatch.chdir(photo.parent)
    code, _, errors = run("align", toy_checkpoint, *words)
    assert code == 2
    assert why in errors
    assert len(errors.splitlines()) == 1
