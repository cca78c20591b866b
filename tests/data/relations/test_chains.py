"""Chains to learn from: by hand, and damaged files."""

import lzma

import numpy as np
import pytest

from vsdemo.core.errors import UserError
from vsdemo.data.relations import FALSE, TRUE, UNKNOWN, chains

ROWS = (
    ("animal => dog => a dog runs => A dog runs on a beach. ", "food => cat => a dog sits => x"),
    ("animal => animal => a  cat => A cat .", " => car => Dog => a cat on a mat ."),
    ("too => short", "a => b => c => d"),
)


def write(path, rows=ROWS):
    lines = ["positive,negative", *(",".join(row) for row in rows)]
    path.write_bytes(lzma.compress("\n".join(lines).encode()))
    return path


@pytest.fixture
def known(tmp_path):
    return chains.load(write(tmp_path / "chains.csv.xz"))


def label(known, general: str, specific: str) -> int:
    rows = [np.array([known.texts.index(text)]) for text in (general, specific)]
    return int(known.among_texts(*rows)[0, 0])


def test_empty_and_repeated_texts_and_short_chains_are_left_out(known):
    assert len(known) == 2
    first, second = ([known.texts[row] for row in known.of(np.array([n]))] for n in (0, 1))
    assert first[:4] == ["animal", "dog", "a dog runs", "A dog runs on a beach"]
    assert second == ["animal", "a cat", "car", "Dog", "a cat on a mat"]
    rows = known.of(np.array([1, 0]))
    assert known.chain[rows].tolist() == [1] * 5 + [0] * 8


@pytest.mark.parametrize(
    ("general", "specific", "expected"),
    [
        ("animal", "A dog runs on a beach", TRUE),
        ("dog", "a dog runs", TRUE),
        ("a dog runs", "dog", FALSE),
        ("a dog runs", "a dog sits", FALSE),
        ("A dog runs on a beach", "a dog sits", FALSE),
        ("dog", "a dog sits", UNKNOWN),  # a wrong continuation, but one of a dog
        ("a dog sits", "a dog runs", FALSE),
        ("a dog sits", "A dog runs on a beach", FALSE),
        ("a dog sits", "dog", UNKNOWN),
        ("cat", "x", UNKNOWN),
        ("dog", "a cat", UNKNOWN),  # of another chain
        ("x", "x", TRUE),
    ],
)
def test_labels(known, general, specific, expected):
    assert label(known, general, specific) == expected


def test_neighbours_follow_each_other_in_a_chain(known):
    pairs = known.neighbours().sample(10, seed=0)
    assert sorted((pair.general, pair.specific) for pair in pairs) == [
        ("a dog runs", "A dog runs on a beach"),
        ("animal", "a cat"),
        ("animal", "dog"),
        ("dog", "a dog runs"),
    ]


def test_missing_and_damaged_files_are_user_errors(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    with pytest.raises(UserError, match="The chains of HierarCaps is missing"):
        chains.load()
    path = write(tmp_path / "chains.csv.xz")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UserError, match="damaged"):
        chains.load(path)
    with pytest.raises(UserError, match="no chain of 4 texts"):
        chains.load(write(path, ROWS[2:]))
