"""What keeps a training on the user's own photos from starting, and what is left out of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from vsdemo.data.datasets.base import TrainingCheck
from vsdemo.data.datasets.own.caption_list import Captions, Kind

NEEDED = 2  # photos in train and in dev, at least: with one there is nothing to rank
FEW = 20  # photos in dev, below which its figures say little
ENOUGH = 50  # with this many photos, dev nearly always gets `NEEDED`


def no_captions(name: str) -> str:
    """Return why photos without captions cannot be trained on, and how to add captions."""
    return (
        f"{name} has no captions to learn from; put a text file next to each photo (photo.jpg and "
        "photo.txt, one caption per line), or a captions.csv with the columns file and caption."
    )


def check(
    name: str,
    photos: int,
    captions: Captions,
    sizes: Mapping[str, int],
    unreadable: Mapping[str, str],
) -> TrainingCheck:
    """Return what keeps a training from starting, and what is left out of it.

    Args:
        name: The data set.
        photos: The number of photos in the folder.
        captions: The captions of the folder.
        sizes: The number of photos with captions in each split.
        unreadable: Photos that cannot be read, and why.
    """
    described = len(captions.of)
    obstacles = []
    if min(sizes.get("train", 0), sizes.get("dev", 0)) < NEEDED:
        obstacles.append(
            f"{name} has too few photos with captions: {_sizes(sizes)}; train and dev need "
            f"{NEEDED} each, so {_remedy(captions)}."
        )
    notes = []
    if left := photos - described:
        notes.append(
            f"{left:,} of {photos:,} photos have no captions and are left out; write captions to "
            "learn from them."
        )
    if spare := described - sum(sizes.values()):
        notes.append(
            f"{spare:,} of {described:,} photos with captions are in no split and left out; check "
            "that their files can be read and, in a captions.json, that their split is train, val "
            "or test."
        )
    if not obstacles and sizes["dev"] < FEW:
        notes.append(
            f"Only {sizes['dev']:,} photos are in dev, so its figures are rough; with more photos "
            "they say more."
        )
    if not obstacles and not sizes.get("test"):
        notes.append("No photo is in test, so only dev is evaluated; add photos with captions.")
    if unreadable:
        count = len(unreadable)
        first = next(iter(unreadable.values()))
        notes.append(f"Unreadable files are left out: {count:,}, such as: {first}")
    return TrainingCheck(obstacles, [*notes, *summary(name, captions)])


def facts(photos: int, captions: Captions, sizes: Mapping[str, int]) -> list[str]:
    """Return how many photos and captions there are, and how they are split."""
    count = sum(map(len, captions.of.values()))
    by = "by the photos' content" if captions.splits is None else "by the file of captions"
    return [
        f"{photos:,} photos, {len(captions.of):,} of them with captions, {count:,} captions",
        f"split {by}: {_sizes(sizes)}",
    ]


def summary(name: str, captions: Captions) -> list[str]:
    """Return the first problem of each kind, with the number of others like it."""
    kinds: dict[Kind, list[str]] = defaultdict(list)
    for kind, text in captions.problems:
        kinds[kind].append(text)
    return [_first(name, texts) for texts in kinds.values()]


def _first(name: str, texts: Sequence[str]) -> str:
    others = len(texts) - 1
    if not others:
        return texts[0]
    more = f"there are {others:,} more like it" if others > 1 else "there is one more like it"
    return f"{texts[0]} ({more}; `python -m vsdemo data check {name}` lists them)"


def _sizes(sizes: Mapping[str, int]) -> str:
    known: Counter[str] = Counter(sizes)
    return ", ".join(f"{split} {known[split]:,}" for split in ("train", "dev", "test"))


def _remedy(captions: Captions) -> str:
    if captions.splits is None:
        return f"add captions until about {ENOUGH} photos have some"
    return "give more photos the split train or val"
