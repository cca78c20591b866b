"""The captions of the photos in a folder: from one file for all, or from a text file for each.

    captions.csv, captions.tsv           see `table`
    captions.json, dataset*.json         the Karpathy format; it has its own splits
    photo.txt or photo.jpg.txt           see `texts`

A Karpathy file stands alone; photos that a table leaves out may have text files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.data.datasets.own import karpathy_captions, table, texts
from vsdemo.data.datasets.own.caption_list import Captions, PhotoNames

TABLES = ("captions.csv", "captions.tsv")
KARPATHY = ("captions.json", "dataset*.json")


def captions_file(folder: Path) -> Path | None:
    """Return the file with the captions of all photos; None if there is none.

    Raises:
        UserError: There are several.
    """
    files = _captions_files(folder)
    if len(files) > 1:
        names = ", ".join(file.name for file in files)
        raise UserError(f"{folder} has several files of captions ({names}); keep one of them.")
    return files[0] if files else None


def has_captions(folder: Path, paths: Sequence[str]) -> bool:
    """Return whether a folder has a file of captions, or a photo a text file."""
    return bool(_captions_files(folder)) or bool(texts.text_files(folder, paths))


def read_captions(folder: Path, paths: Sequence[str]) -> Captions:
    """Return the captions of a folder.

    Args:
        folder: The folder.
        paths: Its photos, as paths below it with forward slashes.

    Raises:
        UserError: The file of captions cannot be read, names photos outside of the folder, or is
            not the only one.
    """
    file = captions_file(folder)
    if file is None:
        return texts.read(folder, paths)
    names = PhotoNames(paths)
    if file.name not in TABLES:
        return karpathy_captions.read(file, names)
    listed = table.read(file, names)
    beside = texts.read(folder, [path for path in paths if path not in listed.of])
    return Captions({**listed.of, **beside.of}, [*listed.problems, *beside.problems])


def _captions_files(folder: Path) -> list[Path]:
    patterns = (*TABLES, *KARPATHY)
    return [file for pattern in patterns for file in sorted(folder.glob(pattern)) if file.is_file()]
