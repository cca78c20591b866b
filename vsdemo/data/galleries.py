"""Galleries: the photos that can be searched."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.paths import data_root
from vsdemo.data import datasets
from vsdemo.data.catalog.catalog import Catalog, CatalogEntry, find_catalog, list_catalogs

TITLES = {"flickr8k": "Flickr8k", "pascal1k": "Pascal1K", "storybook": "Storybook"}


@dataclass(frozen=True)
class Gallery:
    """Photos that can be searched: a split of a data set, or a folder.

    Attributes:
        key: Its name in addresses.
        label: Its name on the page.
        name: The data set, or the path of the folder.
        split: The split of the data set; `all` for a folder.
        photos: The photos.
        is_own: Whether it is a folder of somebody's own photos, with captions or without.
        is_captioned: Whether there are captions.
        listed: What is known about somebody's own photos; None for other galleries.
    """

    key: str
    label: str
    name: str
    split: str
    photos: Sequence[Path]
    is_own: bool = False
    is_captioned: bool = False
    listed: CaptionSet | None = field(default=None, compare=False, repr=False)

    @property
    def keys(self) -> tuple[str, ...]:
        """Content hashes of the photos, as in `CaptionSet`."""
        return self.listed.keys if self.listed else ()

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of the photos below their folder, as in `CaptionSet`."""
        return self.listed.names if self.listed else ()

    def with_photos(self, photos: CaptionSet) -> Gallery:
        """Return the gallery with other photos, such as those that can be read."""
        return replace(self, photos=photos.photos, listed=photos if self.is_own else None)

    def thumbnail(self, number: int) -> bytes | None:
        """Return a small JPEG of a photo; None if it is not indexed.

        Raises:
            UserError: The index is damaged.
        """
        key = self.keys[number] if self.keys else ""
        return self.catalog.thumbnail(key) if key and self.catalog else None

    def entry(self, number: int) -> CatalogEntry | None:
        """Return what is known about a photo; None if it is not indexed.

        Raises:
            UserError: The index is damaged.
        """
        return self.entries([number]).get(number)

    def entries(self, numbers: Iterable[int]) -> dict[int, CatalogEntry]:
        """Return what is known about those of some photos that are indexed, by number.

        Raises:
            UserError: The index is damaged.
        """
        if not (self.keys and self.catalog):
            return {}
        paths = {number: self.names[number] for number in numbers if self.keys[number]}
        entries = self.catalog.entries_of(paths.values())
        return {number: entries[path] for number, path in paths.items() if path in entries}

    @cached_property
    def catalog(self) -> Catalog | None:
        """The index of the photos; None if they are not indexed."""
        return find_catalog(self.name)

    @cached_property
    def token(self) -> str:
        """A name for addresses of photos; it changes with the list of photos."""
        text = "\n".join([self.key, self.name, *(self.names or map(str, self.photos))])
        return hashlib.sha256(os.fsencode(text)).hexdigest()[:12]

    @property
    def is_complete(self) -> bool:
        """Whether no photo has to be drawn first."""
        return not datasets.is_generated(self.name) or all(map(Path.exists, self.photos))

    def photo_number(self, text: str | None) -> int | None:
        """Return the number in a part of an address, at most that of the last photo."""
        if not (text and text.isascii() and text.isdecimal() and len(text) < 10):
            return None
        return min(int(text), len(self.photos) - 1)


def open_gallery(name: str, split: str, *, own: bool = False) -> Gallery | None:
    """Return a split of a data set; None if it is not available.

    With `own`, which is for what the user named, raise a UserError instead.
    """
    name = datasets.full_name(name)
    try:
        dataset = datasets.find(name)
        listed = dataset.load(split) if dataset.is_own else None
        photos = listed.photos if listed else datasets.photos(name, split)
        is_captioned = dataset.captioned
    except (UserError, OSError, ValueError, KeyError):
        if own:
            raise
        return None
    title = TITLES.get(name, Path(name).stem if own else name)
    return Gallery(
        key=f"{title}-{split}".lower(),
        label=f"{title if dataset.is_own else f'{title} {split}'} ({len(photos):,})",
        name=name,
        split=split,
        photos=photos,
        is_own=dataset.is_own,
        is_captioned=is_captioned,
        listed=listed,
    )


def galleries(own: str | None, *, with_indexes: bool = True) -> Iterator[Gallery]:
    """Yield all galleries, beginning with the one to show first.

    Args:
        own: A data set, captions file, index or folder of photos to put first.
        with_indexes: Include all indexes; otherwise only one that is `own`.

    Raises:
        UserError: If `own` does not exist.
    """
    if own is not None and own not in datasets.DATASETS:
        own_gallery = open_gallery(own, "all", own=True)
        if own_gallery:
            yield own_gallery
    for name in list_catalogs() if with_indexes else ():
        if name != own and (indexed := open_gallery(name, "all")):
            yield indexed
    root = data_root()
    generated = {name for name in datasets.DATASETS if datasets.is_generated(name)}
    names = set(generated)
    if root and root.is_dir():
        names |= {*datasets.DATASETS, *datasets.karpathy_files()}
    # Photos before drawings, which take a while to draw.
    for name in sorted(names, key=lambda n: (n != own, n in generated, n)):
        for split in ("test",) if name in generated else ("test", "all"):
            if gallery := open_gallery(name, split):
                yield gallery
