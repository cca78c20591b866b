"""Tables of captions: one row per caption, with a header.

    file,caption
    beach/1.jpg,"A dog runs, wet, along a beach."
    beach/1.jpg,A wet dog.

The columns are called file, filename, image or photo, and caption, text or sentence, in upper or
lower case and any order. Cells are separated by commas, semicolons, tabs or |. Paths are below the
folder of the table.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from vsdemo.core.errors import UserError
from vsdemo.data.datasets.own.caption_list import (
    CaptionList,
    Captions,
    Kind,
    PhotoNames,
    read_text,
    tidy,
)

FILE_COLUMNS = ("file", "filename", "image", "photo")
CAPTION_COLUMNS = ("caption", "text", "sentence")
DELIMITERS = ",;\t|"
SEPARATOR_LINE = re.compile(r"sep=.\s*")  # a line that Excel reads and some programs write
DRIVE = re.compile(r"[A-Za-z]:")
MAX_SHOWN = 60  # characters of a cell in a message


def read(file: Path, names: PhotoNames) -> Captions:
    """Return the captions in a table.

    Args:
        file: The table.
        names: Finds the photos of its folder.

    Raises:
        UserError: It has no header, is malformed, or names a photo outside of its folder.
    """
    captions = CaptionList()
    for line, row in _rows(file, read_text(file, captions.problems)):
        where = f"{file.name}, line {line}"
        if row is None:
            captions.problem(
                Kind.INCOMPLETE, f"{where} is incomplete; write a file and a caption, or remove it."
            )
            continue
        name, caption = row
        photo = names.find(name) or names.find(_path_below(name, where))
        if photo is None:
            captions.problem(
                Kind.MISSING_PHOTO,
                f"{where}: there is no photo {tidy(name)[:MAX_SHOWN]} in {file.parent}; add it, or "
                "remove the line.",
            )
        else:
            captions.add(photo, caption, where)
    return captions.result()


def _rows(file: Path, text: str) -> Iterator[tuple[int, tuple[str, str] | None]]:
    """Yield the number of the line and file and caption of each row; None if one is missing."""
    lines = list(io.StringIO(text, newline=""))  # splits at ends of lines only
    start = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines and SEPARATOR_LINE.fullmatch(lines[start]):
        start += 1
    header = lines[start] if start < len(lines) else ""
    delimiter, file_column, caption_column, width = _columns(file, header)
    reader = csv.reader(lines[start:], delimiter=delimiter, strict=True)
    next(reader)
    line = start + reader.line_num + 1
    try:
        for row in reader:
            if len(row) > width and caption_column == width - 1:  # an unquoted delimiter
                row[caption_column:] = [delimiter.join(row[caption_column:])]
            if len(row) == width and row[file_column].strip():
                yield line, (row[file_column].strip(), row[caption_column])
            elif any(map(str.strip, row)):
                yield line, None
            line = start + reader.line_num + 1
    except csv.Error as error:
        raise UserError(
            f"{file}, line {line}: the quotes cannot be read ({error}); put a caption with quotes "
            'in "..." and write each of its quotes twice.'
        ) from None


def _columns(file: Path, header: str) -> tuple[str, int, int, int]:
    """Return the delimiter, the columns of files and of captions, and the number of columns."""
    for delimiter in DELIMITERS:
        cells = [tidy(cell).lower() for cell in next(csv.reader([header], delimiter=delimiter), [])]
        files = [cells.index(name) for name in FILE_COLUMNS if name in cells]
        captions = [cells.index(name) for name in CAPTION_COLUMNS if name in cells]
        if files and captions:
            return delimiter, files[0], captions[0], len(cells)
    raise UserError(
        f"{file} has no header with the columns file and caption; its first line is "
        f"{tidy(header)[:MAX_SHOWN]!r}: write `file,caption` above it."
    )


def _path_below(name: str, where: str) -> str:
    """Return a path below the folder with forward slashes.

    Raises:
        UserError: It leads out of the folder.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or DRIVE.match(name) or ".." in path.parts:
        raise UserError(
            f"{where}: the path {tidy(name)[:MAX_SHOWN]} leads out of the folder; write the path "
            "of a photo below it."
        )
    return str(path)
