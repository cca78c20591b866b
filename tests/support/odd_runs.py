"""Runs whose files are odd: wrong types, deep nesting, hostile texts, no files at all."""

import json
import os
from pathlib import Path

from hypothesis import strategies as st

from tests.support.hostile import HOSTILE

GOOD_PLAN = {"preset": "bow", "dataset": "toy", "settings": ["dim=8"], "watched": ["a dog"]}
GOOD_EVENTS = [
    {"kind": "start", "step": 0, "time": 1.0, "steps": 20, "config": {"dim": 8}},
    {"kind": "step", "step": 10, "time": 5.0, "loss": 0.5, "learning_rate": 0.1},
    {
        "kind": "eval",
        "step": 20,
        "time": 9.0,
        "epoch": 1,
        "rsum": 100.0,
        "i2t": {"r1": 5.0},
        "t2i": {"r1": 7.0},
        "watched": [
            {"sentence": "a dog", "photos": [1, 0], "own": {"photo": 1, "rank": 1}},
            {"sentence": "a cat", "photos": [0], "own": None},
        ],
    },
    {"kind": "checkpoint", "step": 20, "time": 9.0, "rsum": 100.0},
    {"kind": "done", "step": 20, "time": 9.5, "seconds": 8.0},
]
DEEP = "[" * 100_000
VALUES = (  # as JSON
    *("null", "true", "-1", "0", "1e999", "-1e999", "NaN", "Infinity", "1e300", "9" * 4000),
    *('""', '"x"', "[]", "{}", "[null]", '{"a": 1}', '"\\u001b[2J"', '"\\ud800"', '"\\u0000"'),
    json.dumps(HOSTILE),
    json.dumps([HOSTILE]),
    json.dumps({HOSTILE: HOSTILE}),
    json.dumps("x" * 200_000),
    "[" * 500 + "]" * 500,
    '{"a":' * 500 + "1" + "}" * 500,
    DEEP + "]" * 100_000,
    DEEP,
)
odd_values = st.sampled_from(VALUES)


def write_run(folder: Path, run_json: str, lines: list[str]) -> None:
    """Write a run of these texts."""
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(run_json)
    (folder / "events.jsonl").write_text("".join(line + "\n" for line in lines))
    (folder / "exit").write_text("0\n")


def good_run(plan: str = json.dumps(GOOD_PLAN), begun: str = "1e9") -> str:
    """Return the text of a run.json, with another plan or time, as JSON."""
    return f'{{"plan": {plan}, "begun": {begun}}}'


def with_value(record: dict, key: str, value: str) -> str:
    """Return a record as JSON with another value, as JSON, for a key."""
    return json.dumps(record | {key: "VALUE"}).replace('"VALUE"', value)


def write_odd_files(runs: Path) -> None:
    """Write runs, each of which has one odd file, and things that are no runs."""
    lines = [json.dumps(event) for event in GOOD_EVENTS]
    contents = (b"", b"\0" * 5000, b"\xff\xfe", DEEP.encode(), b"{" * 5000, os.urandom(3000))
    for name in ("run.json", "events.jsonl", "exit", "log.txt", "stopping", "pid", "owner"):
        for number, content in enumerate(contents):
            folder = runs / f"odd-{name.partition('.')[0]}-{number}"
            write_run(folder, good_run(), lines)
            (folder / name).write_bytes(content)
        for kind in ("folder", "pipe", "link"):
            folder = runs / f"odd-{name.partition('.')[0]}-{kind}"
            write_run(folder, good_run(), lines)
            (folder / name).unlink(missing_ok=True)
            if kind == "folder":
                (folder / name).mkdir()
            elif kind == "pipe":
                os.mkfifo(folder / name)
            else:
                (folder / name).symlink_to(name)
    for name in (
        HOSTILE.replace("/", ""),
        "a\nb",
        "\x1b[2J",
        b"\xff".decode(errors="surrogateescape"),
    ):
        write_run(runs / name, good_run(), lines)
    (runs / "no-folder").write_text("")
    large = {"name": "x" * 2_000_000}
    write_run(runs / "odd-large", json.dumps(large), lines)
