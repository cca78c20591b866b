"""Models of open_clip on the Hugging Face Hub, as downloads.

The Hub states the size and the checksum of each file; they are read when a fetch starts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from threading import Event
from typing import Any

from vsdemo.core import json_files
from vsdemo.core.errors import UserError
from vsdemo.core.paths import fetch_root
from vsdemo.core.progress import StageProgress
from vsdemo.data.downloads.download import download
from vsdemo.data.downloads.files import Download, RemoteFile

HOST = "https://huggingface.co"
CONFIG, WEIGHTS = "open_clip_config.json", "open_clip_model.safetensors"
TOKENIZER = ("*token*.json", "*.model", "merges.txt", "vocab.json", "vocab.txt")
LISTING = 5_000_000  # bytes of the list of a repository's files, at most


def check_repository(repository: str) -> None:
    """Raise UserError unless a text is an OWNER/NAME."""
    if not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", repository):
        raise UserError(f"{repository!r} is not an OWNER/NAME of the Hugging Face Hub.")


def folder_of(repository: str) -> Path:
    """Return the folder of a model that is fetched."""
    return fetch_root() / "clip" / repository.replace("/", "--")


@dataclass(frozen=True)
class HubFile(RemoteFile):
    """A file of a repository, kept as it is."""

    @property
    def path(self) -> Path:
        """Where the file is stored until it is whole."""
        return fetch_root() / ".fetch" / self.destination.replace("/", "--")


@dataclass(frozen=True)
class HubModel(Download):
    """A model whose files have known names and approximate sizes, without asking the Hub."""

    def checked(self) -> tuple[RemoteFile, ...]:
        """Return the missing files with the sizes and the checksums that the Hub states.

        Raises:
            UserError: The Hub cannot be reached, or the repository has no such file.
        """
        names = [file.target.name for file in self.missing]
        listing = _listing(self.repository) if names else {}
        for name in names:
            if name not in listing:
                raise UserError(
                    f"{self.repository} on the Hugging Face Hub has no {name} any more."
                )
        return tuple(_stated(self.repository, listing[name]) for name in names)


def hub_file(repository: str, name: str, *, size: int) -> HubFile:
    """Return a file whose checksum is not known yet.

    Args:
        repository: OWNER/NAME.
        name: Name of the file.
        size: Its approximate size in bytes.
    """
    return HubFile(
        url=f"{HOST}/{repository}/resolve/main/{name}",
        size=size,
        digest="",
        destination=str((folder_of(repository) / name).relative_to(fetch_root())),
        unpacked_size=size,
        unpack=keep,
        repository=repository,
    )


def keep(file: Path, target: Path, progress: StageProgress, cancel: Event, size: int) -> None:
    """Move a downloaded file to its place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(file, target)


def model_download(repository: str) -> Download:
    """Return the download of a model of open_clip, with its tokenizer if that has files.

    Raises:
        UserError: It is not an OWNER/NAME, or the Hub cannot be reached or has no such model.
    """
    check_repository(repository)
    listing = _listing(repository)
    if missing := {CONFIG, WEIGHTS} - listing.keys():
        raise UserError(
            f"{repository} on the Hugging Face Hub has no {sorted(missing)[0]}, so open_clip "
            "cannot load it; choose a repository with both."
        )
    names = [CONFIG, *(n for n in listing if any(fnmatch(n, p) for p in TOKENIZER)), WEIGHTS]
    return Download(
        title=repository,
        about="a model of open_clip",
        files=tuple(_stated(repository, listing[name]) for name in names),
        terms="see its page on the Hugging Face Hub",
    )


def _stated(repository: str, entry: Mapping[str, Any]) -> HubFile:
    """Return a file with the size and the checksum that an entry of `_listing` states."""
    large = entry.get("lfs")
    digest = f"sha256:{large['oid']}" if large else f"git:{entry['oid']}"
    return replace(hub_file(repository, entry["path"], size=entry["size"]), digest=digest)


def _listing(repository: str) -> dict[str, dict[str, Any]]:
    """Return what the Hub states about the files of a repository, by name."""
    file = fetch_root() / ".fetch" / "lists" / repository  # errors mention this name
    url = f"{HOST}/api/models/{repository}/tree/main"
    try:
        download(url, file, lambda done, total: None, Event(), limit=LISTING)
        entries = json_files.load(file)
        return {entry["path"]: entry for entry in entries if entry["type"] == "file"}
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(
            f"The Hugging Face Hub sent an unexpected answer for {url}; try again later."
        ) from None
    finally:
        file.unlink(missing_ok=True)
