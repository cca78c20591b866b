"""Downloads that vsdemo reads without treating them as a gallery of photos."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vsdemo.core.paths import data_root


@dataclass(frozen=True)
class Source:
    """A corpus in its official layout.

    Args:
        name: Its name in the overview of all data.
        how_to_get: Where to download it, and where to put it.
        find: Returns the folder or archive; None if it is missing.
    """

    name: str
    how_to_get: str
    find: Callable[[], Path | None]


def source_below_data(name: str, *, marker: str, how_to_get: str, folder: str = "") -> Source:
    """Return a source that lies in a folder below VSDEMO_DATA.

    Args:
        name: Its name.
        marker: A file or folder in it that exists only in the real thing.
        how_to_get: Where to download it, and where to put it.
        folder: The folder's name; by default that of the source.
    """
    folder = folder or name

    def find() -> Path | None:
        root = data_root()
        return root / folder if root and (root / folder / marker).exists() else None

    return Source(name, how_to_get, find)
