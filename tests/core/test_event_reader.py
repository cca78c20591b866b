"""Reading growing files: events, the end of a log, progress bars, the remaining time."""

import json
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.core.event_reader import (
    EventReader,
    last_lines,
    parse_progress_bar,
    reader_for,
    seconds_left,
)
from vsdemo.core.events import EventLog

LINES = st.builds(
    lambda kind, step, note: {"kind": kind, "step": step, "time": step / 2, "note": note},
    st.sampled_from(["start", "step", "eval", "done"]),
    st.integers(0, 10**6),
    st.text(max_size=30),
)
WRONG = st.sampled_from(
    [
        b"",
        b" ",
        b"{",
        b"null",
        b"5",
        b"[]",
        b'"step"',
        b"\xff\xfe",
        b"\0",
        b"[" * 20,
        b'{"kind": "step"}',
        b'{"kind": "step", "step": 1}',
        b'{"step": 1, "time": 2}',
        b'{"kind": 5, "step": 1, "time": 2}',
        b'{"kind": "step", "step": "1", "time": 2}',
        b'{"kind": "step", "step": 1, "time": null}',
    ]
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("tail") / "events.jsonl"


def fresh(path):
    """Return the path without a file there."""
    path.unlink(missing_ok=True)
    return path


@given(st.lists(st.one_of(LINES, WRONG), max_size=12), st.lists(st.integers(0, 900), max_size=8))
def test_read_returns_each_event_once_wherever_the_file_is_cut(path, lines, cuts):
    reader = EventReader(fresh(path))
    events = [line for line in lines if isinstance(line, dict)]
    raw = [json.dumps(line).encode() if isinstance(line, dict) else line for line in lines]
    content = b"".join(line + b"\n" for line in raw)
    read = []
    places = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    for start, end in pairwise(places):
        with path.open("ab") as file:
            file.write(content[start:end])
        last, read = read, list(reader.read())
        assert read[: len(last)] == last
        whole = content[:end].count(b"\n")
        assert read == [line for line in lines[:whole] if isinstance(line, dict)]
    assert read == list(reader.read()) == events


CHANGES = st.one_of(
    st.tuples(st.just("append"), st.lists(LINES, max_size=3)),
    st.tuples(st.just("replace"), st.lists(LINES, max_size=5)),
    st.tuples(st.just("rewrite"), st.lists(LINES, max_size=5)),
    st.tuples(st.just("cut"), st.integers(0, 200)),
    st.tuples(st.just("remove"), st.none()),
    st.tuples(st.just("read"), st.none()),
)


@given(st.lists(CHANGES, max_size=14))
def test_replaced_truncated_and_removed_files_are_read_from_the_beginning(path, changes):
    reader, clock = EventReader(fresh(path)), 0.0
    for change, argument in changes:
        if change == "read":
            reader.read()
            continue
        before = path.read_bytes() if path.exists() else b""
        new = b""
        for line in argument if isinstance(argument, list) else ():
            new += json.dumps(line | {"time": (clock := clock + 0.125)}).encode() + b"\n"
        if change == "append":
            with path.open("ab") as file:
                file.write(new)
        elif change == "replace":
            (other := path.with_suffix(".tmp")).write_bytes(new)
            other.replace(path)
        elif change == "rewrite":
            path.unlink(missing_ok=True)
            path.write_bytes(new)
        elif change == "cut":
            path.write_bytes(before[:argument])
        else:
            path.unlink(missing_ok=True)
    content = path.read_bytes() if path.exists() else b""
    assert reader.read() == EventReader(path).read()
    assert len(reader.read()) == sum(b'"kind"' in line for line in whole_lines(content))


def whole_lines(content: bytes) -> list[bytes]:
    """Return the lines with valid JSON; truncation may have joined two events."""
    return [line for line in content.split(b"\n")[:-1] if _is_json(line)]


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def test_a_new_file_of_equal_length_is_noticed(path):
    """The new file may have the same inode, so only its content differs."""
    reader, log = EventReader(fresh(path)), EventLog(path)
    log.write("start", 1)
    assert [e["step"] for e in reader.read()] == [1]
    log = EventLog(fresh(path))
    log.write("start", 2)
    log.write("step", 3)
    assert [e["step"] for e in reader.read()] == [2, 3]


def test_a_resumed_run_is_read_after_rewind(path):
    reader, log = EventReader(fresh(path)), EventLog(path)
    for step in (0, 10, 20):
        log.write("step", step)
    assert [e["step"] for e in reader.read()] == [0, 10, 20]
    log.rewind(10)
    for step in (20, 30):
        log.write("step", step)
    assert [e["step"] for e in reader.read()] == [0, 10, 20, 30]
    events = reader.read()
    events.clear()
    assert len(reader.read()) == 4


def test_each_line_is_parsed_once(path, monkeypatch):
    log = EventLog(fresh(path))
    for step in range(50):
        log.write("step", step)
    reader, parsed = EventReader(path), []
    monkeypatch.setattr(
        "vsdemo.core.event_reader.parse", lambda line: parsed.append(line) or {"step": 1, "time": 1}
    )
    for _ in range(5):
        assert len(reader.read()) == 50
    assert len(parsed) == 50
    assert reader_for(path) is reader_for(path)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n\n \n", []),
        (b"one\ntwo\n", ["one", "two"]),
        (b"gru:   0%\rgru:  50%\rgru: 100%\nend\n", ["gru: 100%", "end"]),
        (b"gru:   0%\rgru:  50%", ["gru:  50%"]),
        (b"gru:  50%\r\ntwo\r\n", ["gru:  50%", "two"]),
        (b"  in  \ntail \xff\n", ["  in", "tail �"]),
    ],
)
def test_last_lines_returns_the_end_of_a_log(tmp_path, content, lines):
    path = tmp_path / "log.txt"
    path.write_bytes(content)
    assert last_lines(path, 10) == lines
    assert last_lines(path, 1) == lines[-1:]


def test_last_lines_of_a_long_log_are_read_fast(tmp_path):
    path = tmp_path / "log.txt"
    assert last_lines(path, 3) == []
    path.write_text("".join(f"line {n}\n" for n in range(500_000)))
    started = time.process_time()
    assert last_lines(path, 2) == ["line 499998", "line 499999"]
    assert time.process_time() - started < 0.1
    path.write_text("\r".join(f"gru: {n}" for n in range(100_000)))
    assert last_lines(path, 2) == ["gru: 99999"]


@pytest.mark.parametrize(
    ("line", "bar"),
    [
        ("gru:  33%|███▎      | 15/45 [00:00<00:00, 42.60step/s, best=407.5]", ("gru", 15, 45)),
        ("a vector-ten:   0%|          | 0/24 [00:00<?, ?it/s]", ("a vector-ten", 0, 24)),
        ("a: b:  83%|████████▎ | 20/24 [00:01<00:00, 14.05it/s]", ("a: b", 20, 24)),
        ("| dev | 37.5 (12.5-75.0) | 87.5", None),
        ("Traceback (most recent call last):", None),
        ("", None),
    ],
)
def test_a_progress_bar_is_parsed_into_name_step_and_total(line, bar):
    assert parse_progress_bar(line) == bar


def event(kind: str, step: int, time: float, **more) -> dict:
    return {"kind": kind, "step": step, "time": time, **more}


@pytest.mark.parametrize(
    ("events", "now", "left"),
    [
        ([], 0, None),
        ([event("step", 5, 10)], 10, None),
        ([event("start", 0, 0)], 10, None),
        ([event("start", 0, 0, steps="100")], 10, None),
        ([event("start", 0, 0, steps=100)], 10, None),
        ([event("start", 0, 0, steps=100), event("step", 1, 1)], 1, None),
        ([event("start", 0, 0, steps=100), event("step", 10, 20)], 20, 180),
        ([event("start", 0, 0, steps=100), event("step", 10, 20)], 50, 150),
        ([event("start", 0, 0, steps=100), event("step", 10, 20)], 10, 180),
        ([event("start", 0, 0, steps=100), event("step", 10, 20)], 5000, 0),
        ([event("start", 0, 0, steps=100), event("step", 50, 9), event("start", 50, 100, steps=100),
          event("step", 60, 110)], 110, 40),
        ([event("start", 0, 0, steps=100), event("done", 100, 20)], 20, 0),
    ],
)  # fmt: skip
def test_seconds_left_follows_from_the_events_since_the_last_start(events, now, left):
    assert seconds_left(events, now) == left
