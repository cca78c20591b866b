"""The progress of the run that is shown in full, as values of its templates."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from vsdemo.core.event_reader import last_lines, parse_progress_bar
from vsdemo.core.events import Event
from vsdemo.core.language import message, translate
from vsdemo.training.jobs.jobs import Run
from vsdemo.ui.components import html
from vsdemo.ui.components.templates import render
from vsdemo.ui.training.facts import STATE_NAMES, facts, total_steps

KILLED = message(
    "Its process was killed, or the machine ran out of memory. "
    "It can be resumed from what it saved."
)
LOG_LINES = 12


def status(run: Run, state: str, now: float, *, is_own: bool) -> Markup:
    """Return the progress of a run, and buttons to control it.

    Args:
        run: The run.
        state: Its state.
        now: Seconds since 1970.
        is_own: Whether the visitor may change the run.
    """
    events, is_alive = run.events, run.alive
    return render(
        "training/status.html",
        name=run.name,
        state=state,
        state_name=translate(STATE_NAMES[state]),
        reason=_reason(run, state),
        progress=_progress(run, events, state),
        facts=facts(events, state, now),
        can_stop=is_own and is_alive,
        can_resume=is_own and not is_alive and state in ("stopped", "failed", "killed"),
        can_use=is_own and (run.folder / "model.safetensors").exists(),
    )


def _reason(run: Run, state: str) -> str:
    """Return why a run ended before it was done; empty if it was stopped by a visitor."""
    if state == "failed":
        return translate(run.problem)
    return translate(KILLED) if state == "killed" else ""


def _progress(run: Run, events: Sequence[Event], state: str) -> Markup:
    """Return a progress bar; empty for a run that does nothing at the moment."""
    if state == "training" and events:
        return render("training/steps.html", done=events[-1]["step"], total=total_steps(events))
    if state in ("preparing", "measuring"):
        lines = last_lines(run.folder / "log.txt", 1)
        if lines and (bar := parse_progress_bar(lines[0])):
            return html.progress(bar.label, bar.done, bar.total)
        is_starting = state == "preparing"
        return html.progress(translate("Starting") if is_starting else translate("Evaluating"))
    return Markup()


def log(run: Run) -> Markup:
    """Return the end of the trainer's log; empty if there is none."""
    lines = last_lines(run.folder / "log.txt", LOG_LINES)
    return render("training/log.html", text="\n".join(lines)) if lines else Markup()
