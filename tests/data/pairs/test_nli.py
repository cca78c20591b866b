"""Pairs with entailment labels: small files in the official layouts, and what can be wrong."""

import json

import pytest

from tests.support import small_pairs
from vsdemo.core.errors import UserError
from vsdemo.data.pairs import nli


@pytest.fixture
def root(tmp_path, monkeypatch):
    small_pairs.write_all(tmp_path)
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    return tmp_path


def test_pairs_that_people_do_not_agree_on_are_left_out(root):
    found, kept = nli.load("SNLI", "dev"), [i for i in range(24) if i % 8]
    for i, pair in zip(kept, found, strict=True):
        assert (pair.premise, pair.hypothesis) == small_pairs.texts("snli dev", i)
        assert pair.label == small_pairs.LABELS[i % 3]
        assert pair.entailed == (i % 3 == 0)


def test_sick_has_labels_too(root):
    found = nli.load("SICK", "test")
    assert len(found) == 24
    for i, pair in enumerate(found):
        assert (pair.premise, pair.hypothesis) == small_pairs.texts("sick test", i)
        assert pair.label == small_pairs.LABELS[i % 3]


def test_nothing_is_learnt_from_what_thresholds_are_chosen_on(root, monkeypatch):
    monkeypatch.setattr(nli, "HELD_OUT", 5)
    dev = nli.load("SNLI", "dev")
    assert nli.held_out("SNLI") == dev[-5:]
    assert nli.held_out("SICK") == nli.load("SICK", "dev")[-5:]
    expected = "sick+snli-dev", nli.load("SICK", "train") + dev[:-5], nli.held_out("SICK")
    assert nli.training_pairs() == expected
    rows = [("neutral", "the same", f"said {i}") for i in range(12)]
    keys = ("gold_label", "sentence1", "sentence2")
    lines = [json.dumps(dict(zip(keys, row, strict=True))) for row in rows]
    small_pairs.write(root / "snli_1.0" / "snli_1.0_dev.jsonl", lines)
    nli._read.cache_clear()
    assert nli.training_pairs()[1] == nli.load("SICK", "train")  # all others have its premise


def test_the_train_file_is_used_where_it_is(root):
    small_pairs.write_snli(root, "train", ["entailment", "-", "neutral"])
    name, found, dev = nli.training_pairs()
    assert (name, dev) == ("snli", nli.held_out("SNLI"))
    assert [pair.premise for pair in found] == ["snli train first 0", "snli train first 2"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "this is no JSON with the texts sentence1, sentence2, gold_label"),
        ("[1, 2]", "this is no JSON"),
        ("3", "this is no JSON"),
        ("", "this is no JSON"),
        ('{"gold_label": "neutral", "sentence1": "a"}', "this is no JSON"),
        ('{"gold_label": "neutral", "sentence1": "a", "sentence2": 3}', "this is no JSON"),
        ('{"gold_label": "neutral", "sentence1": " ", "sentence2": "b"}', "column 1 should hold"),
        ('{"gold_label": "neutral", "sentence1": "a", "sentence2": ""}', "column 2 should hold"),
        (
            '{"gold_label": "yes", "sentence1": "a", "sentence2": "b"}',
            "'yes' is none of the labels",
        ),
    ],
)
def test_a_bad_line_is_named(root, line, told):
    path = root / "snli_1.0" / "snli_1.0_dev.jsonl"
    lines = path.read_text().splitlines()
    small_pairs.write(path, [*lines[:3], line, *lines[4:]])
    with pytest.raises(UserError, match=f"snli_1.0_dev.jsonl, line 4: {told}"):
        nli.load("SNLI", "dev")


def test_other_encodings_and_missing_files(root):
    path = root / "snli_1.0" / "snli_1.0_dev.jsonl"
    path.write_bytes(path.read_bytes() + "café".encode("latin-1"))
    with pytest.raises(UserError, match=r"snli_1.0_dev.jsonl, line 25: this is no UTF-8"):
        nli.load("SNLI", "dev")
    small_pairs.write_snli(root, "dev", ["-"])
    with pytest.raises(UserError, match="holds no pair with a label"):
        nli.load("SNLI", "dev")
    path.unlink()
    with pytest.raises(UserError, match="SNLI is missing"):
        nli.load("SNLI", "dev")


@pytest.mark.usefixtures("real_data")
def test_the_official_numbers_of_pairs():
    sizes = {split: len(nli.load("SNLI", split)) for split in ("dev", "test")}
    assert sizes == {"dev": 9842, "test": 9824}
    yes = {split: sum(p.entailed for p in nli.load("SNLI", split)) for split in ("dev", "test")}
    assert yes == {"dev": 3329, "test": 3368}
    yes = {s: sum(p.entailed for p in nli.load("SICK", s)) for s in ("train", "dev", "test")}
    assert yes == {"train": 1299, "dev": 144, "test": 1414}
    held = {pair.premise for pair in nli.held_out("SNLI")}
    assert len(nli.held_out("SNLI")) == 2000
    assert not held & {pair.premise for pair in nli.training_pairs()[1][4500:]}
