"""`lab`: the papers' claims on Storybook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli.options import Json, Record
from vsdemo.cli.output import command_line, print_json
from vsdemo.core.errors import UserError


def lab(
    checkpoints: Annotated[
        list[Path] | None,
        typer.Argument(help="Checkpoint folders; default: those trained on Storybook."),
    ] = None,
    record: Record = None,
    *,
    as_json: Json = False,
) -> None:
    """Test the papers' claims on Storybook.

    --record takes one checkpoint.
    """
    from vsdemo.evaluation import lab
    from vsdemo.evaluation.report import recording, records

    if record and len(checkpoints or []) != 1:
        raise UserError("A record is about one checkpoint; give one folder.")
    report = lab.report(checkpoints or [])
    if as_json:
        print_json(report)
    else:
        print(lab.markdown(report))
    if record and checkpoints:
        records.write(record, recording.of_lab(checkpoints[0], report, command=command_line()))
