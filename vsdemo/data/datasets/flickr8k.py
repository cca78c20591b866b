"""Flickr8k (Hodosh et al. 2013): 8,091 photos with five captions each, in its official layout.

The splits are the official ones. `flickr8k:SEED` has random splits of 90, 5 and 5% of all photos
instead, as Dufour 2015 drew them from its own photos.

The caption file names two photos that do not exist, which are left out. 91 photos are in no split;
they are part of `all` only. `Flickr8k.check` reports both.
"""

from __future__ import annotations

import random
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.paths import require_data
from vsdemo.data.datasets.base import Dataset, Report

COUNTS = {"train": 6000, "dev": 1000, "test": 1000}
RANDOM_CUTS = 0.9, 0.95  # shares of the photos before dev and before test


def _folder(name: str) -> Path:
    return require_data("flickr8k", name, what="Flickr8k")


def _read_text(path: Path) -> str:
    try:
        if text := path.read_text(encoding="utf-8"):
            return text
        reason = "it is empty"
    except (OSError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
    raise UserError(f"{path} is damaged ({reason}); download it again.")


def split_names(split: str) -> list[str]:
    """Return the photo names of an official split, in its order."""
    list_file = _folder("Flickr8k_text") / f"Flickr_8k.{split}Images.txt"
    return _read_text(list_file).split()


def read_captions() -> dict[str, list[str]]:
    """Return the captions by photo name, including photos that do not exist."""
    captions: dict[str, list[str]] = {}
    token_file = _folder("Flickr8k_text") / "Flickr8k.token.txt"
    for line in _read_text(token_file).splitlines():
        name, _, text = line.partition("\t")
        captions.setdefault(name.rsplit("#", 1)[0], []).append(text.strip())
    return captions


def photo_names() -> list[str]:
    """Return the names of the photos that exist, sorted."""
    return sorted(path.name for path in _folder("Flicker8k_Dataset").glob("*.jpg"))


def random_names(seed: int, split: str) -> list[str]:
    """Return the photo names of a random split of 90, 5 and 5%."""
    names = photo_names()
    random.Random(seed).shuffle(names)
    cuts = [round(share * len(names)) for share in RANDOM_CUTS]
    parts = {"train": names[: cuts[0]], "dev": names[cuts[0] : cuts[1]], "test": names[cuts[1] :]}
    return parts[split]


class Flickr8k(Dataset):
    """The official splits, or random ones.

    Args:
        seed: Seed of the random splits; None for the official ones.
    """

    how_to_get = (
        "request it at https://hockenmaier.cs.illinois.edu/8k-pictures.html and unpack it to "
        "$VSDEMO_DATA/flickr8k/{Flicker8k_Dataset,Flickr8k_text}, or run `python -m vsdemo fetch "
        "flickr8k`"
    )

    variants = "SEED"

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed

    @classmethod
    def variant(cls, name: str) -> Flickr8k | None:
        """Return the data set with random splits; their name is the seed."""
        return cls(int(name)) if name.isdecimal() else None

    def _names(self, split: str) -> list[str]:
        if split == "all":
            return photo_names()
        return split_names(split) if self.seed is None else random_names(self.seed, split)

    def read(self, split: str) -> CaptionSet:
        """Return a split."""
        captions, names = read_captions(), self._names(split)
        folder = _folder("Flicker8k_Dataset")
        return CaptionSet(
            "flickr8k" if self.seed is None else f"flickr8k:{self.seed}",
            split,
            photos=tuple(folder / name for name in names),
            captions=tuple(text for name in names for text in captions.get(name, ())),
            photo_of=tuple(i for i, name in enumerate(names) for _ in captions.get(name, ())),
        )

    def check(self) -> Report:
        """Check counts, and that splits, captions and photos fit together."""
        captions = read_captions()
        photos = set(photo_names())
        absent = sorted(set(captions) - photos)
        splits = {split: set(split_names(split)) for split in COUNTS}
        in_split = set().union(*splits.values())
        facts = [f"{len(photos):,} photos, {sum(len(c) for c in captions.values()):,} captions"]
        facts += [f"{split}: {len(names):,} photos" for split, names in splits.items()]
        facts += [
            f"{len(photos - in_split)} photos are in no split (used in `all` only)",
            f"{len(absent)} photos with captions do not exist (left out): {', '.join(absent)}",
        ]
        problems = [
            f"{split} has {len(names):,} photos, expected {COUNTS[split]:,}"
            for split, names in splits.items()
            if len(names) != COUNTS[split]
        ]
        problems += [f"{n} is in a split but does not exist" for n in sorted(in_split - photos)]
        problems += [f"{n} has no caption" for n in sorted(photos - set(captions))]
        for a, b in (("train", "dev"), ("train", "test"), ("dev", "test")):
            problems += [f"{n} is in {a} and {b}" for n in sorted(splits[a] & splits[b])]
        return Report(facts, problems)
