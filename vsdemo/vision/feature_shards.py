"""Writing the features and captions of a data set to tar files, for trainings that stream them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.progress import Progress
from vsdemo.core.stored_features import ABOUT, About, Record, is_whole, write_file
from vsdemo.data import datasets
from vsdemo.vision.features import FeatureCache, UnreadablePhotos, photo_keys

PHOTOS = 2000  # per file
SPLITS = ("train", "dev", "test")


def write(name: str, folder: Path, cache: FeatureCache, progress: Progress | None = None) -> About:
    """Write the features and captions of a data set to tar files, after computing missing ones.

    A file is written whole or not at all; those of an earlier call that was interrupted are kept.
    Unreadable photos are left out if the photos are somebody's own.

    Args:
        name: Name of the data set.
        folder: Where to write.
        cache: The features.
        progress: Called with (photos done, all photos).

    Returns:
        What was written.

    Raises:
        UserError: The data set is missing, photos of it cannot be read, features are not finite, or
            the folder holds other features.
        OSError: The disk is full or the folder is read-only.
    """
    splits = _load(datasets.full_name(name))
    about = About(
        dataset=datasets.full_name(name),
        backbone=cache.weights.name,
        crops=cache.crops,
        networks=cache.hash,
        content=_content(splits),
        files={split: -(-len(captions.photos) // PHOTOS) for split, captions in splits.items()},
    )
    known = _require_same(folder, about)
    total, done = sum(len(captions.photos) for captions in splits.values()), 0
    for split, captions in splits.items():
        for number, start in enumerate(range(0, len(captions.photos), PHOTOS)):
            rows = range(start, min(start + PHOTOS, len(captions.photos)))
            path = folder / split / f"{number}.tar"
            if not (known and is_whole(path)):
                _write_file(path, start, captions.only(rows), cache)
            done += len(rows)
            if progress:
                progress(done, total)
    return about


def _load(name: str) -> dict[str, CaptionSet]:
    """Return the splits of a data set with the keys of all photos; it may have no test split."""
    splits = {}
    for split in SPLITS:
        try:
            captions = datasets.load(name, split)
        except UserError:
            if split != "test":
                raise
            continue
        splits[split] = captions.with_keys(photo_keys(captions.photos, captions.keys))
    return splits


def _content(splits: dict[str, CaptionSet]) -> str:
    """Return a hash of photos and captions."""
    values = {split: (c.keys, c.captions, c.photo_of) for split, c in splits.items()}
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:32]


def _require_same(folder: Path, about: About) -> bool:
    """Return whether the folder already holds such files; if not, write what it will hold.

    Raises:
        UserError: It holds other features.
    """
    if not (folder / ABOUT).exists():
        about.write(folder)
        return False
    if (there := About.read(folder)) != about:
        raise UserError(
            f"{folder} has features of {there.dataset} by {there.backbone} ({there.crops}), or of "
            "other photos, captions or weights; choose another folder, or delete this one."
        )
    return True


def _write_file(path: Path, start: int, captions: CaptionSet, cache: FeatureCache) -> None:
    """Write the features of some photos; the first one has the number `start`."""
    try:
        features = cache.get(captions.photos, keys=captions.keys)
    except UnreadablePhotos as error:
        if not captions.is_own:
            raise
        captions = captions.without(error.why)
        if not captions.photos:
            raise
        features = cache.get(captions.photos, keys=captions.keys)
    records = [
        Record(captions.photo_name(number), key, tuple(captions.own_captions(number)))
        for number, key in enumerate(captions.keys)
    ]
    write_file(path, start, records, features.numpy())
