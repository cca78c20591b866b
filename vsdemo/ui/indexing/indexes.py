"""The indexes of this machine, and the one run at a time that makes or updates one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from vsdemo.core.errors import UserError
from vsdemo.core.language import message, translate
from vsdemo.core.paths import printable
from vsdemo.data.catalog.catalog import Catalog, list_catalogs, remove_catalog
from vsdemo.search import indexing
from vsdemo.ui.indexing.job import IndexJob
from vsdemo.ui.library import Library


@dataclass(frozen=True)
class KnownIndex:
    """An index of this machine.

    Attributes:
        name: Its name.
        folder: Path of its folder.
        photos: Readable photos.
        unreadable: Files that cannot be read.
        problem: Why it cannot be used; empty if it can.
    """

    name: str
    folder: str = ""
    photos: int = 0
    unreadable: int = 0
    problem: str = ""


def known_indexes() -> list[KnownIndex]:
    """Return the indexes of this machine, sorted by name."""
    return [_known(name) for name in list_catalogs()]


def _known(name: str) -> KnownIndex:
    try:
        catalog = Catalog(name)
        photos, unreadable = catalog.counts()
    except UserError as error:
        return KnownIndex(name, problem=str(error))
    return KnownIndex(name, printable(str(catalog.folder)), photos, unreadable)


class Indexing:
    """Starts, stops and follows the indexing of an app; the library offers what it brings.

    Attributes:
        library: Models, galleries and engines.
        job: The current or the last run; None before the first.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.job: IndexJob | None = None
        self._lock = Lock()

    @property
    def busy(self) -> bool:
        """Whether a folder is being indexed."""
        return self.job is not None and not self.job.ended

    def start(self, folder: Path, name: str) -> None:
        """Index a folder.

        Raises:
            UserError: Another folder is being indexed, or as `indexing.open_catalog`.
        """
        with self._lock:
            if self.job and self.busy:
                text = message("{name} is being indexed; wait until it is done.")
                raise UserError(translate(text, name=self.job.name))
            catalog = indexing.open_catalog(folder, name)
            self.job = IndexJob(
                catalog.folder,
                catalog.name,
                on_first=self.library.refresh,
                on_end=lambda: self.library.renew_gallery(catalog.name),
            )

    def start_again(self, name: str) -> None:
        """Index the folder of a known index. Raises UserError as `start`."""
        self.start(Catalog(name).folder, name)

    def stop(self) -> None:
        """Stop the current run; what is done is kept."""
        if self.job:
            self.job.stop()

    def remove(self, name: str) -> None:
        """Remove an index; the photos and what the user has written about them stay.

        Raises:
            UserError: It does not exist or is being written.
        """
        remove_catalog(name)
        self.library.renew_gallery(name)

    def key(self) -> str:
        """Return the key of the gallery of the last run; empty if it has none."""
        galleries = self.library.galleries.values()
        name = self.job.name if self.job else ""
        return next((gallery.key for gallery in galleries if gallery.name == name), "")
