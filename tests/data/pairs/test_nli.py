"""Pairs with entailment labels, read from small files in the official layouts."""

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


def test_pairs_without_a_majority_label_are_left_out(root):
    pairs = nli.load("SNLI", "dev")
    kept = [i for i in range(24) if i % 8]
    for i, pair in zip(kept, pairs, strict=True):
        assert (pair.premise, pair.hypothesis) == small_pairs.texts("snli dev", i)
        assert pair.label == small_pairs.LABELS[i % 3]
        assert pair.entailed == (i % 3 == 0)


def test_sick_has_labels(root):
    pairs = nli.load("SICK", "test")
    assert len(pairs) == 24
    for i, pair in enumerate(pairs):
        assert (pair.premise, pair.hypothesis) == small_pairs.texts("sick test", i)
        assert pair.label == small_pairs.LABELS[i % 3]


def test_training_pairs_exclude_the_pairs_that_thresholds_are_chosen_on(root, monkeypatch):
    monkeypatch.setattr(nli, "HELD_OUT", 5)
    dev = nli.load("SNLI", "dev")
    assert nli.held_out("SNLI") == dev[-5:]
    assert nli.held_out("SICK") == nli.load("SICK", "dev")[-5:]
    expected = "sick+snli-dev", nli.load("SICK", "train") + dev[:-5], nli.held_out("SICK")
    assert nli.training_pairs() == expected
    rows = [("neutral", "the same", f"text {i}") for i in range(12)]
    keys = ("gold_label", "sentence1", "sentence2")
    lines = [json.dumps(dict(zip(keys, row, strict=True))) for row in rows]
    small_pairs.write(root / "snli_1.0" / "snli_1.0_dev.jsonl", lines)
    nli._read.cache_clear()
    assert nli.training_pairs().train == nli.load("SICK", "train")  # all others have its premise


def test_snli_s_train_file_is_used_if_available(root):
    small_pairs.write_snli(root, "train", ["entailment", "-", "neutral"])
    pairs = nli.training_pairs()
    assert (pairs.source, pairs.dev) == ("snli", nli.held_out("SNLI"))
    assert [pair.premise for pair in pairs.train] == ["snli train first 0", "snli train first 2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "expected JSON with the texts sentence1, sentence2, gold_label"),
        ("[1, 2]", "expected JSON"),
        ("3", "expected JSON"),
        ("", "expected JSON"),
        ('{"gold_label": "neutral", "sentence1": "a"}', "expected JSON"),
        ('{"gold_label": "neutral", "sentence1": "a", "sentence2": 3}', "expected JSON"),
        (
            '{"gold_label": "neutral", "sentence1": " ", "sentence2": "b"}',
            "column 1 should contain",
        ),
        ('{"gold_label": "neutral", "sentence1": "a", "sentence2": ""}', "column 2 should contain"),
        (
            '{"gold_label": "yes", "sentence1": "a", "sentence2": "b"}',
            "'yes' is none of the labels",
        ),
    ],
)
def test_malformed_lines_are_named(root, line, message):
    path = root / "snli_1.0" / "snli_1.0_dev.jsonl"
    lines = path.read_text().splitlines()
    small_pairs.write(path, [*lines[:3], line, *lines[4:]])
    with pytest.raises(UserError, match=f"snli_1.0_dev.jsonl, line 4: {message}"):
        nli.load("SNLI", "dev")


def test_wrong_encodings_and_missing_files_are_user_errors(root):
    path = root / "snli_1.0" / "snli_1.0_dev.jsonl"
    path.write_bytes(path.read_bytes() + "café".encode("latin-1"))
    with pytest.raises(UserError, match=r"snli_1.0_dev.jsonl, line 25: not valid UTF-8"):
        nli.load("SNLI", "dev")
    small_pairs.write_snli(root, "dev", ["-"])
    with pytest.raises(UserError, match="contains no pair with a label"):
        nli.load("SNLI", "dev")
    path.unlink()
    with pytest.raises(UserError, match="SNLI is missing"):
        nli.load("SNLI", "dev")


@pytest.mark.usefixtures("real_data")
def test_snli_and_sick_have_the_official_numbers_of_pairs():
    sizes = {split: len(nli.load("SNLI", split)) for split in ("dev", "test")}
    assert sizes == {"dev": 9842, "test": 9824}
    entailed = {s: sum(p.entailed for p in nli.load("SNLI", s)) for s in ("dev", "test")}
    assert entailed == {"dev": 3329, "test": 3368}
    splits = ("train", "dev", "test")
    entailed = {s: sum(p.entailed for p in nli.load("SICK", s)) for s in splits}
    assert entailed == {"train": 1299, "dev": 144, "test": 1414}
    held = {pair.premise for pair in nli.held_out("SNLI")}
    assert len(nli.held_out("SNLI")) == 2000
    assert not held & {pair.premise for pair in nli.training_pairs().train[4500:]}
