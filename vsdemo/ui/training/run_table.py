"""The list of all runs, as values of its template."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from babel.dates import format_datetime
from markupsafe import Markup

from vsdemo.core import language
from vsdemo.core.language import translate
from vsdemo.training.jobs.jobs import ALIVE, Run
from vsdemo.ui.components import html
from vsdemo.ui.components.templates import render
from vsdemo.ui.training.facts import STATE_NAMES, best


@dataclass(frozen=True)
class RunRow:
    """A row of the list.

    Attributes:
        name: Name of the run.
        started: When it was started, in local time.
        dataset: Its data set.
        changed: Its changed settings.
        state: Its state, which is a CSS class too.
        state_name: How the page calls the state.
        best: Its best metric on dev.
        is_shown: Whether its curves are shown.
        can_be_deleted: Whether its process has ended, and the visitor may delete it.
    """

    name: str
    started: str
    dataset: str
    changed: str
    state: str
    state_name: str
    best: str
    is_shown: bool
    can_be_deleted: bool


def run_table(runs: Sequence[Run], shown: Collection[str], own: Collection[str]) -> Markup:
    """Return all runs, the newest first, to show and to compare.

    Args:
        runs: The runs.
        shown: Names of the runs whose curves are shown.
        own: Names of the runs that the visitor may change.
    """
    if not runs:
        return html.note(translate("No runs yet. Your trainings appear here."))
    rows = [
        _row(run, run.state, is_shown=run.name in shown, is_own=run.name in own) for run in runs
    ]
    return render("training/run_table.html", rows=rows)


def _row(run: Run, state: str, *, is_shown: bool, is_own: bool) -> RunRow:
    started = datetime.fromtimestamp(run.started, UTC).astimezone()
    return RunRow(
        name=run.name,
        started=format_datetime(started, translate("dd MMM, HH:mm"), locale=language.current()),
        dataset=run.spec.dataset or translate("its own"),
        changed=" ".join(run.spec.settings) or translate("nothing"),
        state=state,
        state_name=translate(STATE_NAMES[state]),
        best=best(run.events),
        is_shown=is_shown,
        can_be_deleted=is_own and state not in ALIVE,
    )
