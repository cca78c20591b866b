"""Trainings of strangers: who owns a run, who may see and change it, and how much is allowed.

On a public server each run belongs to the visitor who started it. Others neither see nor change it;
runs that the owner of the machine started are seen by all and changed by none. On a private machine
everything is allowed.
"""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Callable, Iterable, Mapping

from vsdemo.core import json_files, locks
from vsdemo.core.errors import UserError
from vsdemo.core.paths import write_text
from vsdemo.serving import access, visitors
from vsdemo.serving.training_limits import training_limits
from vsdemo.training import preflight
from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.jobs import Run
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.requirements import Check

STARTS_FILE = ".starts.json"  # [time, visitor] of each start of a stranger within a day
DAY = 86_400  # seconds


def visitor_id(cookies: Mapping[str, str], session: str | None) -> str:
    """Return the fingerprint of a visitor's token, which is what is stored with a run.

    Args:
        cookies: Those of a request.
        session: Gradio's name of the page, which counts for visitors without a valid cookie.

    Returns:
        "" for somebody without either, who owns nothing.
    """
    token = cookies.get(visitors.COOKIE, "")
    token = token if visitors.is_token(token) else session or ""
    return visitors.fingerprint(token) if token and token.isprintable() else ""


def may_see(run: Run, visitor: str) -> bool:
    """Whether a visitor may see a run."""
    return not access.is_public() or run.owner is None or _is_owner(run, visitor)


def may_change(run: Run, visitor: str) -> bool:
    """Whether a visitor may stop, resume and delete a run, and offer its model."""
    return not access.is_public() or _is_owner(run, visitor)


def visible(runs: Iterable[Run], visitor: str) -> list[Run]:
    """Return the runs that a visitor may see."""
    return [run for run in runs if may_see(run, visitor)]


def get_run(name: str, visitor: str) -> Run:
    """Return a run that a visitor may see.

    Raises:
        UserError: If there is no run of this name.
    """
    run = jobs.get_run(name)
    if not may_see(run, visitor):
        raise jobs.no_run(name)
    return run


def check(spec: JobSpec) -> list[Check]:
    """Return what a training needs, and whether this server allows it. See `preflight.check`."""
    return preflight.check(spec, training_limits().size if access.is_public() else None)


def start(spec: JobSpec, visitor: str, forget: Callable[[str], None]) -> Run:
    """Start a training of a visitor.

    Args:
        spec: What to train.
        visitor: Who trains.
        forget: Called with the name of each run that is deleted, since there are too many.

    Raises:
        UserError: If something that it needs is missing, it is larger than this server allows,
            another run is alive, or the visitor has trained enough for a day.
    """
    for result in check(spec):
        if not result.ok:
            raise UserError(result.message)
    if not access.is_public():
        return jobs.start(spec)
    _require_turn(visitor)
    for name in _delete_oldest(training_limits().runs_kept - 1):
        forget(name)
    run = jobs.start(spec, owner=visitor)
    _record_start(visitor)
    return run


def resume(name: str, visitor: str) -> None:
    """Resume a run.

    Raises:
        UserError: If the visitor may not, or as for `start`.
    """
    run = _require_owner(name, visitor, "resume")
    if access.is_public():
        for result in check(run.spec):
            if not result.ok:
                raise UserError(result.message)
        _require_turn(visitor)
        _record_start(visitor)
    jobs.resume(name)


def stop(name: str, visitor: str) -> None:
    """Ask a run to save and exit. Raises UserError if the visitor may not."""
    run = jobs.current()
    if run is not None and run.name == name:
        if not may_change(run, visitor):
            raise _refusal(name, "stop")
        jobs.stop(name)


def delete(name: str, visitor: str) -> None:
    """Remove a run that has ended. Raises UserError if the visitor may not, or it is alive."""
    _require_owner(name, visitor, "delete")
    jobs.delete(name)


def keep(name: str, visitor: str) -> None:
    """Offer the checkpoint of a run to all. Raises UserError if the visitor may not."""
    _require_owner(name, visitor, "offer")
    jobs.keep(name)


def _is_owner(run: Run, visitor: str) -> bool:
    return bool(run.owner and visitor) and hmac.compare_digest(str(run.owner), visitor)


def _require_owner(name: str, visitor: str, verb: str) -> Run:
    run = get_run(name, visitor)
    if not may_change(run, visitor):
        raise _refusal(name, verb)
    return run


def _refusal(name: str, verb: str) -> UserError:
    return UserError(f"Only the visitor who started {name} can {verb} it.")


def _require_turn(visitor: str) -> None:
    """Refuse a start while another visitor trains, and after too many starts within a day."""
    limits, busy = training_limits(), jobs.current()
    if busy and not may_change(busy, visitor):
        raise UserError(
            "Another visitor is training, and this server trains one model at a time; try again "
            f"in at most {limits.minutes:g} minutes."
        )
    if sum(each == visitor for _, each in _starts()) >= limits.runs_a_day:
        raise UserError(
            f"This server allows {limits.runs_a_day} trainings a day; try again tomorrow, or train "
            "on your own machine."
        )


def _starts() -> list[tuple[float, str]]:
    """Return the time and the visitor of each start of a stranger within a day."""
    entries, now = json_files.read(jobs.root() / STARTS_FILE), time.time()
    starts = []
    for entry in entries if isinstance(entries, list) else []:
        match entry:
            case [int() | float() as when, str() as visitor] if abs(now - when) < DAY:
                starts.append((float(when), visitor))
    return starts


def _record_start(visitor: str) -> None:
    path = jobs.root() / STARTS_FILE
    with locks.turn(path):
        starts = [*_starts(), (round(time.time(), 3), visitor)]
        write_text(path, json.dumps(starts) + "\n")


def _delete_oldest(kept: int) -> list[str]:
    """Delete the oldest runs of strangers until `kept` are left, and return their names."""
    runs = [run for run in jobs.list_runs() if run.owner is not None]
    names = [run.name for run in runs[kept:] if not run.alive]
    for name in names:
        jobs.delete(name)
    return names
