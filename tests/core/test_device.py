"""The precision that models run in."""

from itertools import accumulate, chain, cycle, islice

import pytest
import torch

from vsdemo.core import device


@pytest.fixture(autouse=True)
def measured_anew():
    device.fast_dtype.cache_clear()
    yield
    device.fast_dtype.cache_clear()


@pytest.mark.parametrize(
    ("seconds", "expected"), [((1.0, 2.0), torch.float32), ((2.0, 1.0), torch.bfloat16)]
)
def test_the_precision_whose_products_take_less_time_is_used(monkeypatch, seconds, expected):
    """A clock on which each product takes its time, and other work now and then a minute more."""
    busy = chain.from_iterable(
        (0.0, time + 60 * (number % 5 == 0)) for number, time in enumerate(cycle(seconds))
    )
    clock = accumulate(islice(busy, 10_000))
    monkeypatch.setenv("VSDEMO_DEVICE", "cpu")
    monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda: True)
    monkeypatch.setattr("vsdemo.core.device.time.perf_counter", lambda: next(clock))
    assert device.fast_dtype() == expected
    assert device.fast_dtype() == expected  # not measured twice


def test_a_processor_without_bfloat16_uses_float32(monkeypatch):
    monkeypatch.setenv("VSDEMO_DEVICE", "cpu")
    monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda: False)
    assert device.fast_dtype() == torch.float32
