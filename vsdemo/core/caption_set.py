"""Photos with their captions."""

from __future__ import annotations

import os
from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from vsdemo.core.paths import printable


@dataclass(frozen=True)
class CaptionSet:
    """The photos and captions of one split of a data set, or the photos of a folder.

    Args:
        name: The data set's name, or the folder's path.
        split: Such as `test`.
        photos: One path per photo.
        captions: All captions, those of different photos in any order.
        photo_of: For each caption the index of its photo.
        keys: The content hash of each photo, empty where it has to be computed; or none at all.
        folder: The folder below which photos are named; None to name them by their files alone.
    """

    name: str
    split: str
    photos: tuple[Path, ...]
    captions: tuple[str, ...] = ()
    photo_of: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()
    folder: Path | None = None

    @cached_property
    def captions_of(self) -> list[list[int]]:
        """For each photo the indices of its captions, in order."""
        rows: list[list[int]] = [[] for _ in self.photos]
        for caption, photo in enumerate(self.photo_of):
            rows[photo].append(caption)
        return rows

    def first(self, count: int) -> CaptionSet:
        """Return the first `count` photos with their captions."""
        kept = [caption for caption, photo in enumerate(self.photo_of) if photo < count]
        return replace(
            self,
            photos=self.photos[:count],
            captions=tuple(self.captions[caption] for caption in kept),
            photo_of=tuple(self.photo_of[caption] for caption in kept),
            keys=self.keys[:count],
        )

    def without(self, photos: Container[Path]) -> CaptionSet:
        """Return a set without captions as one without some photos."""
        kept = [i for i, photo in enumerate(self.photos) if photo not in photos]
        return replace(
            self,
            photos=tuple(self.photos[i] for i in kept),
            keys=tuple(self.keys[i] for i in kept) if self.keys else (),
        )

    def photo_name(self, number: int) -> str:
        """Return the name of a photo: its path below `folder`, or the name of its file."""
        photo = self.photos[number]
        if self.folder is None:
            return printable(photo.name)
        return printable(str(photo).removeprefix(f"{self.folder}{os.sep}"))

    def own_captions(self, photo: int) -> list[str]:
        """Return the captions of one photo."""
        return [self.captions[caption] for caption in self.captions_of[photo]]
