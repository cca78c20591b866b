"""The compiled order violation against a plain loop, and against the operations of torch."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from vsdemo.core.embeddings import Embeddings
from vsdemo.models import order_kernel, scores

SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 40), st.integers(1, 9))


def items(count, dim, dtype=torch.float32, seed=0):
    return torch.randn(count, dim, dtype=dtype, generator=torch.Generator().manual_seed(seed))


@settings(max_examples=30, deadline=None)
@given(SHAPES, st.sampled_from([torch.float32, torch.float64]))
def test_it_equals_a_plain_loop(shape, dtype):
    lower_count, upper_count, dim = shape
    lower, upper = items(lower_count, dim, dtype), items(upper_count, dim, dtype, seed=1)
    result = order_kernel.violation(lower, upper)
    assert result.dtype == dtype
    for i, low in enumerate(lower.tolist()):
        for j, up in enumerate(upper.tolist()):
            expected = sum(max(0.0, a - b) ** 2 for a, b in zip(low, up, strict=True))
            assert float(result[i, j]) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_views_and_a_part_of_the_coordinates():
    lower, upper = items(3, 12)[:, 5:], items(64, 12, seed=1)[::2, 5:]
    expected = (lower[:, None] - upper).clamp(min=0).square().sum(-1)
    torch.testing.assert_close(order_kernel.violation(lower, upper), expected)


@pytest.mark.parametrize(("lower", "upper"), [(5000, 1), (1, 5000), (300, 700)])
def test_many_items_of_one_side(lower, upper):
    a, b = items(lower, 64), items(upper, 64, seed=1)
    expected = torch.stack([(row - b).clamp(min=0).square().sum(-1) for row in a])
    torch.testing.assert_close(order_kernel.violation(a, b), expected)


def test_without_a_place_to_compile_torch_computes(monkeypatch, caplog):
    def fail(name):
        raise RuntimeError("cannot cache function")

    monkeypatch.setattr(scores, "import_module", fail)
    monkeypatch.setattr(scores, "MANY", 1)
    scores._load_kernel.cache_clear()
    try:
        x = Embeddings(items(5, 4))
        expected = (x.x[:, None] - x.x).clamp(min=0).square().sum(-1)
        torch.testing.assert_close(scores.ORDER.violation(x, x), expected)
    finally:
        scores._load_kernel.cache_clear()
    assert "cannot cache function" in caplog.text


def test_no_items():
    assert order_kernel.violation(items(0, 4), items(3, 4)).shape == (0, 3)
    assert order_kernel.violation(items(3, 4), items(0, 4)).shape == (3, 0)


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_never_a_match(side, number):
    lower, upper = items(2, 40), items(20, 40, seed=1)
    (lower if side == "lower" else upper)[1, 7] = number
    expected = (lower[:, None] - upper).clamp(min=0).square().sum(-1)
    torch.testing.assert_close(order_kernel.violation(lower, upper), expected, equal_nan=True)


def test_threads_at_the_same_time():
    lower, upper = items(4, 64), items(5000, 64, seed=1)
    expected = order_kernel.violation(lower, upper)
    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(lambda _: order_kernel.violation(lower, upper), range(40)):
            assert torch.equal(result, expected)


@pytest.fixture
def compiled(monkeypatch):
    """How often the compiled function is used, which it is from the first number on."""
    calls = []
    kernel = order_kernel.violation
    monkeypatch.setattr(scores, "MANY", 1)
    monkeypatch.setattr(
        order_kernel, "violation", lambda *args: calls.append(args) or kernel(*args)
    )
    return calls


def test_the_score_and_its_gradient(compiled):
    lower = items(7, 6, torch.float64).requires_grad_()
    upper = items(9, 6, torch.float64, seed=1).requires_grad_()

    def violation(a, b):
        return scores.ORDER.violation(Embeddings(a), Embeddings(b))

    assert torch.autograd.gradcheck(violation, (lower, upper))
    assert compiled


def test_half_precision_is_left_to_torch(compiled):
    x = items(9, 6).half()
    scores.ORDER.violation(Embeddings(x), Embeddings(x))
    assert not compiled
