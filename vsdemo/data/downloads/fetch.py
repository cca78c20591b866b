"""What can be fetched by name, and where it goes.

Nothing is fetched before somebody asks. Whatever ends a fetch, also `kill -9`, the next one goes
on from there, with a file half downloaded or an archive half unpacked.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event

from filelock import FileLock, Timeout

from vsdemo.core.errors import UserError
from vsdemo.core.paths import fetch_root
from vsdemo.core.progress import Progress, StageProgress
from vsdemo.data.downloads import download, unpack
from vsdemo.data.downloads.download import format_size

FLICKR8K = "https://github.com/jbrownlee/Datasets/releases/download/Flickr8k"
FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class RemoteFile:
    """A file of the web, and what becomes of it."""

    url: str
    size: int  # bytes
    digest: str  # algorithm:hex digits, the first eight at least
    place: str  # what becomes of it, below the folder of the data sets
    room: int  # bytes that this takes
    keep: Callable[[Path, Path, StageProgress, Event], None]  # makes `target` of the file

    @property
    def path(self) -> Path:
        """Where the file is kept until `target` is made of it."""
        return fetch_root() / ".fetch" / self.url.rpartition("/")[2]

    @property
    def target(self) -> Path:
        """What becomes of it."""
        return fetch_root() / self.place

    @property
    def needed(self) -> int:
        """Bytes of the disk that are still to be filled."""
        half = unpack.half(self.target)
        made = sum(p.stat().st_size for p in half.iterdir()) if half.is_dir() else 0
        return max(0, self.size - download.here(self.path)) + max(0, self.room - made)


@dataclass(frozen=True)
class Download:
    """Something that can be fetched."""

    title: str
    about: str
    files: tuple[RemoteFile, ...]
    terms: str = ""  # what it may be used for

    @property
    def size(self) -> int:
        """Bytes to download."""
        return sum(f.size for f in self.files)

    @property
    def missing(self) -> tuple[RemoteFile, ...]:
        """The files of which nothing has been made yet."""
        return tuple(f for f in self.files if not f.target.exists())

    @property
    def received(self) -> int:
        """Bytes that have come of what is missing."""
        return sum(download.here(f.path) for f in self.missing)

    def __str__(self) -> str:
        parts = (self.about, format_size(self.size), self.terms)
        return f"{self.title}: {', '.join(part for part in parts if part)}"


DOWNLOADS = {
    "flickr8k": Download(
        "Flickr8k",
        "8,091 photos",
        (
            RemoteFile(
                f"{FLICKR8K}/Flickr8k_text.zip",
                2_340_801,
                "md5:bf6c1abcb8e4a833b7f922104de18627",
                "flickr8k/Flickr8k_text",
                12_000_000,
                unpack.archive,
            ),
            RemoteFile(
                f"{FLICKR8K}/Flickr8k_Dataset.zip",
                1_115_419_746,
                "md5:f18a1e2920de5bd84dae7cf08ec78978",
                "flickr8k/Flicker8k_Dataset",
                1_130_000_000,
                unpack.archive,
            ),
        ),
        terms="for research and education only",
    ),
    "densenet169": Download(
        "DenseNet-169",
        "the full image network",
        (
            RemoteFile(
                "https://download.pytorch.org/models/densenet169-b2777c0a.pth",
                57_365_526,
                "sha256:b2777c0a",
                "models/densenet169_imagenet.fp16.safetensors",
                26_000_000,
                unpack.weights,
            ),
        ),
        terms="BSD-3-Clause",
    ),
}


def find_download(name: str) -> Download:
    """What is fetched by this name. Raises UserError when there is no such thing."""
    if name not in DOWNLOADS:
        raise UserError(f"There is no {name!r} to fetch; valid are {', '.join(DOWNLOADS)}.")
    return DOWNLOADS[name]


def fetch(name: str, progress: StageProgress, cancel: Event) -> None:
    """Fetches what is missing of a thing; `progress` is told of `Fetching`, then of `Unpacking`.

    Raises Cancelled once `cancel` is set, and UserError when the name is unknown, somebody else
    fetches the same, the web or room on the disk is missing, or a file is not the one expected.
    """
    wanted = find_download(name)
    with _alone(name, wanted):
        missing = wanted.missing
        for i, file in enumerate(missing):
            if not file.path.exists():
                before = sum(download.here(f.path) for f in missing[:i])
                after = sum(f.size for f in missing[i + 1 :])
                download.download(file.url, file.path, _of_all(progress, before, after), cancel)
            _check(file)
        for file in missing:
            file.keep(file.path, file.target, progress, cancel)
        for file in wanted.files:
            for left in file.path.parent.glob(f"{file.path.name}*"):
                left.unlink()


def _of_all(progress: StageProgress, before: int, after: int) -> Progress:
    """Tells of one file's bytes as part of all."""

    def told(done: int, of: int) -> None:
        progress("Fetching", before + done, before + of + after if of else 0)

    return told


def _check(file: RemoteFile) -> None:
    """Raises UserError, and deletes the file, when it is not the one expected."""
    algorithm, _, digits = file.digest.partition(":")
    with file.path.open("rb") as opened:
        new = partial(hashlib.new, algorithm, usedforsecurity=False)
        found = hashlib.file_digest(opened, new).hexdigest()
    if not found.startswith(digits):
        file.path.unlink()
        raise UserError(
            f"{file.url} did not bring the file that was expected (its {algorithm.upper()} is "
            f"{found[:8]}..., not {digits[:8]}...), so it has been deleted; fetch it again."
        )


@contextmanager
def _alone(name: str, wanted: Download) -> Iterator[None]:
    """Keeps others from fetching the same meanwhile, and tells what the disk refuses."""
    root = fetch_root()
    try:
        (root / ".fetch").mkdir(parents=True, exist_ok=True)
        with FileLock(root / ".fetch" / f"{name}.lock", timeout=0):
            needed, free = _needed(wanted), shutil.disk_usage(root).free
            if needed > free:
                raise UserError(
                    f"{wanted.title} needs {format_size(needed)} in {root}, where "
                    f"{format_size(free)} are free; make room, or set VSDEMO_DATA to a folder on "
                    "another disk."
                )
            yield
    except Timeout:
        raise UserError(
            f"{wanted.title} is being fetched already; wait until it is here."
        ) from None
    except OSError as error:
        if error.errno in FULL:
            raise UserError(
                f"The disk with {root} is full; make room for {format_size(_needed(wanted))} and "
                f"fetch {wanted.title} again, which goes on where it ended."
            ) from None
        why = error.strerror or str(error)
        raise UserError(f"{error.filename or root} cannot be written ({why}).") from None


def _needed(wanted: Download) -> int:
    return sum(f.needed for f in wanted.missing)
