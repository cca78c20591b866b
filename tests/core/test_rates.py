"""How long work takes on this machine."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from vsdemo.core import rates


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_unmeasured_work_has_no_rate():
    assert rates.seconds_per_item("drawing") is None


def test_measurements_are_averaged_over_items():
    rates.record("drawing", 10, 1.0)
    rates.record("drawing", 30, 1.0)
    rates.record("reading", 10, 5.0)
    assert rates.seconds_per_item("drawing") == pytest.approx(2 / 40)
    assert rates.seconds_per_item("reading") == pytest.approx(0.5)


def test_recent_work_counts_more_than_much_work_long_ago():
    rates.record("drawing", 100_000, 100_000)  # on a busy machine
    for _ in range(5):
        rates.record("drawing", 1000, 10)
    assert rates.seconds_per_item("drawing") == pytest.approx(0.01, rel=0.7)


def test_few_items_are_no_measurement():
    rates.record("drawing", rates.MIN_ITEMS - 1, 1.0)
    assert rates.seconds_per_item("drawing") is None


@pytest.mark.parametrize(
    "content",
    ["{", "[]", '{"drawing": 3}', '{"drawing": {"items": "x", "seconds": 1}}',
     '{"drawing": {"items": 0, "seconds": 1}}', '{"drawing": {"items": 5, "seconds": -1}}'],
)  # fmt: skip
def test_a_damaged_file_counts_as_empty_and_is_replaced(home, content):
    home.mkdir()
    (home / "rates.json").write_text(content)
    assert rates.seconds_per_item("drawing") is None
    rates.record("drawing", 10, 1.0)
    assert rates.seconds_per_item("drawing") == pytest.approx(0.1)


def test_threads_lose_no_measurement():
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: rates.record(f"work {n % 4}", 4, 1.0), range(32)))
    assert all(rates.seconds_per_item(f"work {n}") == pytest.approx(0.25) for n in range(4))


def test_a_stopwatch_does_not_count_pauses(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(rates, "monotonic", lambda: now[0])
    watch = rates.Stopwatch()
    now[0] += 2
    with watch.paused():
        now[0] += 50
    with suppress(ValueError), watch.paused():
        now[0] += 50
        raise ValueError
    now[0] += 3
    assert watch.seconds == pytest.approx(5)
