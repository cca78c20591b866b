import time

import pytest

from vsdemo.core.events import KINDS, EventLog, read


@pytest.fixture
def log(tmp_path):
    return EventLog(tmp_path / "run" / "events.jsonl")


def test_read_returns_events_in_order_with_their_time(log):
    before = time.time()
    for step, kind in enumerate(KINDS):
        log.write(kind, step, loss=0.5, note="ä\nb")
    events = list(read(log.path))
    assert [(e["kind"], e["step"]) for e in events] == [(k, s) for s, k in enumerate(KINDS)]
    assert all(e["loss"] == 0.5 and e["note"] == "ä\nb" for e in events)
    assert before - 0.01 <= events[0]["time"] <= events[-1]["time"] <= time.time() + 0.01


def test_an_unknown_kind_lists_the_valid_ones(log):
    with pytest.raises(ValueError, match=r"stepp.*start, step, eval"):
        log.write("stepp", 1)
    assert list(read(log.path)) == []


def test_read_skips_an_incomplete_line_and_a_missing_file(log):
    assert list(read(log.path)) == []
    log.write("start", 0)
    with log.path.open("a") as file:
        file.write('{"kind": "step", "st')
    assert [e["kind"] for e in read(log.path)] == ["start"]


def test_rewind_drops_the_events_after_a_step(log):
    for step in (0, 10, 20, 30):
        log.write("step", step)
    log.rewind(20)
    assert [e["step"] for e in read(log.path)] == [0, 10, 20]
    log.write("stopped", 21)
    assert [e["step"] for e in read(log.path)] == [0, 10, 20, 21]
