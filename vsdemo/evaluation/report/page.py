"""The page of results: template.md, filled with the records below checkpoints/.

The functions of `Page` that the template calls take keys: the path of a checkpoint's folder or of a
record without its ".json", below checkpoints/.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from vsdemo.core import markdown
from vsdemo.core.errors import UserError
from vsdemo.evaluation import sts_report
from vsdemo.evaluation.report import records
from vsdemo.evaluation.report.figures import Figure, MissingFigure, Value, fill, find
from vsdemo.evaluation.report.records import EARLIER, Record
from vsdemo.evaluation.tasks.hypernyms import Hypernyms
from vsdemo.evaluation.tasks.retrieval import Retrieval
from vsdemo.models import checkpoint, licences
from vsdemo.models.licences import Licence

RESULTS = "results"  # folder of records below checkpoints/
MARK = " †"  # follows figures that an earlier run measured


@dataclass(frozen=True)
class Row:
    """A row of a table: a record, or a part of one.

    Args:
        record: The record that its figures come from.
        path: Names of the group of figures that it is about.
        texts: Cells that are not figures, by name.
        beside: Records of other tasks; the first name of their figures is the key here.
    """

    record: Record
    path: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, Record] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """MARK for figures of an earlier run."""
        return MARK if self.record.source == EARLIER else ""

    @property
    def title(self) -> str:
        """Title of the row in a table, with its mark."""
        return self.texts.get("title", self.record.title) + self.mark

    def get(self, name: str) -> Value | None:
        """Return the title, a text, the minutes or a figure by its names, joined by spaces.

        `reported` before the names of a figure means that of the paper.
        """
        if name == "title":
            return self.title
        if name in self.texts:
            return self.texts[name]
        if name == "minutes":
            minutes = self.record.minutes
            return None if minutes is None else Figure(minutes)
        first, *names = name.split()
        reported = first == "reported"
        if reported:
            first, *names = names
        if first in self.beside:
            record, path = self.beside[first], names
        else:
            record, path = self.record, [*self.path, first, *names]
        return find((record.paper or {}) if reported else record.figures, path)

    def cell(self, pattern: str, *, paper: bool) -> str:
        """Return a pattern with the row's figures, or "" where one is missing.

        Args:
            pattern: See `figures.fill`.
            paper: Whether to add the paper's figures in brackets, where it has them all.
        """
        try:
            text = fill(pattern, self.get)
        except MissingFigure:
            return ""
        if not paper:
            return text
        try:
            return f"{text} ({fill(pattern, lambda name: self.get(f'reported {name}'))})"
        except MissingFigure:
            return text


class Page:
    """What the template can call.

    Args:
        root: The folder checkpoints/.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._records: dict[str, Record] = {}

    def render(self) -> str:
        """Return the page.

        Raises:
            UserError: A record is missing or damaged, or lacks a figure that the text quotes.
        """
        environment = Environment(  # Markdown: nothing is escaped
            loader=FileSystemLoader(Path(__file__).parent),
            undefined=StrictUndefined,
            trim_blocks=True,
            keep_trailing_newline=True,
        )
        environment.globals |= {
            "row": self.row,
            "rows": self.rows,
            "table": self.table,
            "retrieval": self.retrieval,
            "hypernyms": self.hypernyms,
            "sts": self.sts,
            "sts_wins": self.sts_wins,
            "quote": self.quote,
            "cell": self.cell,
            "figure": self.figure,
            "licences": self.licences,
        }
        return environment.get_template("template.md").render()

    def unused(self) -> list[Path]:
        """Return the files of records that `render` has not used."""
        files = sorted((self.root / RESULTS).rglob("*.json"))
        return [path for path in files if self._key(path) not in self._records]

    def _key(self, path: Path) -> str:
        return path.relative_to(self.root).with_suffix("").as_posix()

    def record(self, key: str) -> Record:
        """Return a record, or the metrics of a checkpoint."""
        if key not in self._records:
            if key.startswith(f"{RESULTS}/"):
                self._records[key] = records.read(self.root / f"{key}.json")
            else:
                self._records[key] = records.read_checkpoint(self.root, key)
        return self._records[key]

    def row(self, key: str, path: str = "", **texts: str) -> Row:
        """Return a row of a table.

        Args:
            key: Key of the record.
            path: Names of a group of its figures, joined by spaces.
            **texts: Cells that are not figures, by name; `title` instead of the record's.
        """
        return Row(record=self.record(key), path=tuple(path.split()), texts=texts)

    def rows(self, topic: str, names: Sequence[str], **beside: str) -> list[Row]:
        """Return a row for each of these records of a topic.

        Args:
            topic: Folder of the records.
            names: Names of the records.
            **beside: First name of figures -> topic of the records that have these figures; the
                records have the same names there.
        """
        return [
            replace(
                self.row(f"{RESULTS}/{topic}/{name}"),
                beside={
                    first: self.record(f"{RESULTS}/{other}/{name}")
                    for first, other in beside.items()
                },
            )
            for name in names
        ]

    def table(self, rows: Sequence[Row], columns: Mapping[str, str], *, paper: bool = False) -> str:
        """Return a Markdown table.

        Args:
            rows: See `row` and `rows`.
            columns: Title -> pattern of a cell.
            paper: Whether the paper's figures follow in brackets.
        """
        cells = [[row.cell(pattern, paper=paper) for pattern in columns.values()] for row in rows]
        return markdown.table(list(columns), cells)

    def retrieval(self, keys: Sequence[str]) -> str:
        """Return the table of retrieval, on test where figures are grouped by split."""
        return self._table_by(partial(Retrieval().table, label="model"), keys)

    def hypernyms(self, keys: Sequence[str]) -> str:
        """Return the table of hypernyms, on test."""
        return self._table_by(partial(Hypernyms().table, label="model"), keys)

    def sts(self, keys: Sequence[str]) -> str:
        """Return the table of sentence similarity, next to the paper's figures."""
        return self._table_by(sts_report.table, keys)

    def _table_by(
        self, writer: Callable[[Mapping[str, dict[str, Any]]], str], keys: Sequence[str]
    ) -> str:
        """Return the table that a task writes for these records.

        Raises:
            UserError: A record is of another task.
        """
        results = {}
        for key in keys:
            row, figures = self.row(key), self.record(key).figures
            results[row.title] = figures.get("test", figures)
            try:
                writer({row.title: results[row.title]})
            except LookupError as error:
                raise UserError(_missing(key, error)) from None
        return writer(results)

    def quote(self, key: str, pattern: str) -> str:
        """Return a pattern with figures of a record, for a sentence.

        Raises:
            UserError: There is no such figure.
        """
        row = self.row(key)
        try:
            return fill(pattern, row.get)
        except MissingFigure as error:
            raise UserError(_missing(key, error)) from None

    def cell(self, key: str, pattern: str) -> str:
        """Return `quote` with the mark of the record's source."""
        return self.quote(key, pattern) + self.row(key).mark

    def figure(self, key: str, name: str) -> float:
        """Return a figure as a number, to calculate with.

        Raises:
            UserError: There is no such figure.
        """
        value = self.row(key).get(name)
        if not isinstance(value, Figure):
            raise UserError(_missing(key, name))
        return value.value

    def sts_wins(self, key: str, over: str) -> int:
        """Return in how many of the paper's sets a record has the higher correlation.

        Args:
            key: Key of the record.
            over: Key of another record, or title of a column of the paper.
        """
        figures = self.record(key).figures
        sets = [name for name in sts_report.PAPER if name in figures]
        if over in sts_report.COLUMNS:
            column = sts_report.COLUMNS.index(over)
            others = [sts_report.PAPER[name][column] for name in sets]
        else:
            others = [self.figure(over, f"{name} pearson") for name in sets]
        own = [self.figure(key, f"{name} pearson") for name in sets]
        return sum(a > b for a, b in zip(own, others, strict=True))

    def licences(self) -> str:
        """Return the table of the licences of all shipped weights, a row for each licence."""
        weights: dict[Licence, list[str]] = {}
        for path in sorted(self.root.glob("*/*/config.json")):
            licence = licences.of(checkpoint.read_spec(path.parent))
            weights.setdefault(licence, []).append(f"`{self._key(path.parent)}`")
        others = {
            "pocket": licences.POCKET,
            "easel": licences.EASEL,
            "finder": licences.FINDER,
            "stanza-en": licences.PARSER,
        }
        for name, licence in others.items():
            weights.setdefault(licence, []).append(f"`{name}`")
        rows = [
            [licence.label, ", ".join(names), licence.terms] for licence, names in weights.items()
        ]
        return markdown.table(["licence", "weights", "learned from"], rows)


def _missing(key: str, name: object) -> str:
    return f"checkpoints/{key} has no figure {name}, which the report needs; measure it again."
