"""Photos that are still being drawn: those that are there can be used."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import wait
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.data import datasets
from vsdemo.data.galleries import Gallery
from vsdemo.ui.library.pending import POLL, Pending, Status

FIRST = 16  # drawn photos for which an engine begins


def load_photos(gallery: Gallery, pending: Pending[CaptionSet]) -> CaptionSet:
    """Load a gallery, and offer the drawn pictures while others are missing."""
    if gallery.listed:
        return gallery.listed
    due = 1  # pictures drawn until the next offer

    def report(done: int, total: int) -> None:
        nonlocal due
        pending.status.report(done, total)
        if done >= due and done < total:
            drawn = sum(1 for _ in takewhile(Path.exists, gallery.photos))
            if drawn:
                pending.partial = datasets.load(gallery.name, gallery.split, limit=drawn)
            due = 2 * done

    return datasets.load(gallery.name, gallery.split, report)


class DrawnPhotos:
    """The photos of a gallery that are drawn, for an engine that need not wait for the others.

    Args:
        photos: The gallery.
        status: Status of loading the engine.
        complete: Whether no photo is missing.

    Attributes:
        complete: Whether no photo is missing any more.
    """

    def __init__(self, photos: Pending[CaptionSet], status: Status, *, complete: bool) -> None:
        self._photos, self._status = photos, status
        self._pause = ExitStack()
        self._is_paused = False
        self.complete = complete

    def pause(self) -> None:
        """Let drawing wait until the next photos are wanted, as it would compete for the cores.

        Raises:
            Cancelled: Nobody wants the engine any more.
        """
        self._status.follow(self._photos.status)
        if not self._is_paused:
            self._pause.enter_context(self._photos.status.paused())
            self._is_paused = True

    def __iter__(self) -> Generator[CaptionSet, None, None]:
        """Yield the first photos whenever twice as many are drawn, but never all of them.

        Raises:
            Cancelled: Nobody wants the engine any more.
        """
        due = FIRST
        while not wait([self._photos.future], POLL).done:
            self._status.follow(self._photos.status)
            partial = self._photos.partial
            if partial and len(partial.photos) >= due:
                self._is_paused = False
                with self._pause:
                    yield partial
                due = 2 * len(partial.photos)
        self._photos.future.result()
        self.complete = True
