"""The paths of many photos below one folder, each made when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload


@dataclass(frozen=True)
class PhotoPaths(Sequence[Path]):
    """The photos of a folder. A hundred thousand `Path` objects take a second and 50 MB.

    Args:
        folder: The folder.
        names: The path of each photo below it.
    """

    folder: Path
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, number: int) -> Path: ...

    @overload
    def __getitem__(self, number: slice) -> PhotoPaths: ...

    def __getitem__(self, number: int | slice) -> Path | PhotoPaths:
        if isinstance(number, slice):
            return PhotoPaths(self.folder, self.names[number])
        return self.folder / self.names[number]
