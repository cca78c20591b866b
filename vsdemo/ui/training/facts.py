"""Facts of a run in plain words, for its status and for the list of all runs."""

from __future__ import annotations

from collections.abc import Sequence

from vsdemo.core import event_reader
from vsdemo.core.event_reader import seconds_left
from vsdemo.core.events import Event
from vsdemo.core.language import message, number, translate
from vsdemo.training.jobs.jobs import ALIVE
from vsdemo.ui.components.html import duration

STATE_NAMES = {  # state of a run: how the page calls it
    "preparing": message("preparing"),
    "training": message("training"),
    "measuring": message("evaluating on dev and test"),
    "stopping": message("saving and stopping"),
    "done": message("done"),
    "stopped": message("stopped"),
    "failed": message("failed"),
    "killed": message("stopped unexpectedly"),
    "gone": message("folder removed"),
}
METRIC_NAMES = {"accuracy": message("accuracy")}  # those that are words


def facts(events: Sequence[Event], state: str, now: float) -> list[str]:
    """Return how far a run is, its best metric, and how long it takes or took.

    Args:
        events: The events of the run.
        state: Its state.
        now: Seconds since 1970.
    """
    texts = []
    if steps := total_steps(events):
        step = number(events[-1]["step"])
        texts.append(translate("step {step} of {steps}", step=step, steps=number(steps)))
    if epochs := [e["epoch"] for e in events if e["kind"] == "eval" and "epoch" in e]:
        texts.append(translate("epoch {epoch}", epoch=epochs[-1]))
    if metric := best(events):
        if state in ALIVE:
            texts.append(translate("best on dev so far: {metric}", metric=metric))
        else:
            texts.append(translate("best on dev: {metric}", metric=metric))
    if state == "training":
        left = seconds_left(events, now)
        if left is None:
            texts.append(translate("almost done"))
        else:
            texts.append(translate("about {time} left", time=duration(left)))
    ends = [e["seconds"] for e in events if e["kind"] in ("done", "stopped") and "seconds" in e]
    if ends and state not in ALIVE:
        texts.append(translate("trained for {time}", time=duration(ends[-1])))
    return texts


def total_steps(events: Sequence[Event]) -> int:
    """Return how many steps a run has in all; 0 if that is unknown."""
    start = next((e for e in reversed(events) if e["kind"] == "start"), {})
    return int(start.get("steps") or 0)


def best(events: Sequence[Event]) -> str:
    """Return the best metric on dev so far, such as "rsum 312.4"."""
    metric = event_reader.best_metric(events)
    if metric is None:
        return ""
    name, value = metric
    return f"{translate(METRIC_NAMES.get(name, name))} {number(value, 1)}"
