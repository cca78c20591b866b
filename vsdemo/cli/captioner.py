"""`train-captioner`: the network that writes sentences for a model that aligns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train_captioner(
    checkpoint: Annotated[
        Path, typer.Argument(help="Checkpoint of a model that aligns phrases with regions.")
    ],
    epochs: Annotated[int, typer.Option(min=1, help="How often each caption is seen.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights and order.")] = 0,
) -> None:
    """Train the captioner of a model, which writes sentences about photos.

    It is trained in the folder CHECKPOINT.captioner.work, where an interrupted training resumes,
    and put into the folder of the checkpoint at the end.
    """
    from vsdemo.recipes.captioner.train import Settings, train

    if train(checkpoint, Settings(epochs=epochs, seed=seed)) == "stopped":
        print("\nTraining stopped; run the same command to resume.")
    else:
        print(f"\nThe captioner is in {checkpoint}.")
