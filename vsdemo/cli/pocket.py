"""`train-pocket`: the image network that ships with vsdemo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train_pocket(  # noqa: PLR0913 (a command's parameters are its options)
    out: Annotated[Path, typer.Option(help="Output folder; an interrupted training resumes.")],
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the photos.")] = 48,
    reuse: Annotated[
        int,
        typer.Option(min=1, help="How often the same crops are seen; 1 teaches most, but is slow."),
    ] = 3,
    side: Annotated[int, typer.Option(min=32, help="Pixels of a side of a crop.")] = 160,
    batch_size: Annotated[int, typer.Option(min=2, help="Crops a step.")] = 64,
    learning_rate: Annotated[float, typer.Option(min=0.0, help="At its highest.")] = 0.003,
    start: Annotated[
        Path | None, typer.Option(help="Folder of a Pocket to start from, instead of anew.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, crops and captions.")] = 0,
) -> None:
    """Train the small image network Pocket again.

    This takes two and a half hours on two cores. To use it, put it into checkpoints/pocket. Models
    work only with the network they were trained with.
    """
    from vsdemo.recipes.pocket.train import Settings, train

    settings = Settings(
        epochs=epochs,
        reuse=reuse,
        side=side,
        batch_size=batch_size,
        learning_rate=learning_rate,
        start=str(start) if start else None,
        seed=seed,
    )
    if train(out, settings) == "stopped":
        print("\nTraining stopped; run the same command to resume.")
    else:
        print(f"\nThe network is in {out}.")
