"""`python -m vsdemo lab`: the papers' claims on Storybook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def lab(
    checkpoints: Annotated[
        list[Path] | None, typer.Argument(help="Folders of checkpoints; else those of Storybook.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, all figures too.")] = False,
) -> None:
    """Test the papers' claims on Storybook, whose right answers are known: a table a claim."""
    from vsdemo.evaluation import lab

    found = lab.report(checkpoints or [])
    print(json.dumps(found, indent=1, ensure_ascii=False) if as_json else lab.markdown(found))
