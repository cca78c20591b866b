"""`python -m vsdemo bench ...`: how fast it runs here."""

from __future__ import annotations

import json
from typing import Annotated

import typer

cli = typer.Typer(help="Measure speed on this machine.", no_args_is_help=True)


@cli.callback()
def bench() -> None:
    """Measure speed on this machine."""


@cli.command()
def trees(
    data: Annotated[str, typer.Option(help="Data set whose captions are read.")] = "flickr8k",
    dim: Annotated[
        int, typer.Option(min=1, help="Length of words and states; 50 in Socher 2014.")
    ] = 50,
    batch: Annotated[int, typer.Option(min=1, help="Captions a batch.")] = 128,
    rounds: Annotated[int, typer.Option(min=1, help="Batches; the median is told.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Time the towers over trees against the plain recursion and against nn.GRU."""
    from vsdemo.evaluation import bench

    found = bench.trees(data, dim, batch, rounds)
    if as_json:
        print(json.dumps(found, indent=1))
        return
    print(f"{found['words']} words a batch of {batch}, {dim} units, {found['device']}, ", end="")
    print(f"threads: {found['threads']}; forward and backward")
    print(f"{'':8} {'ms':>8} {'of nn.GRU':>10} {'recursion, ms':>14} {'times faster':>13}")
    for name, row in found["towers"].items():
        slow = f"{row['recursion_ms']:14.0f} {row['x_recursion']:13.1f}" if name != "gru" else ""
        print(f"{name:8} {row['ms']:8.1f} {row['x_gru']:10.2f} {slow}")
