"""Stored embeddings: read as they were written, only new photos are embedded."""

import hashlib

import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.search.stored_embeddings import read_or_embed

X = torch.randn(30, 4, generator=torch.Generator().manual_seed(0))


def keys(*numbers):
    return [hashlib.sha256(str(number).encode()).hexdigest()[:32] for number in numbers]


@pytest.fixture
def embed_of():
    """Return a function to embed some of X, and a list of how many were embedded each time."""
    calls = []

    def embed_of(numbers):
        def embed(rows):
            calls.append(len(rows))
            return Embeddings(X[[numbers[row] for row in rows]])

        return embed

    return embed_of, calls


def test_only_new_photos_are_embedded(tmp_path, embed_of):
    embed_of, calls = embed_of
    path = tmp_path / "x.safetensors"
    for numbers in ([*range(20)], [*range(20)], [5, 25, 3, 3, 26], [25, 3], [1]):
        result = read_or_embed(path, keys(*numbers), embed_of(numbers))
        assert torch.equal(result.x, X[numbers].half())
        assert result.mask is None
    assert calls == [20, 2, 1]


def test_a_damaged_file_is_written_again(tmp_path, embed_of):
    embed_of, calls = embed_of
    path = tmp_path / "x.safetensors"
    numbers = [0, 1, 2]
    read_or_embed(path, keys(*numbers), embed_of(numbers))
    path.write_bytes(path.read_bytes()[:-3])
    for _ in range(2):
        result = read_or_embed(path, keys(*numbers), embed_of(numbers))
        assert torch.equal(result.x, X[numbers].half())
    assert calls == [3, 3]
