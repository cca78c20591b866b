"""What an experiment is, and the experiments of this folder."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from vsdemo.core.config import text_of
from vsdemo.core.errors import UserError
from vsdemo.data.datasets import base_name
from vsdemo.data.galleries import TITLES

FOLDER = Path(__file__).parent
TUNING_SEED = 100  # of trainings that only choose settings; no reported run has it
PAPERS = ("Socher 2014", "Karpathy 2014", "Dufour 2015", "Vendrov 2016", "Merckx & Frank 2019")

Settings = tuple[str, ...]  # "key=value" each
Text = Annotated[str, Field(min_length=1)]
Grid = dict[str, tuple[bool | int | float | str, ...]]  # setting -> values to try


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Row(_Frozen):
    """A row of the experiment's table: one model.

    Attributes:
        preset: Name of the preset.
        settings: Settings of this row, after those of the experiment.
        title: Title in tables, in Markdown; by default the preset and its settings.
        grid: Values to try in place of the experiment's `tune`; {} tunes nothing.
        snapshots_of: Name of the row whose trainings it combines: nothing is trained, and each of
            its models is the ensemble of the two best snapshots of one training.
        paper: The paper's figures, with the names of ours.
    """

    preset: Text
    settings: Settings = ()
    title: str = ""
    grid: Grid | None = None
    snapshots_of: str = ""
    paper: dict[str, Any] = {}

    @property
    def label(self) -> str:
        """The title of the row."""
        return self.title or " ".join(f"`{part}`" for part in (self.preset, *self.settings))


class Claim(_Frozen):
    """A claim of a paper: the row `a` is better than the row `b`.

    Attributes:
        name: Name in the record.
        text: The claim, in Markdown.
        where: Where the paper makes it, such as "Table 2".
        a: Name of a row.
        b: Name of the row that it is compared with.
        higher: Names of the figures that decide and should be higher in `a`, such as
            "retrieval t2i r1".
        lower: Those that should be lower in `a`.
        paper: What the paper reports.
    """

    name: Text
    text: Text
    where: Text
    a: Text
    b: Text
    higher: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    paper: str = ""

    @model_validator(mode="after")
    def _is_about_figures(self) -> Self:
        if not self.higher + self.lower:
            raise ValueError("a claim needs figures in `higher` or `lower`")
        return self

    @property
    def tasks(self) -> set[str]:
        """The names of the tasks that decide."""
        return {name.split()[0] for name in self.higher + self.lower}


class Training(_Frozen):
    """One training of an experiment.

    Attributes:
        row: Name of the row.
        preset: Name of the preset.
        data: Name of the data set; empty for models that bring their own.
        settings: All settings that differ from the preset, with the seed.
        name: Name of its folder.
        is_measured: Whether its model is measured; others only choose settings, by their log.
    """

    row: str
    preset: str
    data: str
    settings: Settings
    name: str
    is_measured: bool


class Experiment(_Frozen):
    """Rows that are trained by one recipe and measured on the same tasks.

    Attributes:
        name: Name of its file, without ".toml".
        paper: The paper whose claims it tests, one of `PAPERS`.
        title: Heading of its table.
        about: The recipe and what is to be known about it, in Markdown.
        paper_data: Title of the paper's data set, where it is another one than `data`.
        data: Data sets; each row is trained on each of them with each seed.
        seeds: Seeds of the weights, the order of photos and dropout.
        settings: Settings of all rows: the recipe.
        tune: Values to try for each row, in all combinations, with `TUNING_SEED` on `tune_on`; the
            best on dev is used.
        tune_on: Data set of these trainings; by default the first of `data`.
        tune_settings: Settings of these trainings alone, such as fewer epochs.
        tasks: Tasks to measure.
        split: Split to measure on.
        curves: Dev metrics to keep for each epoch, such as "t2i r10".
        rows: Rows by name.
        claims: What the rows are compared for.
    """

    name: Text
    paper: Literal[PAPERS]  # type: ignore[valid-type]
    title: Text
    about: Text
    paper_data: str = ""
    data: tuple[str, ...]
    seeds: tuple[int, ...]
    settings: Settings = ()
    tune: Grid = {}
    tune_on: str = ""
    tune_settings: Settings = ()
    tasks: tuple[str, ...] = ("retrieval",)
    split: str = "test"
    curves: tuple[str, ...] = ()
    rows: dict[str, Row]
    claims: tuple[Claim, ...] = ()

    @model_validator(mode="after")
    def _names_are_those_of_rows(self) -> Self:
        if missing := {row.snapshots_of for row in self.rows.values()} - {"", *self.rows}:
            raise ValueError(f"snapshots of no row {', '.join(sorted(missing))}")
        for claim in self.claims:
            if missing := {claim.a, claim.b} - set(self.rows):
                raise ValueError(f"claim {claim.name}: no row {', '.join(sorted(missing))}")
            if missing := claim.tasks - set(self.tasks):
                raise ValueError(f"claim {claim.name}: no task {', '.join(sorted(missing))}")
        return self

    @property
    def command(self) -> str:
        """The command that trains and measures it."""
        return f"python -m vsdemo reproduce {self.name}"

    def choices(self, row: str) -> list[Settings]:
        """Return the settings to try for a row; empty if nothing is tuned."""
        own = self.rows[row]
        if own.snapshots_of:
            return []
        grid = self.tune if own.grid is None else own.grid
        names = list(grid)
        return [
            tuple(f"{name}={text_of(value)}" for name, value in zip(names, values, strict=True))
            for values in itertools.product(*grid.values())
        ] * bool(grid)

    def best_choice(self, row: str, on_dev: Sequence[float]) -> Settings:
        """Return the settings that are best on dev; none if nothing is tuned.

        Args:
            row: Name of the row.
            on_dev: The figure of each choice on dev; what follows them is ignored.
        """
        best = max(
            zip(on_dev, self.choices(row), strict=False), key=lambda pair: pair[0], default=None
        )
        return best[1] if best else ()

    def tuning(self, row: str) -> list[Training]:
        """Return the trainings that choose the settings of a row."""
        data = self.tune_on or self.data[0]
        return [
            self._training(
                row, data, TUNING_SEED, (*choice, *self.tune_settings), f"{row}-tune-{number}"
            )
            for number, choice in enumerate(self.choices(row))
        ]

    def trainings(self, row: str, chosen: Settings = ()) -> list[Training]:
        """Return the trainings of a row that are measured; none for an ensemble.

        Args:
            row: Name of the row.
            chosen: The settings that its tuning has chosen.
        """
        if self.rows[row].snapshots_of:
            return []
        return [
            self._training(row, data, seed, chosen, f"{row}-{_file_name(data)}{seed}")
            for data in self.data
            for seed in self.seeds
        ]

    def _training(self, row: str, data: str, seed: int, chosen: Settings, name: str) -> Training:
        own = self.rows[row]
        values = dict(setting.split("=", 1) for setting in (*self.settings, *own.settings, *chosen))
        values |= {"seed": str(seed)}
        settings = tuple(f"{key}={value}" for key, value in values.items())
        return Training(
            row=row,
            preset=own.preset,
            data=data,
            settings=settings,
            name=name,
            is_measured=seed != TUNING_SEED,
        )


class Reported(_Frozen):
    """A paper's figures of a model.

    Attributes:
        data: Title of the data set.
        figures: The figures, with the names of ours, by task.
    """

    data: str
    figures: dict[str, Any]


def reported(preset: str) -> Reported | None:
    """Return the retrieval figures that a paper reports of a preset; None if there are none.

    Other presets of the same family, such as order/reversed for order, are used where there is no
    row of the preset itself.
    """
    family = preset.partition("/")[0]
    rows = [
        (row.preset != preset, row.preset != f"{family}/paper", bool(row.settings), number)
        for number, (_, row) in enumerate(_reported_rows())
        if row.preset.partition("/")[0] == family
    ]
    if not rows:
        return None
    experiment, row = _reported_rows()[min(rows)[-1]]
    data = experiment.paper_data or TITLES[base_name(experiment.data[0])]
    return Reported(data=data, figures=row.paper)


@cache
def _reported_rows() -> list[tuple[Experiment, Row]]:
    """Return all rows for which a paper has figures of retrieval."""
    return [
        (experiment, row)
        for experiment in load_all()
        for row in experiment.rows.values()
        if {"retrieval", "first_captions"} & row.paper.keys()
    ]


def _file_name(data: str) -> str:
    return f"{data.replace(':', '.')}-" if data else ""


def names() -> list[str]:
    """Return the names of all experiments."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str) -> Experiment:
    """Return an experiment.

    Raises:
        UserError: There is none with this name.
    """
    if name not in names():
        raise UserError(f"There is no experiment {name!r}; use one of {', '.join(names())}.")
    values: Mapping[str, Any] = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    return Experiment(name=name, **values)


def load_all() -> Iterator[Experiment]:
    """Return all experiments."""
    return map(load, names())
