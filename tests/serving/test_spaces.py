"""The GPU of ZeroGPU without the library `spaces`; with it, see tests/spaces."""

import pytest
import torch

from vsdemo.core import device, lent_gpu, zero_gpu
from vsdemo.serving import access, spaces


@pytest.fixture(autouse=True)
def no_lender():
    yield
    lent_gpu.offer(None)


@pytest.fixture
def on_zero_gpu(monkeypatch):
    """A Space with ZeroGPU: outside of a call torch says that there is a GPU."""
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    device.device.cache_clear()
    device.fast_dtype.cache_clear()
    yield
    device.device.cache_clear()
    device.fast_dtype.cache_clear()


def test_elsewhere_nothing_is_borrowed(monkeypatch):
    monkeypatch.delenv("SPACES_ZERO_GPU", raising=False)
    spaces.borrow_gpu()
    assert not lent_gpu.is_offered()


def test_outside_of_a_call_the_device_is_the_cpu(on_zero_gpu):
    assert device.device().type == "cpu"
    assert device.autocast().device == "cpu"


def test_within_a_call_the_device_is_the_gpu(on_zero_gpu):
    zero_gpu_before = zero_gpu.is_zero_gpu()
    device.enter_lent_gpu()
    assert (zero_gpu_before, zero_gpu.is_zero_gpu()) == (True, False)
    assert device.device().type == "cuda"


def test_training_is_never_open(on_zero_gpu, monkeypatch):
    monkeypatch.setenv("VSDEMO_ALLOW_TRAINING", "1")
    assert not access.training_allowed()


def double(x, plus):
    return 2 * x + plus


def test_tensors_cross_processes_as_arrays():
    seen = []

    def lend(function, *args):
        seen.extend(type(arg).__name__ for arg in args)
        return spaces._compute(function, *args)

    lent_gpu.offer(spaces.lender(lend))
    assert lent_gpu.run(double, torch.tensor([1, 2]), 3).tolist() == [5, 7]
    assert seen == ["ndarray", "int"]


def test_without_a_free_gpu_the_cpu_computes(caplog):
    def lend(function, *args):
        raise RuntimeError("ZeroGPU quota exceeded")

    lent_gpu.offer(spaces.lender(lend))
    assert lent_gpu.run(double, torch.tensor([1]), 0).tolist() == [2]
    assert [record.getMessage() for record in caplog.records] == [
        "The GPU was not lent (ZeroGPU quota exceeded); computing on the CPU."
    ]
