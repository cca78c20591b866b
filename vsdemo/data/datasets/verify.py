"""Checks that hold for any data set: photos that decode, and photos in two splits."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tqdm import tqdm

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo


def _inspect(path: Path) -> tuple[str, str | None]:
    """(hash of the pixels, why it cannot be read)."""
    try:
        photo = open_photo(path)
    except UserError as error:
        return str(path), str(error)
    return hashlib.sha256(f"{photo.size}".encode() + photo.tobytes()).hexdigest(), None


def verify(splits: dict[str, CaptionSet]) -> tuple[list[str], list[str]]:
    """(facts, problems): every photo is decoded, equal pixels are looked for across splits."""
    where: dict[Path, str] = {}
    for name, found in splits.items():  # `all` goes last and names what no split holds
        for path in found.photos:
            where.setdefault(path, "no split" if name == "all" else name)
    with ThreadPoolExecutor() as pool:
        inspected = list(
            tqdm(pool.map(_inspect, where), total=len(where), desc="photos", mininterval=1)
        )
    problems = [why for _, why in inspected if why]
    same: dict[str, list[Path]] = defaultdict(list)
    for path, (pixels, _) in zip(where, inspected, strict=True):
        same[pixels].append(path)
    twins = [paths for paths in same.values() if len(paths) > 1]
    told = ["; ".join(f"{p.name} ({where[p]})" for p in paths) for paths in twins]
    across = [t for t, paths in zip(told, twins, strict=True) if len({where[p] for p in paths}) > 1]
    facts = [f"{len(where) - len(problems):,} of {len(where):,} photos decode"]
    facts += [f"the same photo twice within a split: {t}" for t in told if t not in across]
    return facts, problems + [f"the same photo in two splits: {t}" for t in across]
