"""`index`: prepares a folder of photos for searching."""

from __future__ import annotations

import json
import sys
import time
from contextlib import nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated

import typer

from vsdemo.cli.options import Json, checkpoint_folders
from vsdemo.cli.output import print_json, print_problems, stage_progress
from vsdemo.core.errors import UserError
from vsdemo.core.interrupts import INTERRUPTED
from vsdemo.core.paths import prepare_home

if TYPE_CHECKING:
    from vsdemo.search.indexing import IndexSummary

PAUSE = 5.0  # least seconds between two checks of a folder that is watched
SHARE = 0.05  # of the time that these checks may take
LINE_PAUSE = 0.2  # seconds between two lines about the same stage


def index(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of photos.")],
    name: Annotated[
        str | None, typer.Option(help="Name of the gallery; default: that of the folder.")
    ] = None,
    models: Annotated[
        list[Path] | None,
        typer.Option(
            "--model",
            callback=lambda names: checkpoint_folders(names or []),
            help="Checkpoint folder or clip:NAME to prepare the photos for; repeat it. Default: "
            "fetched models of open_clip or, without any, the shipped ones for photos.",
        ),
    ] = None,
    *,
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay and index whatever changes, until Ctrl-C.")
    ] = False,
    as_json: Json = False,
    as_lines: Annotated[
        bool,
        typer.Option(
            "--json-lines",
            help="For programs: print progress and result as lines of JSON, and stop at the end of "
            "the input.",
        ),
    ] = False,
) -> None:
    """Prepare a folder of photos: read them once, so that every search is quick.

    The next run reads only what has changed. Ctrl-C stops it, the same command continues. The
    photos themselves are never changed, moved or copied.
    """
    from vsdemo.search import indexing

    cancel = at_end_of_input() if as_lines else Event()
    prepare_home()
    caches = indexing.feature_caches(models or indexing.default_checkpoints())
    if not caches:
        raise UserError(
            "No model for photos is available; get one with `python -m vsdemo fetch clip`, or "
            "name one with --model."
        )
    catalog = indexing.open_catalog(folder, name or "")
    while True:
        started = time.monotonic()
        try:
            with nullcontext(ProgressLines()) if as_lines else stage_progress() as report:
                summary = indexing.index_folder(catalog, caches, report, cancel)
        except KeyboardInterrupt:
            print("Stopped; the same command continues.")
            raise typer.Exit(INTERRUPTED) from None
        if as_lines:
            print(json.dumps({"summary": asdict(summary)}), flush=True)
        elif as_json:
            print_json(asdict(summary))
        else:
            print(_sentence(summary))
            print_problems(summary.problems)
        if not watch:
            return
        try:
            time.sleep(max(PAUSE, (time.monotonic() - started) / SHARE))
        except KeyboardInterrupt:
            return


class ProgressLines:
    """Prints the progress as lines of JSON, a few a second."""

    def __init__(self) -> None:
        self._stage, self._printed = "", 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Print how far a stage is; a `vsdemo.core.progress.StageProgress`."""
        now = time.monotonic()
        if stage == self._stage and done != total and now - self._printed < LINE_PAUSE:
            return
        self._stage, self._printed = stage, now
        with suppress(BrokenPipeError):  # the other program was killed; its end stops the run
            print(json.dumps({"stage": stage, "done": done, "total": total}), flush=True)


def at_end_of_input() -> Event:
    """Return an event that is set when the program that started this one closes its input."""
    ended = Event()

    def wait() -> None:
        sys.stdin.buffer.read()
        ended.set()

    Thread(target=wait, daemon=True).start()
    return ended


def _sentence(summary: IndexSummary) -> str:
    """Return what a run has done."""
    return f"{summary.name}: {summary.text} in {summary.seconds:.1f} s"
