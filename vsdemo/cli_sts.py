"""`python -m vsdemo sts`: sentence similarity, subset by subset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli_options import Json, Split, StsDir, show


def sts(
    checkpoints: Annotated[list[Path], typer.Argument(help="Folders of checkpoints.")],
    split: Split = "test",
    sts_dir: StsDir = None,
    svg: Annotated[Path | None, typer.Option(help="File for bars of all sets.")] = None,
    json: Json = False,
) -> None:
    """Measure sentence similarity (STS, STS-B, SICK): a table beside the paper's; no photos."""
    from vsdemo import subsets
    from vsdemo.paths import write_text

    found = subsets.report(checkpoints, split, sts_dir)
    if svg:
        write_text(svg, subsets.figure(found))
    if json:
        show(found)
    elif svg:
        print(svg)
    else:
        print(subsets.markdown(found))
