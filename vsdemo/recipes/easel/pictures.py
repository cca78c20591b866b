"""The pictures that Easel learns from and is measured on, with their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic
from vsdemo.data.storybook import store
from vsdemo.data.storybook.free_scenes import FIRST_FREE, may_train
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.scene import Scene
from vsdemo.recipes import squares
from vsdemo.recipes.easel import labels
from vsdemo.recipes.easel.labels import Labels
from vsdemo.vision.backbones.easel import SIDE, Easel


@dataclass(frozen=True)
class Pictures:
    """Pictures with their labels.

    Attributes:
        pixels: (N, SIDE, SIDE, 3), uint8, read from disk when needed.
        labels: The labels.
    """

    pixels: np.ndarray
    labels: Labels

    def __len__(self) -> int:
        """Return the number of pictures."""
        return len(self.pixels)


def load_training(folder: Path, more: int) -> Pictures:
    """Return scenes of train and others, none of which shows the same as a held-out scene.

    Args:
        folder: Folder of the files; it must not be used with another `more`.
        more: Number of the other scenes.

    Raises:
        UserError: If a picture cannot be drawn, or no scene is left.
    """
    free = range(FIRST_FREE, FIRST_FREE + more)
    return load(folder, (*store.SPLITS["train"], *free), keep=may_train)


def load_dev(folder: Path) -> Pictures:
    """Return the scenes of dev. Raises UserError if a picture cannot be drawn."""
    return load(folder, store.SPLITS["dev"], keep=lambda scene: True)


def load(folder: Path, numbers: Sequence[int], keep: Callable[[Scene], bool]) -> Pictures:
    """Return scenes; the first call draws them and writes them to files.

    Args:
        folder: Folder of the files; it must not be used with other arguments.
        numbers: Numbers of scenes, none of them of `compositional`.
        keep: Whether a scene is used.

    Raises:
        UserError: If a picture cannot be drawn, or no scene is left.
    """
    pixels, labelled = folder / "pixels.npy", folder / "labels.npz"
    if not pixels.exists():  # it is written last
        scenes = [example.scene for example in store.read_examples(numbers)]
        kept = [scene.number for scene in scenes if keep(scene)]
        if not kept:
            raise UserError("None of these scenes can be used for training: all are held out.")
        drawn = [generate_picture(number) for number in tqdm(kept, desc="reading labels")]
        with atomic(labelled) as path, path.open("wb") as file:
            np.savez(file, **asdict(labels.of_pictures(drawn)))
        files = [store.photo(number) for number in kept]
        squares.write(pixels, files, SIDE, Easel.spec.resampling)
    with np.load(labelled) as arrays:
        return Pictures(np.load(pixels, mmap_mode="r"), Labels(**arrays))
