"""Splits of photos by their content: train 80%, dev 10% and test 10%.

A photo's split depends on nothing but the bytes of its file, so copies of a photo are in one split,
and photos that are added move no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from vsdemo.core import cores
from vsdemo.core.checksums import sha256
from vsdemo.core.progress import Progress
from vsdemo.data.catalog.examine import KEY_DIGITS

DIGITS = 8  # of a key, hexadecimal, that choose its split
TRAIN, DEV = 0.8, 0.1  # shares of the photos
PART = 32  # files that are read between two reports
MANY = 500  # files that are read with a progress bar


def split_of(key: str) -> str:
    """Return the split of a photo by its content hash."""
    place = int(key[:DIGITS], 16) / 16**DIGITS
    if place < TRAIN:
        return "train"
    return "dev" if place < TRAIN + DEV else "test"


def complete_keys(
    photos: Sequence[Path], known: Sequence[str], progress: Progress | None = None
) -> list[str]:
    """Return the content hash of each photo; empty for those that cannot be read.

    A file that has not changed is read once per process. Many files show a progress bar.

    Args:
        photos: Files.
        known: The hashes that are known, empty where they are not.
        progress: Called with (photos read, photos to read).
    """
    keys = list(known)
    unknown = [i for i, key in enumerate(keys) if not key]
    with (
        cores.thread_pool() as pool,
        tqdm(total=len(unknown), desc="reading photos", disable=len(unknown) < MANY) as bar,
    ):
        parts = [unknown[start : start + PART] for start in range(0, len(unknown), PART)]
        hashes = pool.map(_content_hashes, [[photos[i] for i in part] for part in parts])
        done = 0
        for part, of_part in zip(parts, hashes, strict=True):
            for i, key in zip(part, of_part, strict=True):
                keys[i] = key
            bar.update(len(part))
            done += len(part)
            if progress:
                progress(done, len(unknown))
    return keys


def _content_hashes(photos: Sequence[Path]) -> list[str]:
    """Return the hashes of files as a catalog has them; empty for those that cannot be read."""
    hashes = []
    for photo in photos:
        try:
            hashes.append(sha256(photo)[:KEY_DIGITS])
        except OSError:
            hashes.append("")
    return hashes
