"""The page of results: template.md, filled with the records below checkpoints/.

The functions of `Page` that the template calls take keys: the path of a checkpoint's folder or of a
record without its ".json", below checkpoints/.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from vsdemo.core import markdown
from vsdemo.core.errors import UserError
from vsdemo.core.nested import unflatten
from vsdemo.evaluation import sts_report
from vsdemo.evaluation.composition import matrix_norms
from vsdemo.evaluation.experiments.experiment import Claim, Experiment, load, names
from vsdemo.evaluation.metrics.ranks import RECALLS, chance
from vsdemo.evaluation.metrics.retrieval import DIRECTIONS
from vsdemo.evaluation.report import records
from vsdemo.evaluation.report.figures import Figure, MissingFigure, Value, fill, find
from vsdemo.evaluation.report.records import EXPERIMENTS, Record
from vsdemo.evaluation.report.repeat import TOLERANCE
from vsdemo.evaluation.report.seen import NOTHING, features, photos, spec_of_row, text
from vsdemo.evaluation.tables import TITLES
from vsdemo.evaluation.tasks.hypernyms import Hypernyms
from vsdemo.evaluation.verdicts import RULE, joint_verdict, verdict
from vsdemo.models import checkpoint, licences
from vsdemo.models.licences import Licence

RESULTS = "results"  # folder of records below checkpoints/
LARGEST = 5  # matrices that are named
PAPERS_FILE = Path(__file__).parent / "papers.toml"
NAMES = {  # of figures in sentences, where their own are not clear
    "lengths t2i": "mean rank",
    "lengths short_to_long": "mean rank",
    "first_captions rsum": "rsum",
    "nli SNLI accuracy": "accuracy:",
    "nli SICK accuracy": "accuracy:",
    "hypernyms paper accuracy": "accuracy:",
    "detail level1 meanr": "mean rank",
    "similarity meanr": "mean rank",
    "sts STS pearson": "STS, r x 100:",
    "sts STS-B pearson": "STS-B:",
    "sts SICK-R pearson": "SICK-R:",
    "voices voice": "`other voice`:",
    "voices photo": "`true roles`:",
    "verbs length_gap": "difference of mean ranks:",
    "typos two r10": "R@10 with two typos:",
    "typos drop two r10": "loss of R@10:",
}
SEEN = ("features", "other text")  # what the rows of an experiment can differ in
RETRIEVAL = {
    "model": "{title}",
    "features": "{features}",
    "photos": "{photos}",
    "other text": "{text}",
    "seed": "{seed}",
    **{f"{direction} R@{k}": f"{{{direction} r{k}}}" for direction in DIRECTIONS for k in RECALLS},
    **{f"{direction} mean r": f"{{{direction} meanr:.1f}}" for direction in DIRECTIONS},
    "rsum": "{rsum}",
}


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
    def title(self) -> str:
        """Title of the row in a table."""
        return self.texts.get("title", self.record.title)

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
        text = self._filled(pattern)
        reported = self._filled(pattern, "reported ") if paper else ""
        return f"{text} ({reported})".lstrip() if reported else text

    def _filled(self, pattern: str, before: str = "") -> str:
        """Return a pattern with figures, or "" where one is missing."""
        try:
            return fill(pattern, lambda name: self.get(before + name))
        except MissingFigure:
            return ""


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
            "sts_beside_paper": self.sts_beside_paper,
            "peak": self.peak,
            "rise": self.rise,
            "verdict": self.verdict,
            "deciding_intervals": self.deciding_intervals,
            "quote": self.quote,
            "figure": self.figure,
            "dev_log": self.dev_log,
            "licences": self.licences,
            "experiment": self.experiment,
            "retrained": self.retrained,
            "largest_matrices": self.largest_matrices,
            "matrix_place": self.matrix_place,
            "claims": self.claims,
            "curve": self.curve,
            "coverage": self.coverage,
            "chance": self.chance,
            "reported": self.reported,
            "about": about,
            "rule": RULE,
            "tolerance": TOLERANCE,
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
        """Return the table of retrieval of checkpoints that ship, and what each has seen."""
        rows = []
        for key in keys:
            spec = checkpoint.read_spec(self.root / key)
            seen = {
                "features": features(spec),
                "photos": photos(spec),
                "text": text(spec),
                "seed": str(spec.config.seed),
            }
            rows.append(self.row(key, "test", **seen))
        return self.table(rows, RETRIEVAL)

    def experiment(
        self,
        name: str,
        columns: Mapping[str, str],
        rows: Sequence[str] = (),
        others: Sequence[Row] = (),
    ) -> str:
        """Return the table of an experiment, with the paper's figures in brackets.

        Args:
            name: Name of the experiment.
            columns: Title -> pattern of a cell.
            rows: Names of rows; all by default.
            others: Rows that follow, such as `chance`.
        """
        experiment, key = load(name), f"{EXPERIMENTS}/{name}"
        seen = {row: _seen(experiment, row) for row in rows or experiment.rows}
        models = [
            self.row(key, f"rows {row}", title=self._label(experiment, row), **values)
            for row, values in seen.items()
        ]
        choices = {what: list({values[what]: None for values in seen.values()}) for what in SEEN}
        differing = {what: f"{{{what}}}" for what, values in choices.items() if len(values) > 1}
        titles = {"model": "{title}", **differing}
        table = self.table([*models, *others], {**titles, **columns}, paper=True)
        common = [values[0] for values in choices.values() if len(values) == 1]
        shared = [value for value in common if value and value != NOTHING]
        note = f"Seen by all rows: {'; '.join(shared)}. " if shared else ""
        if NOTHING in common:
            note += "No row has read other text. "
        return f"{table}\n\n{note}{self.retraining(name)}"

    def _label(self, experiment: Experiment, row: str) -> str:
        """Return the title of a row, with the settings that were chosen for it on dev.

        Raises:
            UserError: The record is of an earlier form of the experiment.
        """
        key = f"{EXPERIMENTS}/{experiment.name}"
        runs = (self.record(key).runs or {}).get(row, [])
        if len(runs) != len(experiment.tuning(row)) + len(experiment.trainings(row)):
            raise UserError(_missing(key, f"of each training of {row}"))
        chosen = experiment.best_choice(row, [max(run.dev.values()) for run in runs])
        return " ".join([experiment.rows[row].label, *(f"`{setting}`" for setting in chosen)])

    def chance(self, paper: Mapping[str, Any] | None = None, **orders: tuple[int, int]) -> Row:
        """Return the row of random orders, as `chance` computes it.

        Args:
            paper: The paper's figures for it.
            **orders: First name of the figures -> number of items and of right ones; "retrieval
                t2i" is written retrieval_t2i.
        """
        values = {name.replace("_", " "): chance(*order) for name, order in orders.items()}
        return _row("random order, computed", unflatten(values, separator=" "), paper or {})

    def reported(self, title: str, paper: Mapping[str, Any]) -> Row:
        """Return a row of the paper that has no figures of ours.

        Args:
            title: Title of the row.
            paper: The paper's figures for it.
        """
        return _row(title, {}, paper)

    def is_measured(self, name: str) -> bool:
        """Return whether an experiment has a record."""
        return records.experiment_path(self.root, name).is_file()

    def retraining(self, name: str) -> str:
        """Return how an experiment is repeated, and how long that takes."""
        experiment, record = load(name), self.record(f"{EXPERIMENTS}/{name}")
        runs = [run for logs in (record.runs or {}).values() for run in logs]
        seeds = ", ".join(map(str, experiment.seeds))
        return (
            f"Seed{'s' * (len(experiment.seeds) > 1)} {seeds}. By retraining: "
            f"`{experiment.command}`, {len(runs)} training{'s' * (len(runs) > 1)}, "
            f"{sum(run.minutes for run in runs) / 60:.1f} hours on one core."
        )

    def retrained(self, *keys: str) -> str:
        """Return the commands that give records of models that do not ship, and their minutes."""
        commands = [
            f"`{record.command}`, {record.minutes:.0f} minutes" for record in map(self.record, keys)
        ]
        return f"By retraining: {'; '.join(commands)}."

    def _matrices(self, key: str) -> list[str]:
        """Return the relations of a tree network by the norms of their matrices, largest first."""
        return [row["name"] for row in matrix_norms(self.root / key)]

    def matrix_place(self, key: str, relation: str) -> int:
        """Return the place of a relation among the matrices of a tree network, largest first.

        Raises:
            UserError: The relation has no matrix.
        """
        names = self._matrices(key)
        if relation not in names:
            raise UserError(_missing(key, relation))
        return names.index(relation) + 1

    def largest_matrices(self, key: str) -> str:
        """Return the relations with the largest and the smallest matrices of a tree network."""
        names = self._matrices(key)
        return f"{', '.join(names[:LARGEST])} come first, {', '.join(names[-2:])} last"

    def claims(self, paper: str) -> str:
        """Return the claims of a paper with the differences that decide, and the verdicts.

        Those of experiments that are not measured yet are left out.
        """
        lines = []
        for name in names():
            experiment = load(name)
            if experiment.paper != paper or not self.is_measured(name):
                continue
            for claim in experiment.claims:
                row = self.row(f"{EXPERIMENTS}/{name}", f"claims {claim.name}")
                lines.append(_claim(claim, experiment, row))
        return markdown.table(["experiment", "claim", "paper", "measured", "verdict"], lines)

    def curve(self, name: str, row: str, columns: Mapping[str, str], *, every: int) -> str:
        """Return dev metrics by epoch, of the last training of a row.

        Args:
            name: Name of the experiment.
            row: Name of the row.
            columns: Title -> name of one of the experiment's `curves`.
            every: The first epoch and each multiple of this are shown.
        """
        runs = self.record(f"{EXPERIMENTS}/{name}").runs or {}
        run = runs[row][-1]
        curves = [run.dev, *(run.curves[curve] for curve in columns.values())]
        epochs = [epoch for epoch in run.dev if epoch == "1" or int(epoch) % every == 0]
        cells = [[epoch, *(f"{curve[epoch]:.1f}" for curve in curves)] for epoch in epochs]
        return markdown.table(["epoch", run.chosen_by, *columns], cells)

    def coverage(self, paper: str) -> str:
        """Return what a paper reports, table by table, and what is here of it."""
        cells = [
            [item["what"], item["status"], item["about"]]
            for item in tomllib.loads(PAPERS_FILE.read_text("utf-8"))[paper]
        ]
        return markdown.table([paper, "here", "how"], cells)

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
        """Return a pattern with figures of a record, for a sentence or a cell.

        Raises:
            UserError: There is no such figure.
        """
        row = self.row(key)
        try:
            return fill(pattern, row.get)
        except MissingFigure as error:
            raise UserError(_missing(key, error)) from None

    def dev_log(self, key: str) -> list[float]:
        """Return the dev metric that chose the epoch of a checkpoint that ships, in order."""
        log = records.read_log(self.root / key, name=key, command="")
        return list(log.dev.values())

    def figure(self, key: str, name: str) -> float:
        """Return a figure as a number, to calculate with.

        Raises:
            UserError: There is no such figure.
        """
        value = self.row(key).get(name)
        if not isinstance(value, Figure):
            raise UserError(_missing(key, name))
        return value.value

    def sts_wins(self, key: str, over: str, group: str = "", *, paper: str = "") -> str:
        """Return in how many of the paper's sets a record is significantly higher, and lower.

        Args:
            key: Key of the record.
            over: Key of another record, or title of a column of the paper.
            group: Names of the record's group of figures, joined by spaces.
            paper: Title of a column of the paper that is compared in place of the record, on the
                record's sets.

        Returns:
            Such as "15 of 21 sets (below in 2)".
        """
        row = self.row(key, group)
        sets = [name for name in sts_report.PAPER if row.get(f"{name} pearson") is not None]

        def similarities(source: str, group: str = "") -> dict[str, float]:
            if source in sts_report.COLUMNS:
                column = sts_report.COLUMNS.index(source)
                return {name: sts_report.PAPER[name][column] for name in sets}
            return {name: self.figure(source, f"{group} {name} pearson") for name in sets}

        own = similarities(paper) if paper else similarities(key, group)
        other = similarities(over)
        wins = [sts_report.is_higher(own[n], other[n], sts_report.PAIRS[n]) for n in sets]
        losses = [sts_report.is_higher(other[n], own[n], sts_report.PAIRS[n]) for n in sets]
        return f"{sum(wins)} of {len(sets)} sets (below in {sum(losses)})"

    def sts_beside_paper(self, key: str, group: str) -> str:
        """Return the similarity in each of the paper's sets, beside that of the paper's models.

        Args:
            key: Key of the record.
            group: Names of the record's group of figures, joined by spaces.
        """
        row = self.row(key, group)
        cells = [
            [name, row.cell(f"{{{name} pearson}}", paper=False), *(f"{r:.1f}" for r in reported)]
            for name, reported in sts_report.PAPER.items()
        ]
        measured = [cell for cell in cells if cell[1]]
        return markdown.table(["set", "here", *sts_report.COLUMNS], measured)

    def peak(self, name: str, row: str, curve: str) -> str:
        """Return when a dev metric of a row's last training was best, and how it ended.

        Args:
            name: Name of the experiment.
            row: Name of the row.
            curve: Name of one of the experiment's `curves`.

        Returns:
            Such as "best after epoch 8 and 2.1% lower at the end".
        """
        run = (self.record(f"{EXPERIMENTS}/{name}").runs or {})[row][-1]
        values = run.curves[curve]
        best, last = max(values, key=lambda epoch: values[epoch]), list(values)[-1]
        if best == last:
            return f"best at the end, after epoch {last}"
        loss = 100 * (1 - values[last] / values[best])
        return f"best after epoch {best} and {loss:.1f}% lower at the end"

    def rise(self, name: str, row: str, curve: str, *, after: int) -> float:
        """Return by how many percent a dev metric of a row's last training rises after an epoch.

        Args:
            name: Name of the experiment.
            row: Name of the row.
            curve: Name of one of the experiment's `curves`.
            after: Number of the epoch.
        """
        run = (self.record(f"{EXPERIMENTS}/{name}").runs or {})[row][-1]
        values = run.curves[curve]
        last: float = list(values.values())[-1]
        return 100 * (last / values[str(after)] - 1)

    def verdict(self, key: str, name: str) -> str:
        """Return the verdict on a figure that should be above 0, by its interval.

        Raises:
            UserError: There is no such figure with an interval.
        """
        return verdict(_difference(key, self.row(key), name)[1])

    def deciding_intervals(self) -> int:
        """Return how many intervals decide about the claims of all measured experiments."""
        claims = [
            claim for name in names() if self.is_measured(name) for claim in load(name).claims
        ]
        return sum(len(claim.higher + claim.lower) for claim in claims)

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


def _row(title: str, figures: Mapping[str, Any], paper: Mapping[str, Any]) -> Row:
    """Return a row without a record of its own."""
    return Row(
        Record(
            title=title,
            command=None,
            data=None,
            split=None,
            seeds=[],
            commit=None,
            minutes=None,
            date=None,
            checkpoint=None,
            figures=dict(figures),
            paper=dict(paper),
        )
    )


def _claim(claim: Claim, experiment: Experiment, row: Row) -> list[str]:
    """Return the cells of a claim: experiment, text, the paper's figures, ours, verdict.

    Raises:
        UserError: The record lacks a figure that decides.
    """
    measured, intervals = [], []
    for sign, figures in ((1, claim.higher), (-1, claim.lower)):
        for name in figures:
            gap, interval = _difference(f"{EXPERIMENTS}/{experiment.name}", row, name)
            intervals.append(sorted(sign * bound for bound in interval))
            style = "more" if sign > 0 else "less"
            measured.append(f"{short_name(name)} {gap.with_bounds(style, '.2f')}")
    paper = f"{claim.where}: {claim.paper}" if claim.paper else claim.where
    is_single = len(experiment.seeds) * len(experiment.data) == 1
    answer = joint_verdict(intervals) + ", one seed" * is_single
    return [f"`{experiment.name}`", claim.text, paper, "; ".join(measured), answer]


def _difference(key: str, row: Row, name: str) -> tuple[Figure, Sequence[float]]:
    """Return a figure that a verdict depends on, and its interval.

    Raises:
        UserError: There is no such figure with an interval.
    """
    value = row.get(name)
    if not isinstance(value, Figure) or value.interval is None:
        raise UserError(_missing(key, name))
    return value, value.interval


def _seen(experiment: Experiment, row: str) -> dict[str, str]:
    """Return what the models of a row have seen, by the names in `SEEN`; "" without photos."""
    spec = spec_of_row(experiment, row)
    values = (features(spec), text(spec)) if spec.features else ("", "")
    return dict(zip(SEEN, values, strict=True))


def about(name: str) -> str:
    """Return what is to be known about an experiment."""
    return load(name).about.strip()


def short_name(name: str) -> str:
    """Return the name of a figure for a sentence: "retrieval t2i r1" is "t2i R@1"."""
    if name in NAMES:
        return NAMES[name]
    words = name.split()
    if words[0] == "retrieval":
        words = words[1:]
    return " ".join(TITLES.get(word, word) for word in words)


def _missing(key: str, name: object) -> str:
    return f"checkpoints/{key} has no figure {name}, which the report needs; measure it again."
