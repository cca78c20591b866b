"""Dynamic batches: calls that come while another is computed are computed together."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from vsdemo.core.batching import DynamicBatches


def squares(sizes, release=None):
    def compute(items):
        sizes.append(len(items))
        if release and len(sizes) == 1:
            assert release.wait(10)
        return [item * item for item in items]

    return compute


def test_a_single_call_does_not_wait():
    sizes = []
    batches = DynamicBatches(squares(sizes), most=4)
    assert [batches(number) for number in range(3)] == [0, 1, 4]
    assert sizes == [1, 1, 1]


def test_calls_that_gather_are_computed_together():
    sizes, release = [], threading.Event()
    batches = DynamicBatches(squares(sizes, release), most=4)
    with ThreadPoolExecutor(10) as pool:
        first = pool.submit(batches, 10)
        while not sizes:  # the first one is being computed
            pass
        others = [pool.submit(batches, number) for number in range(9)]
        while len(batches._waiting) < 9:
            pass
        release.set()
        assert first.result(10) == 100
        assert [other.result(10) for other in others] == [n * n for n in range(9)]
    assert sizes == [1, 4, 4, 1]


def test_an_error_reaches_every_call_of_its_batch_and_no_other():
    def compute(items):
        if -1 in items:
            raise ValueError("negative")
        return items

    batches = DynamicBatches(compute, most=8)
    with pytest.raises(ValueError, match="negative"):
        batches(-1)
    assert batches(1) == 1


def test_many_threads_get_their_own_results():
    batches = DynamicBatches(squares([]), most=3)
    with ThreadPoolExecutor(16) as pool:
        assert [*pool.map(batches, range(500))] == [n * n for n in range(500)]
