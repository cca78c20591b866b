"""JSON that others may have written or damaged, read with limits on its size and depth."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

MAX_BYTES = 1_000_000  # of a file that is read at once


def parse(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: If the text is malformed, or nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def load(path: Path) -> Any:
    """Return the value of a JSON file of any size.

    Raises:
        OSError: If the file cannot be read.
        ValueError: As `parse`.
    """
    return parse(path.read_bytes())


def read(path: Path) -> Any:
    """Return the value of a JSON file; None if it is missing, damaged, too large or not a file."""
    content = read_bytes(path, MAX_BYTES + 1)
    if content is None or len(content) > MAX_BYTES:
        return None
    try:
        return parse(content)
    except ValueError:
        return None


def read_bytes(path: Path, limit: int, start: int = 0) -> bytes | None:
    """Return at most `limit` bytes of a file from position `start` on.

    Returns None if it is missing or not a regular file. (Opening a pipe would wait for its writer.)
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):  # ValueError: a path with a null character
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            file.seek(start)
            return file.read(limit)
    finally:
        os.close(descriptor)
