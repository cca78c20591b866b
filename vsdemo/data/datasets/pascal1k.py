"""UIUC Pascal sentences (Rashtchian et al. 2010): 1,000 photos with five captions each.

There is no official split; the papers use 800/100/100 photos. Here the sorted file names are
shuffled with `random.Random(seed)` and cut in that order. The seed is 0 unless stated.
`pascal1k:tuning` has the photos that no test set of the seeds 0 to 4 holds, to choose settings on.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vsdemo.core import json_files
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.paths import require_data
from vsdemo.data.datasets.base import Dataset, Report

RANGES = {
    "train": slice(0, 800),
    "dev": slice(800, 900),
    "test": slice(900, 1000),
    "all": slice(0, 1000),
}
TUNING, TUNING_DEV = "tuning", 100  # name of the split for choosing settings; its dev photos
REPORTED = range(5)  # seeds of the splits whose tests are reported


def read_captions() -> dict[str, dict[str, Any]]:
    """Return {"category": ..., "captions": [...]} by photo name.

    Raises:
        UserError: The file is missing or damaged.
    """
    path = require_data("pascal1k", "pascal_sentences.json", what="Pascal1K")
    try:
        captions: dict[str, dict[str, Any]] = json_files.load(path)
        for photo in captions.values():
            if not all(isinstance(text, str) for text in photo["captions"]):
                raise TypeError("a caption is no text")
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise UserError(
            f"{path} is damaged ({type(error).__name__}: {error}); download it again."
        ) from None
    return captions


def _photo_folder() -> Path:
    return require_data("pascal1k", "images", what="Pascal1K")


def names_of(seed: int, split: str) -> list[str]:
    """Return the names of the photos of a random split."""
    names = sorted(read_captions())
    random.Random(seed).shuffle(names)
    return names[RANGES[split]]


def subset(dataset: str, split: str, names: Sequence[str]) -> CaptionSet:
    """Return photos with their captions.

    Args:
        dataset: Name of the data set.
        split: Name of the split.
        names: Names of the photos.
    """
    captions, folder = read_captions(), _photo_folder()
    texts = [captions[name]["captions"] for name in names]
    return CaptionSet(
        dataset,
        split,
        photos=tuple(folder / name for name in names),
        captions=tuple(text.strip() for own in texts for text in own),
        photo_of=tuple(i for i, own in enumerate(texts) for _ in own),
    )


class Pascal1k(Dataset):
    """A random split into 800/100/100 photos."""

    how_to_get = (
        "put the photos into $VSDEMO_DATA/pascal1k/images and their captions, "
        '{"file.jpg": {"captions": [...]}}, into $VSDEMO_DATA/pascal1k/pascal_sentences.json'
    )
    variants = "SEED"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    @classmethod
    def variant(cls, name: str) -> Pascal1k | None:
        """Return the data set with another random split, or its photos for `tuning`."""
        if name == TUNING:
            return Tuning()
        return cls(int(name)) if name.isdecimal() else None

    def read(self, split: str) -> CaptionSet:
        """Return a part of the random split."""
        name = f"pascal1k:{self.seed}" if self.seed else "pascal1k"
        return subset(name, split, names_of(self.seed, split))

    def check(self) -> Report:
        """Check the number of photos, and that all of them exist."""
        captions = read_captions()
        folder = _photo_folder()
        counts = [len(entry["captions"]) for entry in captions.values()]
        facts = [
            f"{len(captions):,} photos, {sum(counts):,} captions "
            f"({min(counts)} to {max(counts)} each)",
            "random split of vsdemo, seed 0: train 800, dev 100, test 100",
        ]
        problems = [f"{n} does not exist" for n in sorted(captions) if not (folder / n).exists()]
        if len(captions) != 1000:
            problems.append(f"{len(captions):,} photos, expected 1,000")
        return Report(facts, problems)


class Tuning(Pascal1k):
    """The photos that no reported test set holds, for choosing settings: `pascal1k:tuning`."""

    splits = ("train", "dev", "all")

    def read(self, split: str) -> CaptionSet:
        """Return the last photos as dev, or the others as train."""
        tested = {name for seed in REPORTED for name in names_of(seed, "test")}
        left = [name for name in names_of(0, "all") if name not in tested]
        parts = {"train": left[:-TUNING_DEV], "dev": left[-TUNING_DEV:], "all": left}
        return subset(f"pascal1k:{TUNING}", split, parts[split])
