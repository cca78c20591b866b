"""Training curves: the events of runs as a few points for a widget, and as CSV."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from struct import Struct, error
from typing import Any

import numpy as np

from vsdemo.core.nested import flatten
from vsdemo.plots.region_marks import COLOURS

POINTS = 400  # points of a line, at most
LARGEST = 1e300  # larger numbers count as infinite, so that sums of numbers stay finite
MAX_STEP = 2**53  # a float holds every whole number below it
DIGITS = 5  # significant ones, as the trainer writes them
MAX_CACHED = 12  # runs whose numbers are kept, since the page asks for them each second
BLOCK = 500  # events that are read at once; a malformed one slows down its block only
PANELS = {  # panel: its key in `step` events
    "loss": "loss",
    "learning_rate": "learning_rate",
    "throughput": "pairs_per_second",
}
SELECTION_METRICS = ("rsum", "accuracy")  # of `eval` events; choose the checkpoint
RECALLS = (1, 5, 10)
COMMON_KEYS = ("kind", "step", "time")  # of every event
DASHES = ("solid", "9px,4px", "3px,3px", "9px,3px,3px,3px", "16px,4px", "16px,3px,3px,3px")
MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError, error)
pack = Struct("4d").pack

Event = Mapping[str, Any]
Line = dict[str, list[float]]


@dataclass
class _ReadRun:
    """What has been read of a run so far: its events, the packed `step` events, and the others."""

    events: list[Event] = field(default_factory=list)
    table: bytes = b""
    others: list[Event] = field(default_factory=list)


_cache: dict[str, _ReadRun] = {}  # by the name of the run


def curves(runs: Mapping[str, Sequence[Event]]) -> dict[str, Any]:
    """Return the curves of some runs.

    Malformed events are left out, and so are values that are missing or not finite. Events must
    not be changed afterwards, since what is read of a growing run is cached.

    Args:
        runs: Name of a run -> its events.

    Returns:
        {"runs": [{name, colour, dash, loss, dev, learning_rate, throughput}]}, where the last four
        are panels {name of a line: {"x": steps, "y": values}} with at most POINTS a line. `dev`
        begins with the metric that the checkpoint is chosen by; R@K is the mean of both directions.
    """
    result = []
    for number, (name, events) in enumerate(runs.items()):
        result.append(
            {
                "name": str(name),
                "colour": COLOURS[number % len(COLOURS)],
                "dash": DASHES[number % len(DASHES)],
                **_panels(str(name), events),
            }
        )
    return {"runs": result}


def csv_text(events: Sequence[Event]) -> str:
    """Return each event as a row: kind, step, time, then every number of any event.

    Columns are in order of first appearance; nested keys are joined by dots. Malformed events,
    configurations, texts and lists are left out. Missing numbers are empty.
    """
    rows: list[dict[str, Any]] = []
    for event in events:
        if isinstance(event, dict):
            row: dict[str, Any] = {}
            row |= flatten({key: value for key, value in event.items() if key != "config"})
            if isinstance(event.get("kind"), str):
                row["kind"] = event["kind"]
            rows.append(row)
    names = list(dict.fromkeys(chain(COMMON_KEYS, *rows)))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _is_finite(value: Any) -> bool:
    """Return whether a value is a number of moderate size; a boolean counts as one."""
    return isinstance(value, (int, float)) and -LARGEST <= value <= LARGEST


def _panels(name: str, events: Sequence[Event]) -> dict[str, dict[str, Line]]:
    steps, others = _read(name, events)
    lines = _lines(steps, list(PANELS.values()))
    panels = {panel: {key: lines[key]} if key in lines else {} for panel, key in PANELS.items()}
    return {**panels, "dev": _dev(others)}


def _read(name: str, events: Sequence[Event]) -> tuple[np.ndarray, list[Event]]:
    """Return the `step` events as a table, and all other events.

    If the run of this name has only grown, only its new events are read.

    Returns:
        `(N, 1 + panels)`, the step and the values, NaN where one is missing; and the other events.
    """
    events = list(events)
    run = _cache.pop(name, _ReadRun())
    if events[: len(run.events)] != run.events:  # fast, since these are mostly the same objects
        run = _ReadRun()
    tables, others = [run.table], [*run.others]
    for start in range(len(run.events), len(events), BLOCK):
        block = events[start : start + BLOCK]
        rest: list[Event] = []
        try:
            tables.append(_pack_steps(block, rest))
        except MALFORMED:
            wellformed = [event for event in block if isinstance(event, dict)]
            rest = [event for event in wellformed if event.get("kind") != "step"]
            steps = [event for event in wellformed if event.get("kind") == "step"]
            columns = [_column(steps, itemgetter(key)) for key in ("step", *PANELS.values())]
            tables.append(np.stack(columns, axis=1).tobytes())
        others += rest
    table = b"".join(tables)
    _cache[name] = _ReadRun(events=events, table=table, others=others)
    for oldest in list(_cache)[:-MAX_CACHED]:
        _cache.pop(oldest, None)
    return np.frombuffer(table).reshape(-1, 1 + len(PANELS)), others


def _pack_steps(block: Sequence[Event], rest: list[Event]) -> bytes:
    """Return the numbers of `step` events, and append other events to `rest`.

    The keys are written out, since tens of thousands of events are read each second.

    Raises:
        MALFORMED: If a value is missing or has another type.
    """

    def set_aside(event: Event) -> bytes:
        rest.append(event)
        return b""

    return b"".join(
        [
            pack(e["step"], e["loss"], e["learning_rate"], e["pairs_per_second"])
            if e["kind"] == "step"
            else set_aside(e)
            for e in block
        ]
    )


def _column(events: Sequence[Event], read: Callable[[Event], Any]) -> np.ndarray:
    """Return `(N,)`, what `read` returns for each event; NaN where that is not a number."""

    def read_safely(event: Event) -> float:
        try:
            number = read(event)
        except MALFORMED:
            return np.nan
        return number if _is_finite(number) else np.nan

    try:
        return np.array(array("d", map(read, events)))
    except MALFORMED:
        return np.array([read_safely(event) for event in events], dtype=float)


def _dev(events: Sequence[Event]) -> dict[str, Line]:
    """Return the lines of `eval` events, first that of the metric that chooses the checkpoint."""
    evals = [event for event in events if event.get("kind") == "eval"]
    candidates = [*SELECTION_METRICS]
    for event in events:
        if event.get("kind") == "checkpoint":
            candidates += event
    readers: dict[str, Callable[[Event], Any]] = {}
    for name in candidates:
        if name not in COMMON_KEYS and any(_is_finite(event.get(name)) for event in evals):
            readers[name] = itemgetter(name)
            break
    for k in RECALLS:
        readers[f"R@{k}"] = _mean_recall(f"r{k}")
    columns = [_column(evals, itemgetter("step"))]
    columns += [_column(evals, read) for read in readers.values()]
    return _lines(np.stack(columns, axis=1), list(readers))


def _mean_recall(name: str) -> Callable[[Event], float]:
    """Return a function that reads the mean recall of both directions from an event."""

    def read(event: Event) -> float:
        mean: float = (event["i2t"][name] + event["t2i"][name]) / 2
        return mean

    return read


def _lines(table: np.ndarray, names: Sequence[str]) -> dict[str, Line]:
    """Return the lines of a table, without values that are not finite, and without empty lines.

    Args:
        table: `(N, 1 + names)`, steps and values.
        names: Names of the columns after the first.
    """
    finite = np.abs(table) <= LARGEST  # false for NaN
    finite[:, 0] &= (table[:, 0] >= 0) & (table[:, 0] < MAX_STEP)
    columns = range(1, 1 + len(names))
    groups = [[*columns]] if finite.all() else [[column] for column in columns]
    lines: dict[str, Line] = {}
    for group in groups:  # all columns at once are faster
        used = [0, *group]
        points = _thin(table[finite[:, used].all(1)][:, used])
        steps = np.rint(points[:, 0]).astype(np.int64).tolist()
        values = _rounded(points[:, 1:]).T.tolist()
        for column, y in zip(group, values, strict=True):
            lines[names[column - 1]] = {"x": steps, "y": y}
    return {name: line for name, line in lines.items() if line["x"]}


def _thin(table: np.ndarray) -> np.ndarray:
    """Return at most POINTS rows `(P, C)` of a table `(N, C)`, ordered by the first column.

    The first and the last row stay; between them are means over buckets of neighbours.
    """
    if np.any(np.diff(table[:, 0]) < 0):
        table = table[np.argsort(table[:, 0], kind="stable")]
    last = len(table) - 1
    if last < POINTS:
        return table
    # Sizes are powers of two, so that most buckets stay the same while the run grows.
    size = next(2**i for i in range(1, 64) if last - 1 <= (POINTS - 2) * 2**i)
    starts = np.arange(1, last, size)
    counts = np.diff(starts, append=last)
    means = np.add.reduceat(table[:last], starts, axis=0) / counts[:, None]
    return np.concatenate([table[:1], means, table[last:]])


def _rounded(values: np.ndarray) -> np.ndarray:
    """Return values rounded to DIGITS significant digits, or to whole numbers if larger."""
    sizes = np.abs(values)
    powers = np.floor(np.log10(np.where(sizes > 0, sizes, 1)))
    scale = 10.0 ** np.clip(DIGITS - 1 - powers, 0, 300)
    return np.asarray(np.round(values * scale) / scale)
