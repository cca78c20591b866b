"""Facts of a run in plain words, for its status and for the list of all runs."""

from __future__ import annotations

from collections.abc import Sequence

from vsdemo.core import event_reader
from vsdemo.core.event_reader import seconds_left
from vsdemo.core.events import Event
from vsdemo.training.jobs.jobs import ALIVE
from vsdemo.ui.components.html import duration

STATE_NAMES = {  # state of a run: how the page calls it
    "preparing": "preparing",
    "training": "training",
    "measuring": "evaluating on dev and test",
    "stopping": "saving and stopping",
    "done": "done",
    "stopped": "stopped",
    "failed": "failed",
    "killed": "stopped unexpectedly",
    "gone": "folder removed",
}


def facts(events: Sequence[Event], state: str, now: float) -> list[str]:
    """Return how far a run is, its best metric, and how long it takes or took.

    Args:
        events: The events of the run.
        state: Its state.
        now: Seconds since 1970.
    """
    texts = []
    if steps := total_steps(events):
        texts.append(f"step {events[-1]['step']:,} of {steps:,}")
    if epochs := [e["epoch"] for e in events if e["kind"] == "eval" and "epoch" in e]:
        texts.append(f"epoch {epochs[-1]}")
    if metric := best(events):
        so_far = " so far" if state in ALIVE else ""
        texts.append(f"best on dev{so_far}: {metric}")
    if state == "training":
        left = seconds_left(events, now)
        texts.append("almost done" if left is None else f"about {duration(left)} left")
    ends = [e["seconds"] for e in events if e["kind"] in ("done", "stopped") and "seconds" in e]
    if ends and state not in ALIVE:
        texts.append(f"trained for {duration(ends[-1])}")
    return texts


def total_steps(events: Sequence[Event]) -> int:
    """Return how many steps a run has in all; 0 if that is unknown."""
    start = next((e for e in reversed(events) if e["kind"] == "start"), {})
    return int(start.get("steps") or 0)


def best(events: Sequence[Event]) -> str:
    """Return the best metric on dev so far, such as "rsum 312.4"."""
    metric = event_reader.best_metric(events)
    return f"{metric[0]} {metric[1]:.1f}" if metric else ""
