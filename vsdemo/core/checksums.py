"""SHA-256 checksums: of any file, and lists of them by which damaged files are detected.

A list is a file SHA256SUMS in the format of `sha256sum`, so that `sha256sum -c SHA256SUMS` checks
it too. It is in the folder of the files that it lists, or above it. Checkpoints have one, and so
does the packaged data; files are checked against it when they are read.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT, atomic, write_text

LIST = "SHA256SUMS"
LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")
MAX_FILES = 100_000  # files whose checksums are remembered

Sums = dict[str, frozenset[str]]  # name -> checksums; the file has one of them


class DamagedFile(UserError):
    """Raised for a file that is not as it was written.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        shipped = (ROOT / "checkpoints", ROOT / "vsdemo")
        folder = next((folder for folder in shipped if path.is_relative_to(folder)), None)
        if folder:
            remedy = f"restore it with `git restore {folder.name}`, or install vsdemo again"
        else:
            remedy = "restore it from a copy, or make it again"
        super().__init__(f"{path} is damaged; {remedy}.")


def file_version(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file is written: its inode, size in bytes and time in ns.

    Raises:
        OSError: The file does not exist.
    """
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits; an unchanged file is read once.

    Raises:
        OSError: The file cannot be read.
    """
    return _sha256(path, file_version(path))


@lru_cache(maxsize=MAX_FILES)
def _sha256(path: Path, version: tuple[int, int, int]) -> str:
    del version  # only part of the key
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(path: Path, folder: Path | None = None) -> None:
    """Compare a file with its checksum, if it is in the list.

    Args:
        path: The file.
        folder: Folder of the list; by default that of the file.

    Raises:
        DamagedFile: The file has changed or cannot be read, or the list is damaged.
    """
    folder = folder or path.parent
    expected = read_list(folder).get(path.relative_to(folder).as_posix())
    try:
        if expected and sha256(path) not in expected:
            raise DamagedFile(path)
    except OSError:
        raise DamagedFile(path) from None


def read_list(folder: Path) -> Sums:
    """Return the list of a folder; empty if there is none.

    Raises:
        DamagedFile: The list is damaged.
    """
    path = folder / LIST
    try:
        return _read_list(path, file_version(path))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError):
        raise DamagedFile(path) from None


@lru_cache(maxsize=1000)
def _read_list(path: Path, version: tuple[int, int, int]) -> Sums:
    del version  # only part of the key
    sums: defaultdict[str, set[str]] = defaultdict(set)
    for line in path.read_text(encoding="utf-8").splitlines():
        match = LINE.fullmatch(line)
        if match is None:
            raise ValueError(line)
        sums[match[2]].add(match[1])
    if not sums:
        raise ValueError("it is empty")
    return {name: frozenset(digests) for name, digests in sums.items()}


def write_files(folder: Path, contents: Mapping[str, bytes], remove: Collection[str] = ()) -> None:
    """Write files of a folder and their checksums.

    After a crash each file is the old or the new one, and the list accepts both. Files to delete
    leave the list first, so that none of them is reported as missing.

    Args:
        folder: The folder, which is made if it is missing.
        contents: Name -> content.
        remove: Names of files to delete.

    Raises:
        OSError: The disk is full or the folder is read-only.
    """
    try:
        before = read_list(folder)
    except DamagedFile:
        before = {}
    kept = {name: digests for name, digests in before.items() if name not in remove}
    new = {n: frozenset([hashlib.sha256(data).hexdigest()]) for n, data in contents.items()}
    either = {name: before.get(name, frozenset()) | digests for name, digests in new.items()}
    _write_list(folder, kept | either)
    for name, content in contents.items():
        with atomic(folder / name) as temporary:
            temporary.write_bytes(content)
    for name in remove:
        (folder / name).unlink(missing_ok=True)
    _write_list(folder, kept | new)


def write_list(folder: Path, files: Collection[Path]) -> None:
    """Write the list of files below a folder as they are now."""
    _write_list(folder, {f.relative_to(folder).as_posix(): frozenset([sha256(f)]) for f in files})


def _write_list(folder: Path, sums: Sums) -> None:
    lines = [f"{digest}  {name}\n" for name in sorted(sums) for digest in sorted(sums[name])]
    write_text(folder / LIST, "".join(lines))
