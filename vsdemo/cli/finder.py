"""`train-finder`: the head that finds the parts of photos."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train_finder(
    out: Annotated[Path, typer.Option(help="Output folder; an interrupted training resumes.")],
    epochs: Annotated[int, typer.Option(min=1, help="How often each photo is seen.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights and order.")] = 0,
) -> None:
    """Train the finder, which finds the parts of photos.

    What the network below sees in the photos takes 4.3 GB of disk meanwhile. To use the finder, put
    it into checkpoints/finder. Models work only with the finder they were trained with.
    """
    from vsdemo.recipes.finder.train import Settings, train

    if train(out, Settings(epochs=epochs, seed=seed)) == "stopped":
        print("\nTraining stopped; run the same command to resume.")
    else:
        print(f"\nThe network is in {out}.")
