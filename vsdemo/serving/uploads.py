"""Uploaded files: each belongs to the visitor who uploaded it, and is deleted after a while."""

from __future__ import annotations

import hmac
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import time

from vsdemo.serving import visitors

NAME = 32  # hexadecimal digits that nobody can guess; those of a signature follow
CLAIMED = re.compile("[0-9a-f]{32}-[0-9a-f]{32}")  # name of the folder of an uploaded file
FRESH = 10.0  # seconds; younger files may still be written


class UploadFolder:
    """The folder of uploaded files, and of the copies of them that pages show.

    An uploaded file gets a path that nobody can guess. Only the visitor who uploaded it may name
    it; a program without a cookie may name what was uploaded without one. A signature in
    the path tells whose file it is, so that every process knows it, even after a restart.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def claim(self, path: str, visitor: str | None) -> str:
        """Move a file that was just uploaded to its own path, and return that.

        Args:
            path: Where it was stored.
            visitor: Token of the visitor; None for a program without a cookie.
        """
        name = _claimed(secrets.token_hex(NAME // 2), visitor)
        source, target = Path(path), self.folder / name / Path(path).name
        target.parent.mkdir(parents=True)
        shutil.move(source, target)
        with suppress(OSError):  # another upload of the same photo may be there
            source.parent.rmdir()
        return str(target)

    def discard(self, paths: Sequence[str]) -> None:
        """Delete files that were claimed."""
        for path in map(Path, paths):
            shutil.rmtree(path.parent, ignore_errors=True)

    def is_foreign(self, text: str, visitor: str | None) -> bool:
        """Return whether a text names an upload of another visitor.

        A file that is named counts as used, so it is not deleted for a while.
        """
        name = self._name(text)
        if name is None or not CLAIMED.fullmatch(name):
            return False
        if not any(_is_claimed(name, owner) for owner in (None, visitor)):
            return True
        for file in (self.folder / name).glob("*"):
            with suppress(OSError):
                file.touch()
        return False

    def delete_old(self, seconds: float, max_bytes: int) -> int:
        """Delete unused files.

        Args:
            seconds: Age of files to delete.
            max_bytes: Bytes to keep; above that, the least recently used are deleted too.

        Returns:
            How many files were deleted.
        """
        files = sorted(self._files(), key=lambda file: file[1], reverse=True)  # newest first
        now, kept, deleted = time(), 0, 0
        for path, modified, size in files:
            age = now - modified
            if age > seconds or (kept + size > max_bytes and age > FRESH):
                with suppress(OSError):
                    path.unlink()
                    deleted += 1
                with suppress(OSError):
                    path.parent.rmdir()
            else:
                kept += size
        return deleted

    def _files(self) -> Iterator[tuple[Path, float, int]]:
        """Yield each file with the time when it was used last, and its bytes."""
        for path in self.folder.rglob("*"):
            with suppress(OSError):  # it was deleted meanwhile
                if path.is_file() and not path.is_symlink():
                    facts = path.stat()
                    yield path, facts.st_mtime, facts.st_size

    def _name(self, text: str) -> str | None:
        """Return the folder of an upload that a path leads to; None if it leads elsewhere."""
        start = text.find(str(self.folder))
        if start < 0:
            return None
        with suppress(ValueError, OSError):
            parts = Path(text[start:]).resolve().relative_to(self.folder).parts
            return parts[0] if parts else None
        return None


def _claimed(name: str, visitor: str | None) -> str:
    """Return the name of the folder of a visitor's file."""
    signature = visitors.sign(f"upload {name} {visitor or ''}")
    return f"{name}-{signature}"


def _is_claimed(folder: str, visitor: str | None) -> bool:
    """Whether a folder is that of a visitor's file."""
    return hmac.compare_digest(folder, _claimed(folder[:NAME], visitor))
