"""`fetch`: downloads that resume."""

from __future__ import annotations

from threading import Event
from typing import Annotated

import typer

from vsdemo.cli.output import print_table
from vsdemo.core.interrupts import INTERRUPTED


def fetch(
    name: Annotated[
        str | None,
        typer.Argument(
            help="What to download, or clip:NAME for a model of open_clip; without it, list what "
            "there is."
        ),
    ] = None,
) -> None:
    """Download a data set, an image network or a model.

    Ctrl-C pauses; the same command resumes.
    """
    from vsdemo.core.paths import fetch_root
    from vsdemo.data.downloads import fetch as downloads
    from vsdemo.data.downloads.download import format_size
    from vsdemo.models.pretrained import make_fetched

    if name is None:
        _list()
        return
    if name.startswith("clip:"):
        from vsdemo.vision.backbones import repository_of

        name = repository_of(name)
    thing = downloads.find_download(name)
    if thing.missing:
        print(thing)
    try:
        _download(name)
    except KeyboardInterrupt:
        done = format_size(thing.received)
        print(f"Stopped after {done}; the same command resumes.")
        raise typer.Exit(INTERRUPTED) from None
    make_fetched(thing)
    print(f"{thing.title} is in {fetch_root()}")


def _download(name: str) -> None:
    from tqdm import tqdm

    from vsdemo.data.downloads.fetch import fetch

    with tqdm(unit="B", unit_scale=True, disable=None) as bar:

        def report(what: str, done: int, total: int) -> None:
            bar.set_description(what, refresh=False)
            bar.total = total or None
            bar.update(done - bar.n)

        fetch(name, report, Event())


def _list() -> None:
    from vsdemo.core.paths import fetch_root
    from vsdemo.data.downloads import fetch
    from vsdemo.data.downloads.download import format_size

    print(f"`python -m vsdemo fetch NAME` downloads into {fetch_root()}:")
    rows = []
    for name, thing in fetch.DOWNLOADS.items():
        partial = f"; {format_size(thing.received)} downloaded" if thing.received else ""
        rows.append(("missing" if thing.missing else "available", name, f"{thing}{partial}"))
    print_table(rows, indent=2)
