"""The compiled scores of a GPU against plain formulas.

Triton's interpreter runs the kernels on the CPU, see conftest.py.
"""

import math

import pytest
import torch

from tests.support.score_formulas import FORMULAS
from vsdemo.core.embeddings import Embeddings
from vsdemo.models import scores

kernels = pytest.importorskip("vsdemo.models.gpu_kernels")  # Triton comes with torch, for Linux

SHAPES = [(1, 1, 1), (3, 70, 5), (33, 34, 40), (2, 3, 131)]  # inside and across the tiles


def items(count, dim, dtype=torch.float32, seed=0):
    return torch.randn(count, dim, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def violation(lower, upper):
    return (lower[:, None] - upper).clamp(min=0).square().sum(-1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_all_pairs(shape, dtype):
    lower_count, upper_count, dim = shape
    lower, upper = items(lower_count, dim, dtype), items(upper_count, dim, dtype, seed=1)
    result = kernels.violation(lower, upper)
    torch.testing.assert_close(result, violation(lower, upper))


def test_many_pairs_have_larger_tiles(monkeypatch):
    monkeypatch.setattr(kernels, "LARGE_TILES", 1)
    lower, upper = items(3, 12)[:, 5:], items(260, 12, seed=1)[::2, 5:]
    torch.testing.assert_close(kernels.violation(lower, upper), violation(lower, upper))


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_are_those_of_autograd(shape):
    lower_count, upper_count, dim = shape
    lower = items(lower_count, dim, torch.float64).requires_grad_()
    upper = items(upper_count, dim, torch.float64, seed=1).requires_grad_()
    grad = items(lower_count, upper_count, torch.float64, seed=2)
    violation(lower, upper).backward(grad)
    to_lower, to_upper = kernels.violation_gradients(lower.detach(), upper.detach(), grad)
    torch.testing.assert_close(to_lower, lower.grad)
    torch.testing.assert_close(to_upper, upper.grad)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("name", FORMULAS)
def test_one_query_with_stored_items(name, dtype):
    query, stored = items(1, 150)[0], items(35, 160, seed=1).to(dtype)
    for start in (0, 7):
        expected = FORMULAS[name](query, stored[:, start : start + 150].float())
        result = getattr(kernels, name)(query, stored, start)
        torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)


def test_no_items():
    assert kernels.violation(items(0, 4), items(3, 4)).shape == (0, 3)
    assert kernels.products(items(1, 4)[0], items(0, 4)).shape == (0,)
    to_lower, to_upper = kernels.violation_gradients(items(0, 4), items(3, 4), items(0, 3))
    assert to_lower.shape == (0, 4)
    assert not to_upper.any()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_never_a_match(number):
    lower, upper = items(2, 40), items(20, 40, seed=1)
    lower[1, 7] = number
    expected = violation(lower, upper)
    torch.testing.assert_close(kernels.violation(lower, upper), expected, equal_nan=True)
    query, stored = lower[0], upper.clone()
    stored[3, 2] = number
    expected = violation(query[None], stored)[0]
    result = kernels.violations_below(query, stored)
    torch.testing.assert_close(result, expected, equal_nan=True)


def test_scores_use_them(monkeypatch):
    """As on a GPU, with the kernels in the place of those of the CPU."""
    monkeypatch.setattr(scores, "_kernels", lambda device: kernels)
    monkeypatch.setitem(scores.MANY, "cpu", 1)
    monkeypatch.setattr(scores, "LARGE", 1)
    query, stored = items(1, 12).abs(), items(9, 12, seed=1).half()
    for name in ("inner", "cosine", "euclidean", "order", "order_reversed"):
        score = scores.SCORES[name]
        expected = score(Embeddings(query), Embeddings(stored.float()))[0]
        result = score.of_query(Embeddings(query), Embeddings(stored))
        torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)
