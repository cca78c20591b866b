"""`table`: many runs in one table."""

from __future__ import annotations

from typing import Annotated

import typer

from vsdemo.cli.options import Checkpoints, Json, Record, Split
from vsdemo.cli.output import command_line, print_json
from vsdemo.evaluation.tasks import TASKS


def table(
    runs: Checkpoints,
    split: Split = "test",
    task: Annotated[str, typer.Option(help=f"{', '.join(TASKS)}.")] = "retrieval",
    against: Annotated[
        str | None, typer.Option(help="Row of the table to compare the others with.")
    ] = None,
    record: Record = None,
    *,
    as_json: Json = False,
) -> None:
    """Summarize many runs in a Markdown table.

    Each row has mean and standard deviation of a preset's metrics over its runs. --record takes the
    runs of one row.
    """
    from vsdemo.evaluation import tables
    from vsdemo.evaluation.report import recording, records

    if record:
        recording.check_one_row(runs, against)
    report = tables.report(runs, split, task, against)
    if as_json:
        print_json(report)
    else:
        print(tables.markdown(report))
    if record:
        records.write(record, recording.of_table(runs, report, command=command_line()))
