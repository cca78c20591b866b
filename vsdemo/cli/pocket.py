"""`train-pocket`: the image network that ships with vsdemo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train_pocket(  # noqa: PLR0913 (a command's parameters are its options)
    out: Annotated[Path, typer.Option(help="Output folder; an interrupted training resumes.")],
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the photos.")] = 12,
    reuse: Annotated[
        int,
        typer.Option(min=1, help="Epochs that see the same crops; 1 is best, but slow."),
    ] = 4,
    side: Annotated[
        int, typer.Option(min=32, max=224, help="Side of a crop in pixels, a multiple of 32.")
    ] = 160,
    batch_size: Annotated[int, typer.Option(min=2, help="Crops per step.")] = 64,
    learning_rate: Annotated[float, typer.Option(min=0.0, help="Highest learning rate.")] = 0.0007,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, crops and captions.")] = 0,
) -> None:
    """Train the small image network Pocket again.

    It starts as a pruned DenseNet-169, whose weights are needed. This takes two hours on two cores,
    and 0.7 GB in OUT.work. To use the network, copy it to checkpoints/pocket. Models work only with
    the network they were trained with.
    """
    from vsdemo.core.errors import UserError
    from vsdemo.recipes.pocket.train import CELL, Settings, train

    if side % CELL:
        raise UserError(f"--side is {side}; use a multiple of {CELL}.")
    settings = Settings(
        epochs=epochs,
        reuse=reuse,
        side=side,
        batch_size=batch_size,
        learning_rate=learning_rate,
        seed=seed,
    )
    if train(out, settings) == "stopped":
        print("\nTraining stopped; run the same command to resume.")
    else:
        print(f"\nThe network is in {out}.")
