"""Arguments that several verbs share, and the engine they ask for."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from vsdemo.search.engine import Engine

Checkpoint = Annotated[Path, typer.Argument(help="Folder of a checkpoint; `vsdemo models`.")]
Gallery = Annotated[
    str | None,
    typer.Option(help="Data set, captions.json or folder of photos; else the training's."),
]
Split = Annotated[str, typer.Option(help="train, dev, test or all.")]
K = Annotated[str, typer.Option("-k", help="How many results, 1 to 1,000.")]
StsDir = Annotated[
    Path | None,
    typer.Option(help="Of the task sts: a folder of files STS.input.* and STS.gs.*, read too."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def show(result: dict[str, Any]) -> None:
    """Prints JSON."""
    print(json.dumps(result, indent=1, ensure_ascii=False))


def engine(checkpoint: Path, gallery: str | None, split: str) -> Engine:
    """The engine; photos that it left out are told beside the results."""
    from vsdemo.search.engine import Engine

    found = Engine(checkpoint, gallery, split)
    if left_out := list(found.unreadable.values()):
        print(f"Photos left out: {len(left_out):,}, such as: {left_out[0]}", file=sys.stderr)
    return found
