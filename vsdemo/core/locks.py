"""Files that a process holds: as long as it lives, or while it writes an entry of a cache.

The kernel releases such a lock when the process ends, also after `kill -9`. It belongs to the file
and not to its path, so it moves with the file's folder, and a copy of the folder is not locked. No
clock is involved.

Readers of a cache need no lock, because each entry is replaced as a whole.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

INHERITED = "VSDEMO_INHERITED_LOCKS"  # file descriptors that a process got with its locks
PATIENCE = 0.3  # seconds; `read_held` of another process takes a lock for a moment
MAX_BYTES = 10_000  # of the content that is read
POLL = 0.2  # seconds between two checks whether to keep waiting for a turn

Made = TypeVar("Made")


class HeldError(Exception):
    """Another process holds the file."""


class HeldFile:
    """A file that this process holds.

    Attributes:
        path: Where it was when it was locked.
        descriptor: Its file descriptor, to be inherited by another process.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self.descriptor = path, descriptor

    def write(self, text: str) -> None:
        """Replace the content, in one piece for readers of short ones."""
        content = text.encode()
        os.pwrite(self.descriptor, content, 0)
        os.ftruncate(self.descriptor, len(content))

    def close(self) -> None:
        """Stop holding the file; processes that have inherited it still hold it."""
        os.close(self.descriptor)

    def remove(self) -> None:
        """Delete the file, and stop holding it."""
        with suppress(OSError):
            if _is_same(self.descriptor, self.path):
                self.path.unlink()
        self.close()


def hold(path: Path) -> HeldFile:
    """Lock a file of an existing folder, and return it.

    Raises:
        HeldError: If another process holds it.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same(descriptor, path):  # it was not removed meanwhile
                return HeldFile(path, descriptor)
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                raise HeldError(f"another process holds {path}") from None
            time.sleep(0.01)
        os.close(descriptor)


@contextmanager
def holding(path: Path) -> Iterator[HeldFile]:
    """Hold a file within the block, and close it afterwards."""
    file = hold(path)
    try:
        yield file
    finally:
        file.close()


@contextmanager
def turn(path: Path, wait: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Wait until no other thread or process makes a cache entry, then let the block make it.

    Others may have made the entry in the meantime, so the block should first look for it.

    Args:
        path: The file or folder of the entry; the lock is a file next to it.
        wait: Called once before and again while others have their turn. An exception from it ends
            the waiting. If the block needs something else that it may have to wait for, such as a
            slot for long work, `wait` must get it at the first call; otherwise two blocks could
            wait for each other.
    """
    wait()
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=POLL)
    while True:
        try:
            lock.acquire()
            break
        except Timeout:
            wait()
    try:
        yield
    finally:
        lock.release()


def made_once(
    path: Path,
    read: Callable[[], Made | None],
    make: Callable[[], Made],
    wait: Callable[[], object] = lambda: None,
) -> Made:
    """Return the entry of a cache, which one thread or process makes if it is missing.

    Args:
        path: As for `turn`.
        read: Returns the entry; None if it is missing or damaged.
        make: Makes, writes and returns it.
        wait: As for `turn`.
    """
    if (stored := read()) is not None:
        return stored
    with turn(path, wait):
        made_meanwhile = read()
        return make() if made_meanwhile is None else made_meanwhile


def read_held(path: Path) -> str | None:
    """Return the content of a file that some process holds, this one included; None otherwise."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):  # ValueError: a path with a null character
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        return os.pread(descriptor, MAX_BYTES, 0).decode("utf-8", "replace")
    except OSError:  # a file system without locks
        return None
    finally:
        os.close(descriptor)


def inheritance(files: Sequence[HeldFile]) -> dict[str, str]:
    """Return the environment of a process that inherits the descriptors of these files."""
    return {INHERITED: ",".join(str(file.descriptor) for file in files)}


def is_inherited(path: Path) -> bool:
    """Whether this process holds a file because the one that started it did."""
    numbers = os.environ.get(INHERITED, "").split(",")
    return any(_is_same(int(number), path) for number in numbers if number.isdecimal())


def _is_same(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
