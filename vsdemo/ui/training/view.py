"""The HTML of training: runs, how far they are, what they find. Pure functions, all escaped."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any, TypeVar

from vsdemo.core import event_reader
from vsdemo.core.event_reader import last_lines, parse_progress_bar, seconds_left
from vsdemo.core.events import Event
from vsdemo.training.jobs.jobs import ALIVE, Run
from vsdemo.training.preflight import Check
from vsdemo.ui.components import html
from vsdemo.ui.components.html import Source

T = TypeVar("T")
SAID = {  # state: what a visitor reads
    "preparing": "getting ready",
    "training": "learning",
    "measuring": "being measured on dev and test",
    "stopping": "saving, then it stops",
    "done": "done",
    "stopped": "stopped",
    "failed": "broke off",
    "killed": "ended without a word",
    "gone": "its folder was removed",
}
LINES = 12  # of the log
TITLES = ("Shown", "Run", "Data", "Changed", "State", "On dev", "")


def command(text: str) -> str:
    """A command line to copy."""
    return (
        f'<div class="command"><code tabindex="0">$ {escape(text)}</code><button type="button" '
        f'class="to" data-copy="{escape(text)}">Copy</button></div>'
    )


def checks(found: Sequence[Check]) -> str:
    """What a training needs, and whether it is there."""
    rows = (
        f'<li class="{"here" if check.ok else "missing"}"><span aria-hidden="true">'
        f"{'✓' if check.ok else '✗'}</span> {'' if check.ok else 'Missing: '}"
        f"{escape(check.message)}"
        "</li>"
        for check in found
    )
    return f'<ul class="checks">{"".join(rows)}</ul>'


def best(events: Sequence[Event]) -> str:
    """The best figure on dev so far, such as "rsum 312.4"."""
    told = event_reader.best_metric(events)
    return f"{told[0]} {told[1]:.1f}" if told else ""


def lasting(seconds: float) -> str:
    """A time for people."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 5400 else f"{whole / 3600:.1f} h"


def status(run: Run, state: str, now: float) -> str:
    """How far a run is, what it does, and what can be done with it."""
    events = run.events
    words = f'<strong>{escape(run.name)}</strong> <span class="state {state}">{SAID[state]}</span>'
    if state in ("failed", "killed"):
        words += f'<span class="note problem">{escape(_why(run, state))}</span>'
    return (
        f'<section class="run" data-address="tab=train&amp;run={escape(run.name)}">'
        f'<p class="name">{words}</p>{_progress(run, events, state)}'
        f'<p class="note">{escape(" · ".join(_facts(events, state, now)))}</p>'
        f'<div class="under">{_buttons(run, state)}</div></section>'
    )


def _why(run: Run, state: str) -> str:
    if state == "failed":
        return run.problem
    return "Its process was killed, or the machine ran out of memory; what it saved is still here."


def _progress(run: Run, events: Sequence[Event], state: str) -> str:
    if state == "training" and events:
        steps = next(e.get("steps", 0) for e in reversed(events) if e["kind"] == "start")
        label = "steps"
        return (
            f'<progress max="{steps}" value="{events[-1]["step"]}" aria-label="{label}"></progress>'
        )
    if state in ("preparing", "measuring"):
        lines = last_lines(run.folder / "log.txt", 1)
        if lines and (found := parse_progress_bar(lines[0])):
            return html.progress(*found)
        return html.progress("Starting" if state == "preparing" else "Measuring", 0, 0)
    return ""


def _facts(events: Sequence[Event], state: str, now: float) -> list[str]:
    facts = []
    begun = next((e for e in reversed(events) if e["kind"] == "start"), {})
    if steps := begun.get("steps"):
        facts.append(f"step {events[-1]['step']:,} of {steps:,}")
    if epochs := [e["epoch"] for e in events if e["kind"] == "eval" and "epoch" in e]:
        facts.append(f"epoch {epochs[-1]}")
    if found := best(events):
        facts.append(f"best on dev so far: {found}" if state in ALIVE else f"best on dev: {found}")
    if state == "training":
        left = seconds_left(events, now)
        facts.append(f"about {lasting(left)} left" if left is not None else "time left: soon")
    ended = [e["seconds"] for e in events if e["kind"] in ("done", "stopped") and "seconds" in e]
    if ended and state not in ALIVE:
        facts.append(f"learnt for {lasting(ended[-1])}")
    return facts


def _buttons(run: Run, state: str) -> str:
    offered = []
    if run.alive:
        offered.append(_button("stop", "Stop", "Saves, then ends; it can go on later"))
    elif state in ("stopped", "failed", "killed"):
        offered.append(_button("play", "Go on", "From what was saved last"))
    if (run.folder / "model.safetensors").exists():
        offered.append(_button("apply", "Use in Search", "Offers it wherever a model is chosen"))
    offered.append(f'<a class="do" href="runs/{escape(run.name)}/events.csv" download>CSV</a>')
    return "".join(offered)


def _button(event: str, says: str, title: str) -> str:
    return (
        f'<button type="button" class="do" data-event="{event}" data-stay '
        f'title="{escape(title)}">{escape(says)}</button>'
    )


def log(run: Run) -> str:
    """The end of what the trainer printed."""
    lines = last_lines(run.folder / "log.txt", LINES)
    return f'<pre class="log" tabindex="0">{escape(chr(10).join(lines))}</pre>' if lines else ""


def watched(events: Sequence[Event]) -> list[str]:
    """The sentences that a run looks for at each evaluation."""
    looks = _looks(events)
    return [str(item.get("sentence", "")) for item in looks[-1][1]] if looks else []


def _looks(events: Sequence[Event]) -> list[tuple[str, list[dict[str, Any]]]]:
    """(when, what was found for each sentence) of every look."""
    found = []
    for event in events:
        items = event.get("watched")
        if isinstance(items, list) and items:
            when = f"epoch {event['epoch']}" if "epoch" in event else "before it learns"
            found.append((when, [item for item in items if isinstance(item, dict)]))
    return found


def finds(events: Sequence[Event], sentence: int, source: Source, alive: bool) -> str:
    """What is found for one of the sentences, evaluation by evaluation, the newest first."""
    looks = [(when, items[sentence]) for when, items in _looks(events) if sentence < len(items)]
    if not looks:
        waiting = "The photos come with the first evaluation." if alive else ""
        return html.note(waiting) if waiting else ""
    chips = "".join(
        f'<button type="button" class="chip" data-event="select" data-stay data-number="{i}" '
        f'aria-pressed="{str(i == sentence).lower()}">{escape(html.tidy(text))}</button>'
        for i, text in enumerate(watched(events))
    )
    rows = "".join(_row(when, item, source) for when, item in _some(looks)[::-1])
    return f'<div class="examples">{chips}</div><ol class="finds">{rows}</ol>'


def _some(looks: Sequence[T]) -> list[T]:
    """The first looks, the newest, and others at distances that grow: most is learnt early."""
    last = len(looks) - 1
    return [look for i, look in enumerate(looks) if i < 4 or i == last or i & (i - 1) == 0]


def _row(when: str, item: dict[str, Any], source: Source) -> str:
    own = item.get("own") or {}
    cards = []
    for number in item.get("photos", []):
        right = number == own.get("photo")
        mark = ' class="right"' if right else ""
        alt = "The photo it was written for" if right else "A photo found"
        cards.append(
            f'<li{mark}><img src="{source(int(number), "small")}" alt="{alt}" loading="lazy" '
            'decoding="async"></li>'
        )
    rank = f'<span class="note">its photo: place {own["rank"]}</span>' if own.get("rank") else ""
    return f"<li><h3>{escape(when)}{rank}</h3><ul>{''.join(cards)}</ul></li>"


def listed(runs: Sequence[Run], chosen: Collection[str]) -> str:
    """All runs, the newest first, with what differs between them, to look at and to compare."""
    if not runs:
        return html.note("No run yet: what you train stands here.")
    rows = "".join(_line(run, run.state, run.name in chosen) for run in runs)
    head = "".join(
        f"<th>{t}</th>" for t in ("Shown", "Run", "Data", "Changed", "State", "On dev", "")
    )
    return f'<div class="wide"><table class="runs"><tr>{head}</tr>{rows}</table></div>'


def _line(run: Run, state: str, shown: bool) -> str:
    begun = datetime.fromtimestamp(run.started, UTC).astimezone().strftime("%d %b, %H:%M")
    name, press = escape(run.name), f'aria-pressed="{str(shown).lower()}"'
    to = f'type="button" data-stay data-name="{name}"'
    gone = f'<button {to} class="to" data-event="delete" aria-label="Delete {name}">Delete</button>'
    cells = [
        f'<button {to} class="pick" data-event="select" {press} aria-label="Compare {name}">'
        f"{'●' if shown else '○'}</button>",
        f'<button {to} class="to" data-event="apply">{name}</button>'
        f'<span class="note">{begun}</span>',
        escape(run.spec.dataset or "its own"),
        f"<code>{escape(' '.join(run.spec.settings)) or 'nothing'}</code>",
        f'<span class="state {state}">{SAID[state]}</span>',
        escape(best(run.events)),
        "" if state in ALIVE else gone,
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def closed(command: str) -> str:
    """What a visitor reads where training is off."""
    return html.message(
        "Training is off where strangers visit, as it takes the whole machine. On your own it is "
        f"on: `pip install -r requirements.txt && python app.py`, or in a terminal `{command}`. "
        "Who runs this app allows it with `VSDEMO_ALLOW_TRAINING=1`."
    )
