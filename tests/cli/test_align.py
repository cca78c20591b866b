"""`align` and `regions`, with a fake model."""

import json

import pytest
from PIL import Image

from tests.support.fake_alignment import alignment, install

SENTENCE = "a small dog runs after one red ball"


@pytest.fixture
def able(monkeypatch, fake_parser):
    """Let the toy model align."""
    install(monkeypatch)


@pytest.fixture
def photo(tmp_path):
    Image.new("RGB", (96, 72), "red").save(tmp_path / "red.png")
    return tmp_path / "red.png"


def test_align_prints_fragments_and_the_score(run, able, toy_checkpoint, photo):
    code, out, errors = run("align", toy_checkpoint, photo, SENTENCE)
    assert (code, errors) == (0, "")
    *lines, function_words, last = out.splitlines()
    expected = alignment(SENTENCE)
    assert len(lines) == len(expected.content_fragments) == len(expected.fragments) - 1
    assert function_words == "function words: a"
    for line, m in zip(lines, expected.content_fragments, strict=True):
        assert line.split()[0] == expected.fragments[m].relation
        assert ("not in the picture" in line) == (expected.best_region(m) is None)
    box = [float(v) for v in lines[0].split()[-4:]]
    assert box == pytest.approx(expected.boxes[expected.best_region(1)], abs=0.01)
    assert last == f"score {expected.total:.2f}, the sum of {len(lines) + 1} parts"


def test_align_prints_json(run, able, toy_checkpoint, photo):
    printed = json.loads(run("align", toy_checkpoint, photo, SENTENCE, "--json")[1])
    expected = alignment(SENTENCE)
    assert (printed["photo"], printed["sentence"]) == (str(photo), SENTENCE)
    assert printed["scores"] == [list(row) for row in expected.scores]
    assert printed["tree"]["heads"] == list(expected.tree.heads)
    assert printed["fragments"][0].keys() == {"relation", "words"}
    assert printed["total"] == expected.total
    assert (printed["function_words"], printed["regions"][0]) == ([0], None)


def test_align_draws_an_image(run, able, toy_checkpoint, photo, tmp_path):
    to = tmp_path / "new" / "words.png"
    assert run("align", toy_checkpoint, photo, SENTENCE, "--to", to)[:2] == (0, f"{to}\n")
    with Image.open(to) as drawn:
        assert drawn.width > 1000


def test_regions_are_searched_in_a_gallery(run, able, toy_checkpoint, tmp_path):
    chosen = ("regions", toy_checkpoint, "red bar", "--split", "test")
    lines = run(*chosen)[1].splitlines()
    printed = json.loads(run(*chosen, "--json")[1])
    assert printed["sentence"] == "red bar"
    assert [h["item"] for h in printed["hits"]] == [line.split()[-1] for line in lines]
    first = printed["hits"][0]
    assert (first["rank"], first["box"], first["score"]) == (1, [0.5, 0, 1, 1], 2.0)
    assert lines[0].split()[:6] == ["1", "2.00", "0.50", "0.00", "1.00", "1.00"]
    to = tmp_path / "sheet.png"
    assert run(*chosen, "--to", to)[0] == 0
    with Image.open(to) as drawn:
        assert drawn.width > 400


@pytest.mark.parametrize("verb", ["align", "regions"])
def test_a_model_without_regions_is_refused(run, toy_checkpoint, photo, verb):
    photos = [photo] if verb == "align" else []
    code, out, errors = run(verb, toy_checkpoint, *photos, SENTENCE)
    assert (code, out) == (2, "")
    assert "one for a whole photo" in errors
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["red.png", ""], "empty"),
        (["gone.png", "a dog"], "no file"),
        (["red.png", "a dog", "--to", "a.txt"], "image file"),
        (["red.png", "a dog", "--to", "/proc/none/a.png"], "/proc/none"),
    ],
)
def test_bad_input_is_refused(run, able, toy_checkpoint, photo, monkeypatch, words, message):
    monkeypatch.chdir(photo.parent)
    code, _, errors = run("align", toy_checkpoint, *words)
    assert code == 2
    assert message in errors
    assert len(errors.splitlines()) == 1
