"""The scenes of Storybook that CLIP learns from, as pixels and tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from PIL.Image import Resampling
from torch import Tensor
from tqdm import tqdm

from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic
from vsdemo.data import storybook
from vsdemo.data.storybook import store
from vsdemo.data.storybook.captions import write_captions
from vsdemo.data.storybook.free_scenes import may_train
from vsdemo.data.storybook.scene import Scene
from vsdemo.recipes import squares

WORDINGS = 4  # versions of the five captions of a scene


@dataclass(frozen=True)
class Scenes:
    """Pictures and their captions.

    Attributes:
        pixels: (N, side, side, 3), uint8.
        tokens: Tokens of the captions of each picture, (N, 5 WORDINGS, T), uint16.
    """

    pixels: np.ndarray
    tokens: np.ndarray


def load(
    folder: Path, numbers: Sequence[int], side: int, tokenize: Callable[[list[str]], Tensor]
) -> Scenes:
    """Return the scenes that training may use; the first call draws them and writes them to files.

    Args:
        folder: Folder of the files; it must not be used with other arguments.
        numbers: Numbers of scenes.
        side: Side of the pictures, in pixels.
        tokenize: Returns the tokens (C, T) of C captions.

    Raises:
        UserError: If no scene is left.
    """
    pixels, tokens = folder / "pixels.npy", folder / "tokens.npy"
    if not pixels.exists():  # it is written last
        examples = store.read_examples(numbers)
        kept = [example.scene for example in examples if may_train(example.scene)]
        if not kept:
            raise UserError("None of these scenes can be used for training: all are held out.")
        captions = [captions_of(scene) for scene in tqdm(kept, desc="writing captions")]
        with atomic(tokens) as path, path.open("wb") as file:
            np.save(file, np.stack([tokenize(c).numpy().astype(np.uint16) for c in captions]))
        squares.write(pixels, [store.photo(s.number) for s in kept], side, Resampling.BICUBIC)
    return Scenes(np.load(pixels, mmap_mode="r"), np.load(tokens))


def captions_of(scene: Scene) -> list[str]:
    """Return the captions of a scene, and some more like these."""
    texts = [caption.text for caption in storybook.captions_of(scene)]
    for number in range(1, WORDINGS):
        more = write_captions(scene, Random(f"captions/{scene.number}/{number}"))
        texts += [caption.text for caption in more]
    return texts


def read_square(path: Path, side: int) -> np.ndarray:
    """Return a whole picture as open_clip shows it to a network, (side, side, 3), uint8."""
    return squares.read(path, side, Resampling.BICUBIC)
