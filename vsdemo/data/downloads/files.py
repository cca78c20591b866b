"""The files of a download."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from vsdemo.core.paths import fetch_root
from vsdemo.core.progress import StageProgress
from vsdemo.data.downloads.download import bytes_on_disk, format_size
from vsdemo.data.downloads.unpack import partial_folder


@dataclass(frozen=True)
class RemoteFile:
    """A file to download and to unpack.

    Args:
        url: Its address.
        size: Bytes to download.
        digest: `algorithm:hexdigest`, with at least eight digits; `git` is the hash of a blob.
        destination: Where it is unpacked to, below the folder of the data sets.
        unpacked_size: Approximate bytes of the unpacked data.
        unpack: Creates the target from the downloaded file; the last argument is `unpacked_size`.
        repository: OWNER/NAME of the model on the Hugging Face Hub that it belongs to, or empty.
    """

    url: str
    size: int
    digest: str
    destination: str
    unpacked_size: int
    unpack: Callable[[Path, Path, StageProgress, Event, int], None]
    repository: str = ""

    @property
    def path(self) -> Path:
        """Where the file is stored until it is unpacked."""
        return fetch_root() / ".fetch" / self.url.rpartition("/")[2]

    @property
    def target(self) -> Path:
        """The file or folder that is created."""
        return fetch_root() / self.destination

    @property
    def required_space(self) -> int:
        """Bytes of disk space that the rest of the fetch needs."""
        folder = partial_folder(self.target)
        unpacked = sum(p.stat().st_size for p in folder.iterdir()) if folder.is_dir() else 0
        to_download = max(0, self.size - bytes_on_disk(self.path))
        return to_download + max(0, self.unpacked_size - unpacked)


@dataclass(frozen=True)
class Download:
    """One or more files that are fetched together.

    Args:
        title: Its name for users.
        about: What it contains, in a few words.
        files: The files.
        terms: The terms of use, if they are restricted.
        package: The Python package that its use needs beyond those of vsdemo, if any.
    """

    title: str
    about: str
    files: tuple[RemoteFile, ...]
    terms: str = ""
    package: str = ""

    @property
    def repository(self) -> str:
        """OWNER/NAME of the model on the Hugging Face Hub; empty for anything else."""
        return self.files[0].repository

    @property
    def size(self) -> int:
        """Bytes to download."""
        return sum(file.size for file in self.files)

    @property
    def missing(self) -> tuple[RemoteFile, ...]:
        """The files that have not been unpacked."""
        return tuple(file for file in self.files if not file.target.exists())

    def checked(self) -> tuple[RemoteFile, ...]:
        """Return the missing files with everything that is known about them when a fetch starts."""
        return self.missing

    @property
    def received(self) -> int:
        """Bytes of the missing files that have been downloaded."""
        return sum(bytes_on_disk(file.path) for file in self.missing)

    def __str__(self) -> str:
        needs = f"needs the package {self.package}" if self.package else ""
        parts = (self.about, format_size(self.size), self.terms, needs)
        return f"{self.title}: {', '.join(part for part in parts if part)}"
