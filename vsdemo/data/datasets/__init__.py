"""Data sets by name."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.images import photos_in
from vsdemo.core.paths import data_root
from vsdemo.core.progress import Progress
from vsdemo.data.datasets import entities, karpathy, verify
from vsdemo.data.pairs import nli, sts, wordnet

DATASETS = {
    "flickr8k": "vsdemo.data.datasets.flickr8k",
    "pascal1k": "vsdemo.data.datasets.pascal1k",
    "storybook": "vsdemo.data.storybook",
}
SEEDED = ("pascal1k",)
MADE = ("storybook",)  # drawn when first used, so always there
SPLITS = ("train", "dev", "test", "all")
MORE_SPLITS = {"storybook": ("compositional",)}


def karpathy_files() -> dict[str, Path]:
    """Data sets in the Karpathy format below VSDEMO_DATA: <name>/captions.json or dataset*.json."""
    root = data_root()
    if root is None or not root.is_dir():
        return {}
    patterns = ("*/captions.json", "*/dataset*.json")
    return {p.parent.name: p for pattern in patterns for p in sorted(root.glob(pattern))}


def load(name: str, split: str, progress: Progress | None = None, limit: int = 0) -> CaptionSet:
    """A split of a data set: a name of DATASETS, a file in the Karpathy format, a folder below
    VSDEMO_DATA with one, or any folder of photos (then without captions). A data set without
    official splits takes a seed for its own, such as pascal1k:3. While photos are made,
    `progress` is told how many are, and of how many. limit: the first photos only; 0: all.

    Raises UserError when the name or the split does not exist, or its files are missing.
    """
    if name in MADE and split in splits(name):  # no more is made than is asked for
        return import_module(DATASETS[name]).load(split, progress, limit)
    found = _load(name, split)
    return found.first(limit) if limit else found


def _load(name: str, split: str) -> CaptionSet:
    if split not in (valid := splits(name)):
        raise UserError(f"There is no split {split!r}; valid are {', '.join(valid)}.")
    if (base := base_name(name)) in DATASETS:
        seed = name.removeprefix(base).removeprefix(":")
        module = import_module(DATASETS[base])
        return module.load(split, int(seed)) if seed else module.load(split)
    if name in (files := karpathy_files()):
        return karpathy.load(files[name], split)
    path = _existing(name)
    if path and path.suffix == ".json":
        return karpathy.load(path, split)
    if path and path.is_dir():
        photos = tuple(photos_in(path))
        if not photos:
            raise UserError(f"The folder {path} holds no photos (JPEG, PNG, WebP, ...).")
        return CaptionSet(str(path), split, photos)
    known = ", ".join(sorted({*DATASETS, *(f"{base}:SEED" for base in SEEDED), *files}))
    raise UserError(
        f"There is no data set {name!r}; valid are {known}, a captions.json or a folder of photos."
    )


def photos(name: str, split: str) -> tuple[Path, ...]:
    """The photos of a split; those of a data set in MADE need not be there yet.

    Raises UserError as `load` does.
    """
    if name in MADE:
        return import_module(DATASETS[name]).photos(split)
    return load(name, split).photos


def splits(name: str) -> tuple[str, ...]:
    """The splits of a data set; `all`, the last, holds the photos of the others."""
    return (*SPLITS[:-1], *MORE_SPLITS.get(name, ()), SPLITS[-1])


def base_name(name: str) -> str:
    """The data set that a name is a seeded split of: pascal1k for pascal1k:3, else the name."""
    base, _, seed = name.partition(":")
    return base if base in SEEDED and seed.isdecimal() else name


def _existing(name: str) -> Path | None:
    try:
        path = Path(name).expanduser()
        return path if name and path.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long, no such user, a null byte
        return None


MARKS = {  # of what has no photos: what stands in its folder
    "sts": "STS12-en-test",
    "stsbenchmark": "sts-test.csv",
    "sick": "SICK_train.txt",
    "snli_1.0": "snli_1.0_test.jsonl",
    "flickr30k_entities": "annotations.zip",
}


def _where() -> str:
    root = data_root()
    if os.environ.get("VSDEMO_DATA"):
        return f"VSDEMO_DATA is {root}"
    what = f"this is what was fetched into {root}" if root else "nothing can be found"
    return f"VSDEMO_DATA is not set; {what}."


def overview() -> list[str]:
    """Lines that say which data sets are here, which are missing and how to get them."""
    lines = [_where()]
    for name, where in DATASETS.items():
        module = import_module(where)
        if name in MADE:
            lines.append(f"  found    {name}: {module.HOW_TO_GET}")
            continue
        try:
            lines.append(f"  found    {name}: {len(load(name, 'all').photos):,} photos")
        except (UserError, OSError):
            lines.append(f"  missing  {name}: {module.HOW_TO_GET}")
    for name, path in karpathy_files().items():
        lines.append(f"  found    {name}: {path} (Karpathy format)")
    root = data_root()
    more = (
        sts.HOW_TO_GET | nli.HOW_TO_GET | {"flickr30k_entities": entities.HOW_TO_GET}
    )  # for sts, nli and alignment
    marks = {name: root / name / MARKS[name] for name in more} if root else {}
    places = {name: mark.parent for name, mark in marks.items() if mark.exists()}
    if nouns := wordnet.find():
        places[wordnet.NAME] = nouns
    for name, how in (more | {wordnet.NAME: wordnet.HOW_TO_GET}).items():
        here = places.get(name)
        lines.append(f"  found    {name}: {here}" if here else f"  missing  {name}: {how}")
    lines.append(
        "COCO, Flickr30k or your own: put photos and a captions.json in the Karpathy format"
    )
    lines.append(
        "into $VSDEMO_DATA/<name>/, or give the file's or a photo folder's path as --data."
    )
    return lines


def check(name: str) -> tuple[list[str], list[str]]:
    """(facts, problems) of a data set: its own counts, photos that do not decode, and photos
    that stand in two splits."""
    facts, problems = import_module(DATASETS[name]).check() if name in DATASETS else ([], [])
    found = {}
    for split in splits(name):
        try:
            found[split] = load(name, split)
        except UserError as error:
            if split == "all":
                raise
            problems.append(str(error))
    more_facts, more_problems = verify.verify(found)
    return facts + more_facts, problems + more_problems
