"""Text files with one record per line, and errors that name the line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vsdemo.core.errors import UserError


@dataclass(frozen=True)
class Line:
    """A line of a file.

    Args:
        path: The file.
        number: The line's number, counted from 1.
        cells: The values in the line.
    """

    path: Path
    number: int
    cells: Sequence[str]

    def error(self, problem: str) -> UserError:
        """Return an error that says where the problem is."""
        return UserError(f"{self.path}, line {self.number}: {problem}; correct or remove the line.")

    def sentence(self, column: int) -> str:
        """Return the text of a cell with single spaces.

        Raises:
            UserError: The cell is empty.
        """
        text = " ".join(self.cells[column].split())
        if not text:
            raise self.error(f"column {column + 1} should contain a sentence but is empty")
        return text

    def score(self, column: int, low: float, high: float) -> float:
        """Return the number in a cell.

        Raises:
            UserError: It is not a number from `low` to `high`.
        """
        text = self.cells[column].strip()
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            raise self.error(f"{text!r} is not a score from {low:g} to {high:g}")
        return value


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file without their ends and without a last empty line.

    Raises:
        UserError: The file is missing, or not UTF-8 in the line that the message names.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise UserError(
            f"{path} is missing; put it into the folder of this data set's other files."
        ) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}, line {line}: not valid UTF-8; save the file as UTF-8.") from None
    # splitlines() would also split at rare characters within sentences.
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def rows(path: Path, columns: int) -> Iterator[Line]:
    """Yield the lines of a tab-separated file.

    Raises:
        UserError: A line has fewer than `columns` cells, or as for `read_lines`.
    """
    for number, text in enumerate(read_lines(path), start=1):
        line = Line(path, number, text.split("\t"))
        if len(line.cells) < columns:
            raise line.error(f"expected {columns} tab-separated columns, found {len(line.cells)}")
        yield line
