"""Rates: how much each visitor may use in a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.serving import rates
from vsdemo.serving.rates import Rate


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_an_amount_is_used_up_and_comes_back_evenly():
    clock = Clock()
    rate = Rate(3, 60, clock)
    assert [rate.take("a") for _ in range(3)] == [0, 0, 0]
    assert rate.take("a") == pytest.approx(20)  # a third of the minute
    assert rate.take("b") == 0  # another visitor
    clock.now += 19
    assert rate.take("a") == pytest.approx(1)  # a refused request costs nothing
    clock.now += 1
    assert rate.take("a") == 0
    assert rate.take("a") > 0


def test_more_than_the_whole_amount_is_always_refused():
    clock = Clock()
    rate = Rate(10, 60, clock)
    assert rate.take("a", 11) == 60
    assert rate.take("a", 10) == 0


def test_visitors_are_forgotten_beyond_a_bound(monkeypatch):
    monkeypatch.setattr(rates, "REMEMBERED", 2)
    rate = Rate(1, 1e9)
    for visitor in "abc":
        rate.take(visitor)
    assert rate.take("c") > 0
    assert rate.take("a") == 0


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(1, 3)), max_size=50))
def test_no_window_of_time_has_more_than_twice_the_amount(steps):
    clock, taken = Clock(), []
    rate = Rate(5, 10, clock)
    for pause, amount in steps:
        clock.now += pause
        if not rate.take("a", amount):
            taken.append((clock.now, amount))
    for start, _ in taken:
        window = sum(amount for when, amount in taken if start <= when < start + 10)
        assert window <= 10
