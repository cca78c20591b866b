"""Somebody's own photos, with or without captions: a folder, indexed or not.

A folder without captions is a gallery to search: every split contains all of its photos. Of one
with captions, `all` contains all photos as well, and train, dev and test those with captions, split
by a Karpathy file or by their content; see `content_split`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import NamedTuple

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.photo_paths import PhotoPaths
from vsdemo.core.progress import Progress
from vsdemo.data.catalog.catalog import Catalog, catalog_of
from vsdemo.data.catalog.scan import scan
from vsdemo.data.datasets.base import Dataset, Report, TrainingCheck
from vsdemo.data.datasets.own import captions, training_check
from vsdemo.data.datasets.own.caption_list import CaptionList, Captions, tidy
from vsdemo.data.datasets.own.content_split import complete_keys, split_of

CAMERA_TEXTS = frozenset(  # descriptions that cameras write into every photo
    {
        *("olympus digital camera", "minolta digital camera", "konica minolta digital camera"),
        *("digital camera", "sony dsc", "samsung", "kodak digital still camera", "dcim", "dig"),
        *("exif_jpeg_picture", "exif jpeg", "jpeg", "untitled", "default", "image"),
    }
)


class PhotoList(NamedTuple):
    """The photos of a folder.

    Attributes:
        paths: Their paths below the folder.
        keys: Their content hashes, empty where they are unknown; or none at all.
        described: The captions in the photos' metadata, by path.
    """

    paths: tuple[str, ...]
    keys: tuple[str, ...] = ()
    described: Mapping[str, str] = {}


class OwnPhotos(Dataset):
    """The photos of a folder, and the captions that are next to them.

    Args:
        name: The data set's name.
        folder: The folder.
    """

    is_own = True

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder

    @abstractmethod
    def _list(self) -> PhotoList:
        """Return the photos. Raises UserError if there are none or they cannot be listed."""

    @cached_property
    def _listed(self) -> PhotoList:
        return self._list()

    @cached_property
    def captioned(self) -> bool:
        """Whether any photo has captions, or there is a file of captions, even a damaged one."""
        try:
            listed = self._listed
        except UserError:
            return False
        return bool(listed.described) or captions.has_captions(self.folder, listed.paths)

    @cached_property
    def _captions(self) -> Captions:
        """The captions of the photos.

        Raises:
            UserError: The file of captions is refused; see `captions.read_captions`.
        """
        listed = self._listed
        beside = captions.read_captions(self.folder, listed.paths)
        if beside.splits is not None:
            return beside
        described = CaptionList()
        for path, text in listed.described.items():
            if path not in beside.of:
                described.add(path, text, "metadata")
        inside = described.result()
        return Captions({**beside.of, **inside.of}, [*beside.problems, *inside.problems])

    def read(self, split: str) -> CaptionSet:
        """Return a split; see `load`."""
        return self.load(split)

    def load(self, split: str, progress: Progress | None = None, limit: int = 0) -> CaptionSet:
        """Return a split, or its first photos.

        A file of captions that is refused leaves `all` without captions.

        Args:
            split: One of `splits`.
            progress: Called while the content of photos is read.
            limit: The number of photos; 0 for all.

        Raises:
            UserError: There are no such photos, or the file of captions is refused.
        """
        everything = split == "all" or not self.captioned
        chosen = self._everything() if everything else self._split(split, progress)
        result = self._captions_of(split, chosen)
        return result.first(limit) if limit else result

    def check(self) -> Report:
        """Return what is in the splits, and what keeps photos and captions out of them."""
        if not self.captioned:
            return Report([f"{len(self._listed.paths):,} photos without captions"], [])
        problems = [*self.check_training().obstacles, *self._unreadable().values()]
        try:
            known, sizes = self._captions, self._split_sizes()
        except UserError:  # it is among the obstacles
            return Report([], problems)
        facts = training_check.facts(len(self._listed.paths), known, sizes)
        return Report(facts, [*problems, *(problem.text for problem in known.problems)])

    def check_training(self) -> TrainingCheck:
        """Return what keeps a training from starting, and what is left out of it.

        Raises:
            UserError: There are no photos.
        """
        photos = len(self._listed.paths)
        if not self.captioned:
            return TrainingCheck([training_check.no_captions(self.name)], [])
        try:
            known, sizes = self._captions, self._split_sizes()
        except UserError as error:
            return TrainingCheck([str(error)], [])
        return training_check.check(self.name, photos, known, sizes, self._unreadable())

    def _split_sizes(self) -> Counter[str]:
        """Return the number of photos with captions in each split."""
        return Counter(split for _, _, split in self._with_splits(None))

    def _unreadable(self) -> Mapping[str, str]:
        """Return photos that are known to be unreadable, and why."""
        return {}

    def _everything(self) -> list[tuple[str, str]]:
        """Return path and key of all photos."""
        paths, keys = self._listed.paths, self._listed.keys
        return list(zip(paths, keys or ("",) * len(paths), strict=True))

    def _split(self, split: str, progress: Progress | None) -> list[tuple[str, str]]:
        chosen = [(path, key) for path, key, other in self._with_splits(progress) if other == split]
        if not chosen:
            raise UserError(f"{self.name} has no photo with captions in split {split!r}.")
        return chosen

    def _with_splits(self, progress: Progress | None) -> list[tuple[str, str, str]]:
        """Return path, key and split of the photos with captions that are in one."""
        known = self._captions
        chosen = [(path, key) for path, key in self._everything() if path in known.of]
        if (splits := known.splits) is not None:
            return [(path, key, splits[path]) for path, key in chosen if path in splits]
        photos = [self.folder / path for path, _ in chosen]
        keys = complete_keys(photos, [key for _, key in chosen], progress)
        return [
            (path, key, split_of(key)) for (path, _), key in zip(chosen, keys, strict=True) if key
        ]

    def _captions_of(self, split: str, chosen: list[tuple[str, str]]) -> CaptionSet:
        try:
            of = self._captions.of
        except UserError:  # only for `all`: the photos can be searched
            of = {}
        texts = [of.get(path, ()) for path, _ in chosen]
        keys = tuple(key for _, key in chosen)
        names = tuple(path for path, _ in chosen)
        return CaptionSet(
            self.name,
            split,
            photos=PhotoPaths(self.folder, names),
            captions=tuple(text for own in texts for text in own),
            photo_of=tuple(i for i, own in enumerate(texts) for _ in own),
            keys=keys if any(keys) else (),
            folder=self.folder,
            names=names,
        )


class PhotoFolder(OwnPhotos):
    """The photos that are below a folder now."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder), folder)

    def _list(self) -> PhotoList:
        files = scan(self.folder, lambda done, total: None, Event()).files
        if not files:
            raise UserError(f"The folder {self.folder} contains no photos (JPEG, PNG, WebP, ...).")
        paths = tuple(file.path for file in files)
        catalog = catalog_of(self.folder)
        if catalog is None:
            return PhotoList(paths)
        indexed = dict(catalog.files().values())
        return PhotoList(paths, keys=tuple(indexed.get(file, "") for file in files))


class IndexedFolder(OwnPhotos):
    """The photos of an index as they were when it was made; see `vsdemo.data.catalog`.

    Photos without captions next to them have those of their metadata.
    """

    def __init__(self, name: str) -> None:
        self.catalog = Catalog(name)
        super().__init__(name, self.catalog.folder)

    def _list(self) -> PhotoList:
        photos, keys = self.catalog.photos()
        if not photos:
            raise UserError(
                f"The index {self.name!r} contains no photos; index {self.folder} again once it "
                "has some."
            )
        described = {
            path: text
            for path, text in self.catalog.captions().items()
            if tidy(text).lower() not in CAMERA_TEXTS
        }
        return PhotoList(photos, keys, described)

    def _unreadable(self) -> Mapping[str, str]:
        """Return the photos that could not be read when the index was made, and why."""
        return self.catalog.problems()
