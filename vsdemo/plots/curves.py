"""Training curves: what the events of runs hold as data for a widget, in few points; as CSV."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from struct import Struct, error
from typing import Any

import numpy as np

from vsdemo.core.nested import flatten
from vsdemo.plots.region_marks import COLOURS

POINTS = 400  # of a line, at most
LARGEST = 1e300  # larger ones count as infinite: sums of numbers below it are finite
STEPS = 2**53  # below it, a float holds every whole number
DIGITS = 5  # significant ones, as the trainer writes them
REMEMBERED = 12  # runs whose numbers are kept, for they are asked for again each second
BLOCK = 500  # events that are read together; one that is malformed slows down its block only
PANELS = {  # panel: what `step` events call it
    "loss": "loss",
    "learning_rate": "learning_rate",
    "throughput": "pairs_per_second",
}
CHOSEN_BY = ("rsum", "accuracy")  # figures of an `eval` event that choose the checkpoint
RECALLS = (1, 5, 10)
FRAME = ("kind", "step", "time")  # what every event has
DASHES = ("solid", "9px,4px", "3px,3px", "9px,3px,3px,3px", "16px,4px", "16px,3px,3px,3px")
MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError, error)
pack = Struct("4d").pack

Event = Mapping[str, Any]
Line = dict[str, list[float]]

_read_before: dict[str, tuple[list[Event], bytes, list[Event]]] = {}  # run name -> what was read


def curves(runs: Mapping[str, Sequence[Event]]) -> dict[str, Any]:
    """Run name -> its events, to {"runs": [{name, colour, dash, loss, dev, learning_rate,
    throughput}]}, each panel as {figure: {x: steps, y: values}}, at most POINTS a line.

    `dev` begins with the figure that the run was chosen by; R@K is the mean over both directions.
    What is missing, no number or not finite is left out, and so are malformed events. An event
    is not to be changed after it was given: what was read of a run is remembered while it grows.
    """
    told = []
    for number, (name, events) in enumerate(runs.items()):
        mark = {"colour": COLOURS[number % len(COLOURS)], "dash": DASHES[number % len(DASHES)]}
        told.append({"name": str(name), **mark, **_panels(str(name), events)})
    return {"runs": told}


def csv_text(events: Sequence[Event]) -> str:
    """Each event as a row: kind, step, time, then every number found in any of them, nested keys
    joined by dots, in order of first appearance. Malformed events, configurations, texts and
    lists are left out; numbers that an event does not have are empty."""
    rows = []
    for event in events:
        if isinstance(event, dict):
            kind = {"kind": event["kind"]} if isinstance(event.get("kind"), str) else {}
            rows.append(flatten({k: v for k, v in event.items() if k != "config"}) | kind)
    names = list(dict.fromkeys(chain(FRAME, *rows)))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and -LARGEST <= value <= LARGEST


def _panels(name: str, events: Sequence[Event]) -> dict[str, dict[str, Line]]:
    steps, others = _read(name, events)
    lines = _lines(steps, list(PANELS.values()))
    panels = {p: {name: lines[name]} if name in lines else {} for p, name in PANELS.items()}
    return {**panels, "dev": _dev(others)}


def _read(name: str, events: Sequence[Event]) -> tuple[np.ndarray, list[Event]]:
    """(N, 1 + panels) step and figures of `step` events, nan where one is missing; and what is
    no `step` event. Where the run of this name has only grown, reads what is new."""
    events = list(events)
    before, table, others = _read_before.pop(name, ([], b"", []))
    if events[: len(before)] != before:  # in a moment: mostly they are the very same objects
        before, table, others = [], b"", []
    found, others = [table], [*others]
    for start in range(len(before), len(events), BLOCK):
        block, rest = events[start : start + BLOCK], []
        try:
            found.append(_packed(block, rest))
        except MALFORMED:
            whole = [e for e in block if isinstance(e, dict)]
            rest = [e for e in whole if e.get("kind") != "step"]
            steps = [e for e in whole if e.get("kind") == "step"]
            columns = [_column(steps, itemgetter(key)) for key in ("step", *PANELS.values())]
            found.append(np.stack(columns, axis=1).tobytes())
        others += rest
    table = b"".join(found)
    _read_before[name] = events, table, others
    for oldest in list(_read_before)[:-REMEMBERED]:
        _read_before.pop(oldest, None)
    return np.frombuffer(table).reshape(-1, 1 + len(PANELS)), others


def _packed(block: Sequence[Event], rest: list[Event]) -> bytes:
    """The numbers of `step` events, other events go to `rest`. Raises MALFORMED for what is
    missing or has another type. Written out, for it reads ten thousands of events each second."""

    def aside(event: Event) -> bytes:
        rest.append(event)
        return b""

    return b"".join(
        [
            pack(e["step"], e["loss"], e["learning_rate"], e["pairs_per_second"])
            if e["kind"] == "step"
            else aside(e)
            for e in block
        ]
    )


def _column(events: Sequence[Event], read: Callable[[Event], float]) -> np.ndarray:
    """(N,) what is read of each event, nan where that is no number."""

    def safely(event: Event) -> float:
        try:
            return number if _finite(number := read(event)) else np.nan
        except MALFORMED:
            return np.nan

    try:
        return np.array(array("d", map(read, events)))
    except MALFORMED:
        return np.array([safely(event) for event in events], dtype=float)


def _dev(events: Sequence[Event]) -> dict[str, Line]:
    """The lines of `eval` events, that of the figure that chose the run first."""
    evals = [e for e in events if e.get("kind") == "eval"]
    told = [*CHOSEN_BY, *(k for e in events if e.get("kind") == "checkpoint" for k in e)]
    names = [n for n in told if n not in FRAME and any(_finite(e.get(n)) for e in evals)]
    figures = {name: itemgetter(name) for name in names[:1]}
    figures |= {f"R@{k}": partial(_recall, name=f"r{k}") for k in RECALLS}
    columns = [_column(evals, read) for read in (itemgetter("step"), *figures.values())]
    return _lines(np.stack(columns, axis=1), list(figures))


def _recall(event: Event, name: str) -> float:
    """The mean over both directions. Raises MALFORMED unless both are there."""
    return (event["i2t"][name] + event["t2i"][name]) / 2


def _lines(table: np.ndarray, names: Sequence[str]) -> dict[str, Line]:
    """table: (N, 1 + names) steps and values. Lines without what is not finite; none if empty."""
    good = np.abs(table) <= LARGEST  # nan is not
    good[:, 0] &= (table[:, 0] >= 0) & (table[:, 0] < STEPS)
    numbers = range(1, 1 + len(names))
    lines = {}
    for together in [numbers] if good.all() else [[i] for i in numbers]:  # at once is faster
        columns = [0, *together]
        points = _points(table[good[:, columns].all(1)][:, columns])
        steps = np.rint(points[:, 0]).astype(np.int64).tolist()
        values = _rounded(points[:, 1:]).T.tolist()
        lines |= {names[i - 1]: {"x": steps, "y": v} for i, v in zip(together, values, strict=True)}
    return {name: line for name, line in lines.items() if line["x"]}


def _points(table: np.ndarray) -> np.ndarray:
    """(N, C) to (at most POINTS, C), by the first column: the first and the last row, and means
    over buckets of neighbours between them."""
    if np.any(np.diff(table[:, 0]) < 0):
        table = table[np.argsort(table[:, 0], kind="stable")]
    last = len(table) - 1
    if last < POINTS:
        return table
    # Sizes double, so that most buckets stay as they are while the run goes on.
    size = next(2**i for i in range(1, 64) if last - 1 <= (POINTS - 2) * 2**i)
    starts = np.arange(1, last, size)
    counts = np.diff(starts, append=last)
    means = np.add.reduceat(table[:last], starts, axis=0) / counts[:, None]
    return np.concatenate([table[:1], means, table[last:]])


def _rounded(values: np.ndarray) -> np.ndarray:
    """To DIGITS significant digits, but never less than to whole numbers."""
    sizes = np.abs(values)
    powers = np.floor(np.log10(np.where(sizes > 0, sizes, 1)))
    scale = 10.0 ** np.clip(DIGITS - 1 - powers, 0, 300)
    return np.round(values * scale) / scale
