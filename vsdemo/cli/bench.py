"""`bench`: speed on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from vsdemo.cli.options import Json
from vsdemo.cli.output import print_json, print_table

cli = typer.Typer(no_args_is_help=True)


@cli.callback()
def bench() -> None:
    """Measure speed on this machine."""


@cli.command()
def trees(
    data: Annotated[str, typer.Option(help="Data set to take captions from.")] = "flickr8k",
    dim: Annotated[
        int, typer.Option(min=1, help="Size of word vectors and states; 50 in Socher 2014.")
    ] = 50,
    batch: Annotated[int, typer.Option(min=1, help="Captions per batch.")] = 128,
    rounds: Annotated[int, typer.Option(min=1, help="Batches to take the median over.")] = 10,
    *,
    as_json: Json = False,
) -> None:
    """Compare tree encoders with their plain recursion and with nn.GRU."""
    from vsdemo.evaluation import bench

    result = bench.trees(data, dim, batch, rounds)
    if as_json:
        print_json(result)
        return
    print(
        f"{result['words']} words in a batch of {batch}, {dim} units, {result['device']}, "
        f"{result['threads']} threads; forward and backward"
    )
    header = ("", "ms", "of nn.GRU", "recursion, ms", "times faster")
    rows = []
    for name, row in result["towers"].items():
        recursion = ("", "")
        if name != "gru":
            recursion = (f"{row['recursion_ms']:.0f}", f"{row['x_recursion']:.1f}")
        rows.append((name, f"{row['ms']:.1f}", f"{row['x_gru']:.2f}", *recursion))
    print_table(rows, header=header)
