"""`train-easel`: the image network for the drawings of Storybook that ships with vsdemo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train_easel(
    out: Annotated[Path, typer.Option(help="Output folder; an interrupted training resumes.")],
    steps: Annotated[int, typer.Option(min=1, help="Steps of the optimizer.")] = 9000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, crops and order.")] = 0,
) -> None:
    """Train Easel, the image network for the drawings of Storybook, again.

    This takes an hour and a half on two cores, a quarter of an hour of which goes to drawing
    scenes. To use it, put it into checkpoints/easel. Models work only with the network they were
    trained with.
    """
    from vsdemo.recipes.easel.train import Settings, train

    if train(out, Settings(steps=steps, seed=seed)) == "stopped":
        print("\nTraining stopped; run the same command to resume.")
    else:
        print(f"\nThe network is in {out}.")
