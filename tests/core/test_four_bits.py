"""Matrices with 4 bits a number."""

import pytest
import torch

from vsdemo.core import four_bits


def test_matrices_come_back_within_half_a_level():
    torch.manual_seed(0)
    tensors = {"matrix": torch.randn(7, 5), "kernel": torch.randn(4, 3, 3, 3) * 1e-3}
    again = four_bits.decode(four_bits.encode(tensors))
    assert again.keys() == tensors.keys()
    for name, tensor in tensors.items():
        error = (again[name] - tensor).flatten(1).abs().amax(1)
        assert (error <= 0.5001 / 7 * tensor.flatten(1).abs().amax(1)).all()


def test_rows_of_zeros_and_of_tiny_numbers_come_back():
    rows = torch.stack([torch.zeros(4), torch.full((4,), 1e-30), torch.full((4,), 3.0)])
    again = four_bits.decode(four_bits.encode({"x": rows}))["x"]
    torch.testing.assert_close(again, rows)


@pytest.mark.parametrize(("numbers", "size"), [(100, 50), (101, 51), (1, 1)])
def test_two_numbers_share_a_byte(numbers, size):
    encoded = four_bits.encode({"x": torch.randn(6, numbers)})
    assert encoded["x"].dtype == torch.uint8
    assert encoded["x"].shape == (6, size)
    assert encoded["x.scale"].shape == (6,)
    assert four_bits.decode(encoded)["x"].shape == (6, numbers)


def test_levels_come_back_exactly():
    levels = torch.arange(-7.0, 8.0)[None]
    torch.testing.assert_close(four_bits.decode(four_bits.encode({"x": levels}))["x"], levels)


def test_vectors_and_what_is_not_encoded_stay():
    vector, count = torch.randn(5), torch.tensor(3)
    encoded = four_bits.encode({"vector": vector, "count": count})
    assert encoded["vector"] is vector
    half = torch.randn(2, 3).half()
    again = four_bits.decode({**encoded, "half": half, "norm.scale": vector})
    assert again["count"] is count
    assert again["half"] is half
    assert again["norm.scale"] is vector
