"""Photos with their captions."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from vsdemo.core.paths import printable
from vsdemo.core.photo_paths import PhotoPaths
from vsdemo.core.stored_features import StoredFeatures


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
        folder: The folder of somebody's own photos; None for other data sets.
        names: The path of each photo below `folder`; empty for other data sets, whose photos are
            named by their files alone.
        features: Features of the photos, if the data set comes with them instead of the photos.
    """

    name: str
    split: str
    photos: Sequence[Path]
    captions: tuple[str, ...] = ()
    photo_of: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()
    folder: Path | None = None
    names: tuple[str, ...] = ()
    features: StoredFeatures | None = None

    @property
    def is_own(self) -> bool:
        """Whether the photos are somebody's own, so that unreadable ones are left out."""
        return self.folder is not None

    @cached_property
    def captions_of(self) -> list[list[int]]:
        """For each photo the indices of its captions, in order."""
        rows: list[list[int]] = [[] for _ in range(len(self.photos))]  # creates no `Path` objects
        for caption, photo in enumerate(self.photo_of):
            rows[photo].append(caption)
        return rows

    def first(self, count: int) -> CaptionSet:
        """Return the first `count` photos with their captions."""
        return self.only(range(min(count, len(self.photos))))

    def without(self, photos: Container[Path]) -> CaptionSet:
        """Return the set without some photos and their captions."""
        return self.only([i for i, photo in enumerate(self.photos) if photo not in photos])

    def with_more(self, more: CaptionSet) -> CaptionSet:
        """Return the set followed by the photos and captions of another one.

        It is somebody's own if this set is.
        """
        return replace(
            self,
            photos=(*self.photos, *more.photos),
            captions=(*self.captions, *more.captions),
            photo_of=(*self.photo_of, *(len(self.photos) + photo for photo in more.photo_of)),
            keys=(*self.keys, *[""] * len(more.photos)) if self.keys else (),
            names=(),
        )

    def with_keys(self, keys: Sequence[str]) -> CaptionSet:
        """Return the set with the content hash of each photo."""
        return replace(self, keys=tuple(keys))

    def only(self, photos: Sequence[int]) -> CaptionSet:
        """Return some photos with their captions, which keep their order."""
        number_of = {photo: number for number, photo in enumerate(photos)}
        kept = [caption for caption, photo in enumerate(self.photo_of) if photo in number_of]
        names = tuple(self.names[photo] for photo in photos) if self.names else ()
        return replace(
            self,
            photos=self._paths(photos, names),
            captions=tuple(self.captions[caption] for caption in kept),
            photo_of=tuple(number_of[self.photo_of[caption]] for caption in kept),
            keys=tuple(self.keys[photo] for photo in photos) if self.keys else (),
            names=names,
            features=None if self.features is None else self.features.only(photos),
        )

    def _paths(self, photos: Sequence[int], names: tuple[str, ...]) -> Sequence[Path]:
        if self.folder and names:
            return PhotoPaths(self.folder, names)
        return tuple(self.photos[photo] for photo in photos)

    def photo_name(self, number: int) -> str:
        """Return the name of a photo: its path below `folder`, or the name of its file."""
        return printable(self.names[number] if self.names else self.photos[number].name)

    def own_captions(self, photo: int) -> list[str]:
        """Return the captions of one photo."""
        return [self.captions[caption] for caption in self.captions_of[photo]]
