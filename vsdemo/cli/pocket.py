"""`train-pocket`: the image network that ships with vsdemo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train_pocket(
    out: Annotated[Path, typer.Option(help="Output folder; an interrupted training resumes.")],
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the photos.")] = 48,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, crops and captions.")] = 0,
) -> None:
    """Train the small image network Pocket again.

    This takes two and a half hours on two cores. To use it, put it into checkpoints/pocket. Models
    work only with the network they were trained with.
    """
    from vsdemo.recipes.pocket.train import Settings, train

    if train(out, Settings(epochs=epochs, seed=seed)) == "stopped":
        print("\nTraining stopped; run the same command to resume.")
    else:
        print(f"\nThe network is in {out}.")
