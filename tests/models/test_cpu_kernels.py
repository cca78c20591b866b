"""The compiled scores of the CPU against a plain loop, and against the operations of torch."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.score_formulas import FORMULAS
from vsdemo.core.embeddings import Embeddings
from vsdemo.models import cpu_kernels, scores

SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 40), st.integers(1, 9))


def items(count, dim, dtype=torch.float32, seed=0):
    return torch.randn(count, dim, dtype=dtype, generator=torch.Generator().manual_seed(seed))


@settings(max_examples=30, deadline=None)
@given(SHAPES, st.sampled_from([torch.float32, torch.float64]))
def test_it_equals_a_plain_loop(shape, dtype):
    lower_count, upper_count, dim = shape
    lower, upper = items(lower_count, dim, dtype), items(upper_count, dim, dtype, seed=1)
    result = cpu_kernels.violation(lower, upper)
    assert result.dtype == dtype
    for i, low in enumerate(lower.tolist()):
        for j, up in enumerate(upper.tolist()):
            expected = sum(max(0.0, a - b) ** 2 for a, b in zip(low, up, strict=True))
            assert float(result[i, j]) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_views_and_a_part_of_the_coordinates():
    lower, upper = items(3, 12)[:, 5:], items(64, 12, seed=1)[::2, 5:]
    expected = (lower[:, None] - upper).clamp(min=0).square().sum(-1)
    torch.testing.assert_close(cpu_kernels.violation(lower, upper), expected)


@pytest.mark.parametrize(("lower", "upper"), [(5000, 1), (1, 5000), (300, 700)])
def test_many_items_of_one_side(lower, upper):
    a, b = items(lower, 64), items(upper, 64, seed=1)
    expected = torch.stack([(row - b).clamp(min=0).square().sum(-1) for row in a])
    torch.testing.assert_close(cpu_kernels.violation(a, b), expected)


def test_without_a_place_to_compile_torch_computes(monkeypatch, caplog):
    def fail(name):
        raise RuntimeError("cannot cache function")

    monkeypatch.setattr(scores, "import_module", fail)
    monkeypatch.setitem(scores.MANY, "cpu", 1)
    scores._kernels.cache_clear()
    try:
        x = Embeddings(items(5, 4))
        expected = (x.x[:, None] - x.x).clamp(min=0).square().sum(-1)
        torch.testing.assert_close(scores.ORDER.violation(x, x), expected)
    finally:
        scores._kernels.cache_clear()
    assert "cannot cache function" in caplog.text


def test_no_items():
    assert cpu_kernels.violation(items(0, 4), items(3, 4)).shape == (0, 3)
    assert cpu_kernels.violation(items(3, 4), items(0, 4)).shape == (3, 0)


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_never_a_match(side, number):
    lower, upper = items(2, 40), items(20, 40, seed=1)
    (lower if side == "lower" else upper)[1, 7] = number
    expected = (lower[:, None] - upper).clamp(min=0).square().sum(-1)
    torch.testing.assert_close(cpu_kernels.violation(lower, upper), expected, equal_nan=True)


def test_threads_at_the_same_time():
    lower, upper = items(4, 64), items(5000, 64, seed=1)
    expected = cpu_kernels.violation(lower, upper)
    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(lambda _: cpu_kernels.violation(lower, upper), range(40)):
            assert torch.equal(result, expected)


@pytest.fixture
def calls(monkeypatch):
    """Calls of the compiled function, which is used from the first number on."""
    calls = []
    kernel = cpu_kernels.violation
    monkeypatch.setitem(scores.MANY, "cpu", 1)
    monkeypatch.setattr(cpu_kernels, "violation", lambda *args: calls.append(args) or kernel(*args))
    return calls


def test_the_score_and_its_gradient(calls):
    lower = items(7, 6, torch.float64).requires_grad_()
    upper = items(9, 6, torch.float64, seed=1).requires_grad_()

    def violation(a, b):
        return scores.ORDER.violation(Embeddings(a), Embeddings(b))

    assert torch.autograd.gradcheck(violation, (lower, upper))
    assert calls


def test_half_precision_is_left_to_torch(calls):
    x = items(9, 6).half()
    scores.ORDER.violation(Embeddings(x), Embeddings(x))
    assert not calls


@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=30, deadline=None)
@given(SHAPES, st.sampled_from([torch.float32, torch.float16]))
def test_one_query_with_stored_items(name, shape, dtype):
    start, count, dim = shape
    query, stored = items(1, dim)[0], items(count, start + dim + 3, seed=1).to(dtype)
    expected = FORMULAS[name](query, stored[:, start : start + dim].float())
    result = getattr(cpu_kernels, name)(query, stored, start)
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", FORMULAS)
def test_many_stored_items_are_added_up_as_few_are(name):
    query, stored = items(1, 64)[0], items(20_000, 64, seed=1).half()
    run = getattr(cpu_kernels, name)
    assert torch.equal(run(query, stored)[-500:], run(query, stored[-500:]))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 6e-8, 65504.0])
@pytest.mark.parametrize("name", FORMULAS)
def test_every_number_in_half_precision(name, number):
    query, stored = items(1, 40)[0], items(6, 40, seed=1).half()
    stored[3, 7] = number
    result, expected = (
        getattr(cpu_kernels, name)(query, stored),
        FORMULAS[name](query, stored.float()),
    )
    torch.testing.assert_close(result, expected, equal_nan=True)


@pytest.mark.parametrize("name", ["violations_below", "violations_above"])
def test_no_stored_items(name):
    assert getattr(cpu_kernels, name)(items(1, 4)[0], items(0, 4)).shape == (0,)
