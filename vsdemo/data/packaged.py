"""The data that comes with this package: texts whose checksums are compared when they are read.

SHA256SUMS in this folder lists them; `python -m vsdemo checksums --write` brings it up to date.
"""

from __future__ import annotations

from pathlib import Path

from vsdemo.core import checksums
from vsdemo.core.checksums import DamagedFile

FOLDER = Path(__file__).parent
SUFFIXES = (".json", ".svg", ".toml", ".tsv", ".txt")


def read_text(path: Path) -> str:
    """Return the text of a file below this folder.

    Raises:
        DamagedFile: The file is missing or has changed.
    """
    check(path)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise DamagedFile(path) from None


def check(path: Path) -> None:
    """Raise DamagedFile if a file below this folder has changed."""
    if path.is_relative_to(FOLDER):
        checksums.check(path, FOLDER)


def write_text(path: Path, text: str) -> None:
    """Write a file below this folder, and its checksum."""
    name = path.relative_to(FOLDER).as_posix()
    checksums.write_files(FOLDER, {name: text.encode()})


def files() -> list[Path]:
    """Return the files that are listed."""
    return sorted(path for path in FOLDER.rglob("*") if path.suffix in SUFFIXES)
