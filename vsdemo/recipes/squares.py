"""Pictures squeezed into squares, in one file that is read by memory mapping."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL.Image import Resampling
from tqdm import tqdm

from vsdemo.core.images import open_photo
from vsdemo.core.paths import atomic


def read(path: Path, side: int, resampling: Resampling) -> np.ndarray:
    """Return a whole picture as a square, (side, side, 3), uint8.

    Raises:
        UserError: If the picture cannot be read.
    """
    return np.asarray(open_photo(path).resize((side, side), resampling))


def write(file: Path, pictures: Sequence[Path], side: int, resampling: Resampling) -> None:
    """Write N pictures as squares to a NumPy file, (N, side, side, 3), uint8.

    Raises:
        UserError: If a picture cannot be read.
        OSError: If the disk is full.
    """
    with atomic(file) as path:
        shape = (len(pictures), side, side, 3)
        squares = np.lib.format.open_memmap(path, "w+", np.uint8, shape)
        for row, picture in enumerate(tqdm(pictures, desc="reading pictures")):
            squares[row] = read(picture, side, resampling)
        squares.flush()
