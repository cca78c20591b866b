"""Large numbers of photos in a folder or in tar files, listed without being read, and their shards.

The tar files are those of WebDataset, as img2dataset writes them: KEY.jpg and, where there is a
caption, KEY.txt or KEY.json with a value "caption". Files next to photos in a folder have the same
names.

A photo is read from its place in the tar file, so photos of a tar file can be read in any order and
by many threads, and those before a place are skipped at no cost.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from threading import Event
from typing import NamedTuple

from vsdemo.core import json_files
from vsdemo.core.checksums import file_version
from vsdemo.core.errors import UserError
from vsdemo.core.images import SUFFIXES
from vsdemo.core.progress import Progress
from vsdemo.data.catalog.scan import PhotoFile, scan

TAR = ".tar"
TEXT, JSON = ".txt", ".json"  # files with a caption
MAX_CAPTION_FILE = 1_000_000  # bytes
MAX_SHARDS = 99_999
DIGEST_DIGITS = 16


def _read_text(content: bytes) -> str:
    return content.decode("utf-8", "replace").strip()


def _read_json(content: bytes) -> str:
    """Return the value "caption" of an object; empty without one."""
    try:
        values = json_files.parse(content)
    except ValueError:
        return ""
    caption = values.get("caption") if isinstance(values, dict) else None
    return caption.strip() if isinstance(caption, str) else ""


CAPTION_READERS = {TEXT: _read_text, JSON: _read_json}


class Shard(NamedTuple):
    """A part of the photos, such as the third of 16.

    Attributes:
        number: Which one, from 1.
        total: How many there are.
    """

    number: int
    total: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard that a text such as "3/16" names.

        Raises:
            UserError: It does not name one.
        """
        number, _, total = text.partition("/")
        if number.isdecimal() and total.isdecimal() and int(total) <= MAX_SHARDS:
            shard = cls(int(number), int(total))
            if 1 <= shard.number <= shard.total:
                return shard
        raise UserError(
            f"{text[:40]!r} is not a shard; use 1/16 for the first and 16/16 for the last of 16, "
            f"at most {MAX_SHARDS:,}."
        )

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def share(self, files: int) -> range:
        """Return which of a number of files belong to the shard: neighbours, in order."""
        return range(
            files * (self.number - 1) // self.total,
            files * self.number // self.total,
        )


class Extent(NamedTuple):
    """Bytes of a file.

    Attributes:
        file: The file.
        start: The first byte.
        size: How many.
    """

    file: Path
    start: int
    size: int

    def read(self) -> bytes:
        """Return the bytes, fewer if the file ends before. Raises OSError if it is not readable."""
        with self.file.open("rb") as file:
            file.seek(self.start)
            return file.read(self.size)


class StoredPhoto(NamedTuple):
    """A photo that is not read yet.

    Attributes:
        name: Its path from the source, such as "2024/a.jpg" or "00000.tar/000000012.jpg".
        content: Where it is.
        captions: `TEXT` or `JSON` -> where a caption may be.
    """

    name: str
    content: Extent
    captions: dict[str, Extent]

    @property
    def path(self) -> Path | None:
        """The file of the photo; None if it is in a tar file."""
        is_own = self.content.file.name == PurePosixPath(self.name).name
        return self.content.file if is_own else None

    def caption(self) -> str | None:
        """Return the caption, that of a text file before that of a JSON; None without any."""
        for kind, extent in sorted(self.captions.items(), reverse=True):
            size = min(extent.size, MAX_CAPTION_FILE)
            content = json_files.read_bytes(extent.file, size, extent.start)
            if content and (text := CAPTION_READERS[kind](content)):
                return text
        return None


class Place(NamedTuple):
    """A place in the order of all photos.

    Attributes:
        file: Number of a photo file or tar file.
        photo: Number of the photo in the tar file; 0 for a photo file.
    """

    file: int
    photo: int


class Stretch(NamedTuple):
    """Photos that follow each other.

    Attributes:
        photos: The photos.
        unreadable: Tar files and subfolders that cannot be listed -> why.
        end: The place after the last one.
    """

    photos: list[StoredPhoto]
    unreadable: dict[str, str]
    end: Place


@dataclass(frozen=True)
class PhotoFiles:
    """The photos of a source.

    Attributes:
        path: A folder of photos, a folder of tar files or a tar file.
        files: The photo files below the folder, or the tar files, sorted.
        unreadable: Subfolders and files that cannot be listed -> why.
        are_tars: Whether `files` are tar files.
    """

    path: Path
    files: Sequence[PhotoFile]
    unreadable: dict[str, str] = field(default_factory=dict)
    are_tars: bool = False

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that change with the names and sizes of the files."""
        digest = hashlib.sha256()
        for file in self.files:
            digest.update(os.fsencode(file.path) + b"\0%d\n" % file.size)
        return digest.hexdigest()[:DIGEST_DIGITS]

    def share(self, shard: Shard) -> range:
        """Return which files belong to a shard.

        Raises:
            UserError: There are fewer files than shards.
        """
        count = len(self.files)
        if shard.total > count:
            what = "tar files, which stay whole," if self.are_tars else "photos"
            raise UserError(
                f"There are more shards ({shard.total:,}) than {what} in {self.path} ({count:,}); "
                "use fewer shards."
            )
        return shard.share(count)

    def take(self, place: Place, stop: int, count: int) -> Stretch:
        """Return the next photos.

        Args:
            place: Where to begin.
            stop: Number of the first file that is not read.
            count: How many photos, fewer if there are no more.
        """
        photos: list[StoredPhoto] = []
        unreadable = dict(self.unreadable) if place == (0, 0) else {}
        while place.file < stop and len(photos) < count:
            listed, problem = self._list(place.file)
            part = listed[place.photo : place.photo + count - len(photos)]
            photos += part
            place = Place(place.file, place.photo + len(part))
            if place.photo >= len(listed):
                if problem:
                    unreadable[self.files[place.file].path] = problem
                place = Place(place.file + 1, 0)
        return Stretch(photos, unreadable, place)

    def progress(self, share: range, place: Place) -> float:
        """Return the fraction of the photos of a share that lies before a place, from 0 to 1.

        For tar files, it is estimated from their sizes.
        """
        if place.file >= share.stop:
            return 1.0
        weights = [self.files[number].size if self.are_tars else 1 for number in share]
        before = float(sum(weights[: place.file - share.start]))
        if place.photo:
            part = place.photo / len(self._list(place.file)[0])
            before += part * weights[place.file - share.start]
        return before / sum(weights)

    def _list(self, number: int) -> tuple[Sequence[StoredPhoto], str]:
        """Return the photos of a file, and why some may be missing; empty if none are."""
        file = self.files[number]
        if not self.are_tars:
            path = self.path / file.path
            beside = {
                kind: Extent(path.with_suffix(kind), 0, MAX_CAPTION_FILE)
                for kind in CAPTION_READERS
            }
            return [StoredPhoto(file.path, Extent(path, 0, file.size), beside)], ""
        path = self.path if self.path.suffix.lower() == TAR else self.path / file.path
        try:
            return _list_tar(path, file_version(path))
        except OSError as error:
            return [], f"{path.name} cannot be read ({error.strerror})."


def find_photos(source: Path, progress: Progress) -> PhotoFiles:
    """List the photos of a source; for tar files, list only the tar files.

    Args:
        source: A folder of photos, a folder of tar files or a tar file.
        progress: Called with (photo files so far, 0).

    Raises:
        UserError: It is none of these, cannot be read, or has both photos and tar files.
    """
    if source.suffix.lower() == TAR and source.is_file():
        return PhotoFiles(source, [PhotoFile.of(source.name, source.stat())], are_tars=True)
    if not source.is_dir():
        raise UserError(
            f"{source} is neither a folder nor a {TAR} file; give photos, or tar files of photos "
            "that are not compressed."
        )
    tars = sorted(path for path in source.glob(f"[!.]*{TAR}") if path.is_file())
    if tars:
        if photo := next((p for p in source.iterdir() if p.suffix.lower() in SUFFIXES), None):
            raise UserError(
                f"{source} has tar files and photos, such as {photo.name}; move them apart."
            )
        return PhotoFiles(
            source, [PhotoFile.of(path.name, path.stat()) for path in tars], are_tars=True
        )
    listed = scan(source, progress, Event())
    if not listed.files:
        raise UserError(
            f"The folder {source} contains no photos (JPEG, PNG, WebP, HEIC, ...) and no {TAR} "
            "files."
        )
    return PhotoFiles(source, listed.files, listed.unreadable)


@lru_cache(maxsize=1)
def _list_tar(path: Path, version: tuple[int, int, int]) -> tuple[list[StoredPhoto], str]:
    """Return the photos in a tar file, in its order, and why some may be missing."""
    del version  # only part of the key
    photos: list[StoredPhoto] = []
    captions: defaultdict[str, dict[str, Extent]] = defaultdict(dict)  # by the name without suffix
    problem = ""
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                # The holes of a sparse file are not in the archive.
                if not member.isreg() or member.issparse():
                    continue
                name = PurePosixPath(member.name)
                suffix, key = name.suffix.lower(), str(name.with_suffix(""))
                extent = Extent(path, member.offset_data, member.size)
                if suffix in SUFFIXES:
                    photos.append(StoredPhoto(f"{path.name}/{name}", extent, captions[key]))
                elif suffix in CAPTION_READERS:
                    captions[key][suffix] = extent
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        problem = f"{path.name} is damaged or cut short ({error}); its other photos are missing."
    return photos, problem
