"""`python -m vsdemo curve` and `ensemble`: what can be made of trained runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli.options import Json


def curve(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    svg: Annotated[Path | None, typer.Option(help="Draw R@10 into this file.")] = None,
    as_json: Json = False,
) -> None:
    """Retrieval on dev by epoch, of runs with semantics=true also sentence similarity, as a table
    and drawn (Merckx & Frank 2019, Figure 4)."""
    from vsdemo.core.paths import write_text
    from vsdemo.evaluation import learning_curve as curves
    from vsdemo.plots import lines_svg

    rows = curves.by_epoch(run)
    print(json.dumps(rows, indent=1) if as_json else curves.markdown(rows))
    if svg:
        title = f"{run.resolve().name} on dev: R@10 in %, r x 100"
        write_text(svg, lines_svg(title, curves.lines(rows), "epoch", logarithmic=True))


def ensemble(
    runs: Annotated[
        list[Path], typer.Argument(help="Runs with snapshots, snapshots or other checkpoints.")
    ],
    out: Annotated[Path, typer.Option(help="Folder of the new checkpoint.")],
    best: Annotated[
        int, typer.Option(min=1, help="Snapshots of a run to take, the best on dev.")
    ] = 2,
    share: Annotated[
        bool, typer.Option("--share", help="Read members that lie beside --out from there.")
    ] = False,
) -> None:
    """Make one checkpoint of several; then measure it on dev and test.

    Of a run with snapshots those two are taken that had the highest rsum on dev, as in Merckx &
    Frank 2019; anything else is a member itself.
    """
    from vsdemo.evaluation import evaluate
    from vsdemo.models import ensembling as ensembles

    members = ensembles.make(runs, out, best, share)
    print("Members: " + ", ".join(map(str, members)) + "\n")
    print(evaluate.table(evaluate.finish(out)))
    print(f'\nNext: python -m vsdemo search {out} "a brown dog runs" -k 5')
