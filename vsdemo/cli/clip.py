"""`train-clip`: the CLIP of Storybook that ships with vsdemo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train_clip(
    out: Annotated[Path, typer.Option(help="Output folder; an interrupted training resumes.")],
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the scenes.")] = 12,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, crops and captions.")] = 0,
) -> None:
    """Train the small CLIP of Storybook again.

    This takes about half an hour on two cores, ten minutes of which go to drawing scenes. open_clip
    loads the folder by `local-dir:`.
    """
    from vsdemo.recipes.clip.train import ClipConfig, train

    if train(out, ClipConfig(epochs=epochs, seed=seed)) == "stopped":
        print("\nTraining stopped; run the same command to resume.")
    else:
        print(f"\nThe model is in {out}.")
