"""Checks that apply to every data set: photos that cannot be decoded, and duplicate photos."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from vsdemo.core import cores
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.data.datasets.base import Report

NO_SPLIT = "no split"


class _Inspection(NamedTuple):
    pixels: str  # hash of the pixels, or the path if they cannot be read
    error: str | None


def _inspect(path: Path) -> _Inspection:
    try:
        photo = open_photo(path)
    except UserError as error:
        return _Inspection(str(path), str(error))
    digest = hashlib.sha256(f"{photo.size}".encode() + photo.tobytes())
    return _Inspection(digest.hexdigest(), None)


def verify(splits: dict[str, CaptionSet]) -> Report:
    """Decode every photo, and compare the pixels of all photos.

    Args:
        splits: The splits by name, `all` last.

    Returns:
        Photos that cannot be decoded and photos that are in two splits are problems; other
        duplicates are facts.
    """
    split_of: dict[Path, str] = {}
    for name, captions in splits.items():
        for path in captions.photos:
            split_of.setdefault(path, NO_SPLIT if name == "all" else name)
    with cores.thread_pool() as pool:
        inspections = pool.map(_inspect, split_of)
        bar = tqdm(inspections, total=len(split_of), desc="photos", mininterval=1)
        inspected = dict(zip(split_of, bar, strict=True))
    problems = [inspection.error for inspection in inspected.values() if inspection.error]
    facts = [f"{len(split_of) - len(problems):,} of {len(split_of):,} photos decode"]
    same: dict[str, list[Path]] = defaultdict(list)
    for path, inspection in inspected.items():
        same[inspection.pixels].append(path)
    for paths in same.values():
        if len(paths) > 1:
            listed = "; ".join(f"{path.name} ({split_of[path]})" for path in paths)
            splits_of_copies = {split_of[path] for path in paths}
            if len(splits_of_copies - {NO_SPLIT}) > 1:
                problems.append(f"the same photo in two splits: {listed}")
            elif NO_SPLIT in splits_of_copies and len(splits_of_copies) > 1:
                facts.append(f"the same photo in a split and in none: {listed}")
            else:
                facts.append(f"the same photo twice within a split: {listed}")
    return Report(facts, problems)
