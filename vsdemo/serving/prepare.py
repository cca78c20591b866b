"""What an owner wants to have: downloads in the background, while the app already answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event, Thread
from time import sleep

from vsdemo.core.errors import UserError
from vsdemo.data.downloads import fetch
from vsdemo.data.downloads.download import format_size
from vsdemo.models.pretrained import make_fetched

GALLERY = "VSDEMO_GALLERY"  # a data set, captions file or folder of photos to offer first
PREPARE = "VSDEMO_PREPARE"  # names of downloads, separated by commas
POLL = 5.0  # seconds between two looks at whether another process has finished a download
STEP = 10  # percent of a download between two lines of the log


def gallery() -> str | None:
    """Return the gallery that the owner wants to be offered first."""
    return os.environ.get(GALLERY) or None


def downloads() -> tuple[str, ...]:
    """Return the names of the downloads that the owner wants.

    Raises:
        UserError: There is no download of one of the names.
    """
    names = [name.strip() for name in os.environ.get(PREPARE, "").split(",")]
    for name in filter(None, names):
        try:
            fetch.find_download(name)
        except UserError as error:
            raise UserError(f"{PREPARE}: {error}") from None
    return tuple(filter(None, names))


def start(names: Sequence[str], on_ready: Callable[[], object]) -> Thread:
    """Fetch downloads one after the other in the background, and say in the log how far they are.

    What cannot be fetched is left out; an interrupted download is resumed at the next start.

    Args:
        names: Names of downloads.
        on_ready: Called after each download that was missing.
    """

    def run() -> None:
        for name in names:
            if fetch.find_download(name).missing and _fetch(name):
                on_ready()

    # A daemon does not keep the app from ending.
    thread = Thread(target=run, name=PREPARE, daemon=True)
    thread.start()
    return thread


def _fetch(name: str) -> bool:
    """Fetch a download; return whether that worked."""
    item = fetch.find_download(name)
    _log(str(item))
    logged: tuple[str, int] = ("", 0)

    def report(stage: str, done: int, total: int) -> None:
        nonlocal logged
        percent = 100 * done // total if total else 0
        if stage != logged[0] or percent >= logged[1] + STEP:
            logged = (stage, percent - percent % STEP)
            _log(f"{stage} {item.title}: {format_size(done)} of {format_size(total)}")

    try:
        while True:
            with suppress(fetch.BeingFetched):  # by another process of this server
                fetch.fetch(name, report, Event())
                break
            sleep(POLL)
        make_fetched(item)
    except UserError as error:
        _log(str(error))
        return False
    _log(f"{item.title} is available.")
    return True


def _log(text: str) -> None:
    print(f"vsdemo: {text}", file=sys.stderr, flush=True)
