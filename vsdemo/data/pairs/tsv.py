"""Lines of the text files that data sets of sentence pairs come in, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vsdemo.core.errors import UserError


@dataclass(frozen=True)
class Line:
    """A line of a file, counted from 1, cut into its cells."""

    path: Path
    number: int
    cells: Sequence[str]

    def wrong(self, what: str) -> UserError:
        """The error that says where something is wrong."""
        return UserError(f"{self.path}, line {self.number}: {what}; correct or remove the line.")

    def sentence(self, column: int) -> str:
        """The text of a cell, single-spaced. Raises UserError where it is empty."""
        if not (text := " ".join(self.cells[column].split())):
            raise self.wrong(f"column {column + 1} should hold a sentence but is empty")
        return text

    def score(self, column: int, low: float, high: float) -> float:
        """The number in a cell. Raises UserError where there is none from low to high."""
        text = self.cells[column].strip()
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            raise self.wrong(f"{text!r} is no score from {low:g} to {high:g}")
        return value


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file without their ends, a last empty one left out.

    Raises UserError when it is missing, or naming the first line in another encoding.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} is missing; put it beside the other files of its kind.") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}, line {line}: this is no UTF-8; save the file as that.") from None
    # not splitlines(), which takes rare characters within a sentence for the end of a line
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def rows(path: Path, columns: int) -> Iterator[Line]:
    """The lines of a file of cells between tabs.

    Raises UserError where a line has fewer than `columns` cells, and as `read_lines` does.
    """
    for number, text in enumerate(read_lines(path), 1):
        line = Line(path, number, text.split("\t"))
        if len(line.cells) < columns:
            have = len(line.cells)
            raise line.wrong(f"{columns} columns between tabs are needed, not {have}")
        yield line
