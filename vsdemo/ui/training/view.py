"""The HTML of training: runs, their progress and the photos they retrieve, all escaped."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any, TypeVar

from vsdemo.core import event_reader
from vsdemo.core.event_reader import last_lines, parse_progress_bar, seconds_left
from vsdemo.core.events import Event
from vsdemo.training.jobs.jobs import ALIVE, Run
from vsdemo.training.requirements import Check
from vsdemo.ui.components import html
from vsdemo.ui.components.html import PhotoAddress

T = TypeVar("T")
STATES = {  # state of a run: how the page calls it
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
KILLED = (
    "Its process was killed, or the machine ran out of memory. "
    "It can be resumed from what it saved."
)
LOG_LINES = 12
TITLES = ("Shown", "Run", "Data", "Changed", "State", "On dev", "")


def command(text: str) -> str:
    """Return a command line to copy."""
    return (
        f'<div class="command"><code tabindex="0">$ {escape(text)}</code><button type="button" '
        f'class="text-button" data-copy="{escape(text)}">Copy</button></div>'
    )


def checks(results: Sequence[Check]) -> str:
    """Return what a training needs, and whether it is available."""
    rows = ""
    for check in results:
        kind, mark, prefix = ("here", "✓", "") if check.ok else ("missing", "✗", "Missing: ")
        rows += (
            f'<li class="{kind}"><span aria-hidden="true">{mark}</span> '
            f"{prefix}{escape(check.message)}</li>"
        )
    return f'<ul class="checks">{rows}</ul>'


def best(events: Sequence[Event]) -> str:
    """Return the best metric on dev so far, such as "rsum 312.4"."""
    metric = event_reader.best_metric(events)
    return f"{metric[0]} {metric[1]:.1f}" if metric else ""


def duration(seconds: float) -> str:
    """Return a duration, rounded to a readable unit."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 5400 else f"{whole / 3600:.1f} h"


def status(run: Run, state: str, now: float) -> str:
    """Return the progress of a run, and buttons to control it."""
    events = run.events
    title = (
        f'<strong>{escape(run.name)}</strong> <span class="state {state}">{STATES[state]}</span>'
    )
    if state in ("failed", "killed"):
        reason = run.problem if state == "failed" else KILLED
        title += f'<span class="note problem">{escape(reason)}</span>'
    return (
        f'<section class="run" data-address="tab=train&amp;run={escape(run.name)}">'
        f'<p class="name">{title}</p>{_progress(run, events, state)}'
        f'<p class="note">{escape(" · ".join(_facts(events, state, now)))}</p>'
        f'<div class="action-row">{_buttons(run, state)}</div></section>'
    )


def _progress(run: Run, events: Sequence[Event], state: str) -> str:
    if state == "training" and events:
        steps = next(e.get("steps", 0) for e in reversed(events) if e["kind"] == "start")
        return (
            f'<progress max="{steps}" value="{events[-1]["step"]}" aria-label="steps"></progress>'
        )
    if state in ("preparing", "measuring"):
        lines = last_lines(run.folder / "log.txt", 1)
        if lines and (bar := parse_progress_bar(lines[0])):
            return html.progress(*bar)
        return html.progress("Starting" if state == "preparing" else "Evaluating")
    return ""


def _facts(events: Sequence[Event], state: str, now: float) -> list[str]:
    facts = []
    start = next((e for e in reversed(events) if e["kind"] == "start"), {})
    if steps := start.get("steps"):
        facts.append(f"step {events[-1]['step']:,} of {steps:,}")
    if epochs := [e["epoch"] for e in events if e["kind"] == "eval" and "epoch" in e]:
        facts.append(f"epoch {epochs[-1]}")
    if metric := best(events):
        so_far = " so far" if state in ALIVE else ""
        facts.append(f"best on dev{so_far}: {metric}")
    if state == "training":
        left = seconds_left(events, now)
        facts.append("almost done" if left is None else f"about {duration(left)} left")
    ends = [e["seconds"] for e in events if e["kind"] in ("done", "stopped") and "seconds" in e]
    if ends and state not in ALIVE:
        facts.append(f"trained for {duration(ends[-1])}")
    return facts


def _buttons(run: Run, state: str) -> str:
    buttons = []
    if run.alive:
        buttons.append(_button("stop", "Stop", "Save and stop; it can be resumed"))
    elif state in ("stopped", "failed", "killed"):
        buttons.append(_button("play", "Resume", "Continue from the last save"))
    if (run.folder / "model.safetensors").exists():
        buttons.append(
            _button("apply", "Use in Search", "Add this model to the app and search with it")
        )
    buttons.append(
        f'<a class="action-button" href="runs/{escape(run.name)}/events.csv" download>CSV</a>'
    )
    return "".join(buttons)


def _button(event: str, label: str, title: str) -> str:
    return (
        f'<button type="button" class="action-button" data-event="{event}" data-keep-scroll '
        f'title="{escape(title)}">{escape(label)}</button>'
    )


def log(run: Run) -> str:
    """Return the end of the trainer's log."""
    lines = last_lines(run.folder / "log.txt", LOG_LINES)
    if not lines:
        return ""
    text = "\n".join(lines)
    return f'<pre class="log" tabindex="0">{escape(text)}</pre>'


def watched(events: Sequence[Event]) -> list[str]:
    """Return the sentences that a run searches photos for at each evaluation."""
    searches = _searches(events)
    return [str(item.get("sentence", "")) for item in searches[-1][1]] if searches else []


def _searches(events: Sequence[Event]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return (when, result for each watched sentence) of each evaluation."""
    searches = []
    for event in events:
        items = event.get("watched")
        if isinstance(items, list) and items:
            when = f"epoch {event['epoch']}" if "epoch" in event else "before training"
            searches.append((when, [item for item in items if isinstance(item, dict)]))
    return searches


def watched_results(
    events: Sequence[Event], sentence: int, address: PhotoAddress, *, is_alive: bool
) -> str:
    """Return the photos that a run retrieves for a watched sentence, newest evaluation first.

    Args:
        events: The events of the run.
        sentence: Number of the sentence.
        address: Addresses of photos.
        is_alive: Whether the run is still training.
    """
    searches = [
        (when, items[sentence]) for when, items in _searches(events) if sentence < len(items)
    ]
    if not searches:
        return html.note("Photos appear after the first evaluation.") if is_alive else ""
    chips = "".join(
        '<button type="button" class="chip" data-event="select" data-keep-scroll '
        f'data-number="{i}" aria-pressed="{str(i == sentence).lower()}">'
        f"{escape(html.tidy(text))}</button>"
        for i, text in enumerate(watched(events))
    )
    rows = "".join(_find_row(when, item, address) for when, item in thin_out(searches)[::-1])
    return f'<div class="examples">{chips}</div><ol class="watched-results">{rows}</ol>'


def thin_out(searches: Sequence[T]) -> list[T]:
    """Return the first four, the last, and others at growing distances: most is learned early."""
    last = len(searches) - 1
    return [
        search
        for i, search in enumerate(searches)
        if i < 4 or i == last or (i & (i - 1)) == 0  # powers of two
    ]


def _find_row(when: str, item: dict[str, Any], address: PhotoAddress) -> str:
    own = item.get("own") or {}
    cards = []
    for number in item.get("photos", []):
        mark, alt = "", "A retrieved photo"
        if number == own.get("photo"):
            mark, alt = ' class="right"', "The photo of this caption"
        cards.append(
            f'<li{mark}><img src="{address(int(number), "small")}" alt="{alt}" loading="lazy" '
            'decoding="async"></li>'
        )
    rank = f'<span class="note">its photo: rank {own["rank"]}</span>' if own.get("rank") else ""
    return f"<li><h3>{escape(when)}{rank}</h3><ul>{''.join(cards)}</ul></li>"


def run_table(runs: Sequence[Run], shown: Collection[str]) -> str:
    """Return all runs, the newest first, to show and to compare."""
    if not runs:
        return html.note("No runs yet. Your trainings appear here.")
    rows = "".join(_run_row(run, run.state, is_shown=run.name in shown) for run in runs)
    head = "".join(f"<th>{title}</th>" for title in TITLES)
    return f'<div class="wide"><table class="runs"><tr>{head}</tr>{rows}</table></div>'


def _run_row(run: Run, state: str, *, is_shown: bool) -> str:
    started = datetime.fromtimestamp(run.started, UTC).astimezone().strftime("%d %b, %H:%M")
    name, pressed = escape(run.name), f'aria-pressed="{str(is_shown).lower()}"'
    attributes = f'type="button" data-keep-scroll data-name="{name}"'
    delete = (
        f'<button {attributes} class="text-button" data-event="delete" '
        f'aria-label="Delete {name}">Delete</button>'
    )
    cells = [
        f'<button {attributes} class="pick" data-event="select" {pressed} '
        f'aria-label="Compare {name}">{"●" if is_shown else "○"}</button>',
        f'<button {attributes} class="text-button" data-event="apply">{name}</button>'
        f'<span class="note">{started}</span>',
        escape(run.spec.dataset or "its own"),
        f"<code>{escape(' '.join(run.spec.settings)) or 'nothing'}</code>",
        f'<span class="state {state}">{STATES[state]}</span>',
        escape(best(run.events)),
        "" if state in ALIVE else delete,
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def closed(command: str) -> str:
    """Return what the tab shows where training is off."""
    return html.message(
        "Training is off on this public server. To train on your own machine, run "
        f"`pip install -r requirements.txt && python app.py`, or in a terminal `{command}`. "
        "The owner of this server can allow it with `VSDEMO_ALLOW_TRAINING=1`."
    )
