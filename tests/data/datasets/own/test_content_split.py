"""Splits by the content of photos."""

import hashlib
import shutil
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.data.catalog.examine import content_hash
from vsdemo.data.datasets.own.content_split import complete_keys, split_of


def key(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()[:32]


def test_the_shares_are_eight_one_and_one():
    counts = Counter(split_of(key(number)) for number in range(20_000))
    shares = {split: count / 20_000 for split, count in counts.items()}
    assert shares == pytest.approx({"train": 0.8, "dev": 0.1, "test": 0.1}, abs=0.01)


def test_the_splits_never_change():
    """Photos of a trained model must not move from test to train with a new version."""
    first = "train train dev train train test test train train train train train"
    assert [split_of(key(number)) for number in range(12)] == first.split()
    assert [split_of("0" * 32), split_of("f" * 32)] == ["train", "test"]


@given(st.binary(min_size=1, max_size=50))
def test_copies_are_in_one_split_whatever_their_names(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("copies")
    (folder / "a.jpg").write_bytes(content)
    shutil.copy(folder / "a.jpg", folder / "other.png")
    first, second = complete_keys([folder / "a.jpg", folder / "other.png"], ["", ""])
    assert first == second == content_hash(folder / "a.jpg")
    assert split_of(first) == split_of(second)


def test_known_photos_are_not_read(tmp_path):
    (tmp_path / "b.jpg").write_bytes(b"b")
    calls = []
    photos = [tmp_path / "a.jpg", tmp_path / "b.jpg", tmp_path / "gone.jpg"]
    keys = complete_keys(photos, ["known", "", ""], lambda *done: calls.append(done))
    assert keys == ["known", content_hash(tmp_path / "b.jpg"), ""]
    assert calls == [(2, 2)]
