"""Lists the photo files below a folder."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.images import SUFFIXES
from vsdemo.core.progress import Progress

REPORT_EVERY = 1000  # files between two calls of `progress`
LATEST = 2**63 - 1  # nanoseconds since 1970 that SQLite can store, until the year 2262
STOPPED = "Stopped; run the same command again to continue."


@dataclass(frozen=True)
class PhotoFile:
    """A file as its folder lists it.

    Attributes:
        path: Its path below the scanned folder. Names that are not UTF-8 have surrogates.
        size: Bytes.
        modified: When it was last written, in nanoseconds; at most `LATEST`.
    """

    path: str
    size: int
    modified: int

    @classmethod
    def of(cls, path: str, status: os.stat_result) -> PhotoFile:
        """Return a file with the size and time that the system reports."""
        return cls(path, status.st_size, min(status.st_mtime_ns, LATEST))


@dataclass
class Scan:
    """What a folder contains.

    Attributes:
        files: Its photo files, sorted by path.
        unreadable: Subfolders and files that cannot be listed -> why.
    """

    files: list[PhotoFile] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)


def scan(folder: Path, progress: Progress, cancel: Event) -> Scan:
    """List the photo files below a folder, without hidden ones.

    Symbolic links are followed; a folder that can be reached in several ways is listed once.

    Args:
        folder: The folder.
        progress: Called with (files so far, 0).
        cancel: Set it to stop.

    Raises:
        Cancelled: `cancel` is set.
        UserError: The folder itself cannot be listed.
    """
    result = Scan()
    visited: set[tuple[int, int]] = set()
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            entries = list(_list(folder, below, visited))
        except OSError as error:
            if not below:
                raise UserError(
                    f"The folder {folder} cannot be read ({error.strerror}); connect its drive, or "
                    "check its permissions."
                ) from None
            result.unreadable[below] = str(error.strerror)
            continue
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            try:
                if entry.is_dir():
                    waiting.append(path)
                elif os.path.splitext(entry.name)[1].lower() in SUFFIXES:
                    result.files.append(_photo_file(entry, path))
                else:
                    continue
            except OSError as error:  # a dangling link, or the file is gone
                result.unreadable[path] = str(error.strerror)
            if len(result.files) % REPORT_EVERY == 0:
                progress(len(result.files), 0)
                if cancel.is_set():
                    raise Cancelled(STOPPED)
    result.files.sort(key=lambda file: os.fsencode(file.path))
    return result


def _photo_file(entry: os.DirEntry[str], path: str) -> PhotoFile:
    status = entry.stat()
    if not stat.S_ISREG(status.st_mode):  # a pipe or a device, which may never end
        raise OSError(errno.EINVAL, "it is no regular file")
    return PhotoFile.of(path, status)


def _list(folder: Path, below: str, visited: set[tuple[int, int]]) -> Iterator[os.DirEntry[str]]:
    """Yield what is in a subfolder, unless it was visited before."""
    path = os.path.join(folder, below)
    status = os.stat(path)
    identity = status.st_dev, status.st_ino
    if identity in visited:
        return
    visited.add(identity)
    with os.scandir(path) as entries:
        yield from (entry for entry in entries if not entry.name.startswith("."))
