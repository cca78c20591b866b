"""`python -m vsdemo table`: many runs, one table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from vsdemo.evaluation.tasks import TASKS


def table(
    runs: Annotated[list[Path], typer.Argument(help="Folders of checkpoints.")],
    split: Annotated[str, typer.Option(help="train, dev, test or all.")] = "test",
    task: Annotated[str, typer.Option(help=f"{', '.join(TASKS)}.")] = "retrieval",
    against: Annotated[
        str | None, typer.Option(help="A row of the table; the others are compared with it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, every run's too.")] = False,
) -> None:
    """Mean and standard deviation of each preset's figures over its runs, as Markdown."""
    from vsdemo.evaluation import tables

    found = tables.report(runs, split, task, against)
    print(json.dumps(found, indent=1) if as_json else tables.markdown(found))
