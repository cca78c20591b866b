"""Flickr8k (Hodosh et al. 2013): 8,091 photos, five captions each, in its official layout.

The caption file names two photos that do not exist and 91 photos are in no split: the former are
left out, the latter are part of `all` only. `check` reports both.
"""

from __future__ import annotations

from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.paths import require_data

HOW_TO_GET = (
    "request it at https://hockenmaier.cs.illinois.edu/8k-pictures.html and unpack it to "
    "$VSDEMO_DATA/flickr8k/{Flicker8k_Dataset,Flickr8k_text}, or type `python -m vsdemo fetch "
    "flickr8k`"
)
COUNTS = {"train": 6000, "dev": 1000, "test": 1000}


def _folder(name: str) -> Path:
    return require_data("flickr8k", name, what="Flickr8k")


def split_names(split: str) -> list[str]:
    """File names of an official split, in its order."""
    list_file = _folder("Flickr8k_text") / f"Flickr_8k.{split}Images.txt"
    return list_file.read_text(encoding="utf-8").split()


def read_captions() -> dict[str, list[str]]:
    """File name -> captions, as the caption file has them, absent photos too."""
    captions: dict[str, list[str]] = {}
    token_file = _folder("Flickr8k_text") / "Flickr8k.token.txt"
    for line in token_file.read_text(encoding="utf-8").splitlines():
        name, _, text = line.partition("\t")
        captions.setdefault(name.rsplit("#", 1)[0], []).append(text.strip())
    return captions


def photo_names() -> list[str]:
    """File names of the photos that exist, sorted."""
    return sorted(p.name for p in _folder("Flicker8k_Dataset").glob("*.jpg"))


def load(split: str) -> CaptionSet:
    """One split, or `all` photos there are. Raises UserError when files are missing."""
    captions = read_captions()
    names = photo_names() if split == "all" else split_names(split)
    folder = _folder("Flicker8k_Dataset")
    return CaptionSet(
        "flickr8k",
        split,
        tuple(folder / n for n in names),
        tuple(c for n in names for c in captions.get(n, ())),
        tuple(i for i, n in enumerate(names) for _ in captions.get(n, ())),
    )


def check() -> tuple[list[str], list[str]]:
    """(facts, problems) about the files' counts and splits."""
    captions, photos = read_captions(), set(photo_names())
    absent = sorted(set(captions) - photos)
    splits = {s: split_names(s) for s in COUNTS}
    in_split = set().union(*splits.values())
    facts = [
        f"{len(photos):,} photos, {sum(len(c) for c in captions.values()):,} captions",
        *(f"{s}: {len(set(n)):,} photos" for s, n in splits.items()),
        f"{len(photos - in_split)} photos are in no split (used in `all` only)",
        f"{len(absent)} photos with captions do not exist (left out): {', '.join(absent)}",
    ]
    problems = [
        f"{s} has {len(set(n)):,} photos, expected {COUNTS[s]:,}"
        for s, n in splits.items()
        if len(set(n)) != COUNTS[s]
    ]
    problems += [f"{n} is in a split but does not exist" for n in sorted(in_split - photos)]
    problems += [f"{n} has no caption" for n in sorted(photos - set(captions))]
    for a, b in (("train", "dev"), ("train", "test"), ("dev", "test")):
        problems += [f"{n} is in {a} and {b}" for n in sorted(set(splits[a]) & set(splits[b]))]
    return facts, problems
