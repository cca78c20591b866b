"""`lab`: the papers' claims on Storybook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli.options import Json
from vsdemo.cli.output import print_json


def lab(
    checkpoints: Annotated[
        list[Path] | None,
        typer.Argument(help="Checkpoint folders; default: those trained on Storybook."),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Test the papers' claims on Storybook."""
    from vsdemo.evaluation import lab

    report = lab.report(checkpoints or [])
    if as_json:
        print_json(report)
    else:
        print(lab.markdown(report))
