"""`python -m vsdemo train-pocket`: our own image network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train_pocket(
    out: Annotated[Path, typer.Option(help="Folder of the network; a killed run goes on.")],
    epochs: Annotated[int, typer.Option(min=1, help="Times that each photo is seen.")] = 48,
    seed: Annotated[int, typer.Option(min=0, help="Of weights, crops and captions.")] = 0,
) -> None:
    """Train the small image network of our own again: two and a half hours on two cores.

    To use it, put it into checkpoints/pocket; models know the network they were trained over."""
    from vsdemo.recipes.pocket.train import Settings, Trainer

    if Trainer(out, Settings(epochs=epochs, seed=seed)).run() == "stopped":
        print("\nStopped; the same command goes on.")
    else:
        print(f"\nThe network is in {out}.")
