"""Folders of photos without captions, indexed or not."""

from __future__ import annotations

from pathlib import Path
from threading import Event

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data.catalog.catalog import Catalog, catalog_of
from vsdemo.data.catalog.scan import scan
from vsdemo.data.datasets.base import Dataset


class PhotoFolder(Dataset):
    """All photos that are below a folder now; every split contains all of them."""

    captioned = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, split: str) -> CaptionSet:
        """Return the photos.

        Raises:
            UserError: There are none, or the folder cannot be read.
        """
        files = scan(self.folder, lambda done, total: None, Event()).files
        if not files:
            raise UserError(f"The folder {self.folder} contains no photos (JPEG, PNG, WebP, ...).")
        photos = tuple(self.folder / file.path for file in files)
        catalog = catalog_of(self.folder)
        if catalog is None:
            return CaptionSet(str(self.folder), split, photos, folder=self.folder)
        indexed = dict(catalog.files().values())
        keys = tuple(indexed.get(file, "") for file in files)
        return CaptionSet(str(self.folder), split, photos, keys=keys, folder=self.folder)


class IndexedFolder(Dataset):
    """The photos of an index as they were when it was made; see `vsdemo.data.catalog`."""

    captioned = False

    def __init__(self, name: str) -> None:
        self.catalog = Catalog(name)

    def read(self, split: str) -> CaptionSet:
        """Return the photos.

        Raises:
            UserError: There are none.
        """
        photos, keys = self.catalog.photos()
        if not photos:
            raise UserError(
                f"The index {self.catalog.name!r} contains no photos; index {self.catalog.folder} "
                "again once it has some."
            )
        return CaptionSet(self.catalog.name, split, photos, keys=keys, folder=self.catalog.folder)
