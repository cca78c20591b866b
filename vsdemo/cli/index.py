"""`index`: prepares a folder of photos for searching."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from vsdemo.cli.options import Json, checkpoint_folders
from vsdemo.cli.output import print_json
from vsdemo.core.errors import UserError
from vsdemo.core.interrupts import INTERRUPTED
from vsdemo.core.progress import StageProgress

if TYPE_CHECKING:
    from vsdemo.search.indexing import IndexSummary

PAUSE = 5.0  # seconds between two looks at a folder that is watched, at least
SHARE = 0.05  # of the time that looking at it may take


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
) -> None:
    """Prepare a folder of photos: read them once, so that every search is quick.

    The next run reads only what has changed. Ctrl-C stops it, the same command continues. The
    photos themselves are never changed, moved or copied.
    """
    from vsdemo.data.catalog.catalog import Catalog, default_name
    from vsdemo.search import indexing

    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}.")
    caches = indexing.feature_caches(models or indexing.default_checkpoints())
    if not caches:
        raise UserError("No model for photos is available; name one with --model.")
    catalog = Catalog.create(name or default_name(folder), folder)
    while True:
        started = time.monotonic()
        try:
            with showing_progress() as report:
                summary = indexing.index_folder(catalog, caches, report, Event())
        except KeyboardInterrupt:
            print("Stopped; the same command continues.")
            raise typer.Exit(INTERRUPTED) from None
        if as_json:
            print_json(asdict(summary))
        else:
            print(_sentence(summary))
        if not watch:
            return
        try:
            time.sleep(max(PAUSE, (time.monotonic() - started) / SHARE))
        except KeyboardInterrupt:
            return


@contextmanager
def showing_progress() -> Iterator[StageProgress]:
    """Show a progress bar for each stage."""
    from tqdm import tqdm

    with tqdm(unit="photo", disable=None) as bar:

        def report(stage: str, done: int, total: int) -> None:
            bar.set_description(stage, refresh=False)
            if bar.total != (total or None):
                bar.reset(total or None)
            bar.update(done - bar.n)

        yield report


def _sentence(summary: IndexSummary) -> str:
    """Return what a run has done."""
    parts: list[tuple[int, str]] = [
        (summary.new, "new"),
        (summary.changed, "changed"),
        (summary.moved, "moved"),
        (summary.removed, "removed"),
        (summary.unreadable, "unreadable"),
    ]
    shown = ", ".join(f"{count:,} {what}" for count, what in parts if count) or "nothing new"
    return f"{summary.name}: {summary.photos:,} photos ({shown}) in {summary.seconds:.1f} s"
