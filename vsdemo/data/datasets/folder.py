"""A folder of photos without captions."""

from __future__ import annotations

from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.images import photos_in
from vsdemo.data.datasets.base import Dataset


class PhotoFolder(Dataset):
    """All photos below a folder; every split contains all of them."""

    captioned = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, split: str) -> CaptionSet:
        """Return the photos.

        Raises:
            UserError: There are none.
        """
        photos = tuple(photos_in(self.folder))
        if not photos:
            raise UserError(f"The folder {self.folder} contains no photos (JPEG, PNG, WebP, ...).")
        return CaptionSet(str(self.folder), split, photos)
