"""What a training needs, looked at before it starts: data, image network, features, disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from vsdemo import models
from vsdemo.core.config import Config, override
from vsdemo.core.errors import UserError
from vsdemo.core.paths import home
from vsdemo.data import datasets as data
from vsdemo.data.pairs import nli, wordnet
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.vision.backbones import CROPS, is_here
from vsdemo.vision.features import FeatureCache, photo_key
from vsdemo.vision.regions import REGIONS

ROOM = 300_000_000  # bytes: what a run saves, twice, as a file is whole before it takes its place
DRAWN = 60_000  # bytes of a picture that is drawn, at most
VECTOR = 2 * 2048  # bytes of a photo's or region's features, at most
SAMPLE = 24  # photos whose features are looked for, in place of all


class Check(NamedTuple):
    """Something that a training needs; message: in one sentence."""

    ok: bool
    message: str


def available_datasets(config: Config) -> list[str]:
    """What is here for a configuration to learn from, the usual one first; none where it has data
    of its own."""
    if "concepts" in config.needs:
        return [*([wordnet.NAME] if wordnet.find() else []), "toy"]
    if config.text_only:
        return []
    known = [*data.DATASETS, *data.karpathy_files()]
    here = [name for name in known if data.is_generated(name) or _has_photos(name)]
    # What pocket has made is seen at once; the large network is made for photos.
    return sorted(here, key=lambda name: data.is_generated(name) != (config.backbone == "pocket"))


def default_settings(config: Config, dataset: str | None) -> tuple[str, ...]:
    """Settings that fit a preset to a data set: our own image network for drawings, and where the
    preset's own is not here."""
    if config.text_only or (not data.is_generated(dataset) and is_here(config.backbone)):
        return ()
    wanted = {"backbone": "pocket"} | ({"crops": "whole"} if config.crops in CROPS else {})
    return tuple(f"{k}={v}" for k, v in wanted.items() if getattr(config, k) != v)


def _has_photos(name: str) -> bool:
    try:
        return bool(data.photos(name, "train"))
    except (UserError, OSError, ValueError, KeyError):
        return False


def check(plan: JobSpec) -> list[Check]:
    """What was found, in the order of the work. Raises UserError for an unknown preset, and for
    settings that do not fit."""
    config = override(models.preset(plan.preset)[1], plan.settings)
    try:
        return [*_needs(plan, config)]
    except (UserError, OSError) as error:
        return [Check(False, str(error))]


def require(plan: JobSpec) -> None:
    """Raises UserError for the first thing that is missing, and as `check` does."""
    for found in check(plan):
        if not found.ok:
            raise UserError(found.message)


def _needs(plan: JobSpec, config: Config) -> Iterator[Check]:
    needed = ROOM
    if "concepts" in config.needs:
        here = plan.dataset not in (None, wordnet.NAME) or wordnet.find()
        yield Check(
            bool(here), "The concepts are here." if here else f"WordNet: {wordnet.HOW_TO_GET}"
        )
    elif config.text_only:
        yield Check(True, f"{len(nli.training_pairs()[1]):,} pairs of sentences are here.")
    else:
        photos = [*_photos(plan.dataset, "train", config), *_photos(plan.dataset, "dev", config)]
        there = [photo for photo in photos if photo.exists()]
        missing = len(photos) - len(there)
        needed += missing * DRAWN
        told = f"; {missing:,} of them are drawn first" if missing else ""
        yield Check(True, f"{len(photos):,} pictures to learn from and to choose by{told}.")
        if not is_here(config.backbone):
            yield Check(False, _no_network(config.backbone))
            return
        left = missing + _unseen(FeatureCache(config.backbone, config.crops), there)
        needed += left * VECTOR * REGIONS.get(config.crops, 1)
        told = f"About {left:,} pictures are looked at first" if left else "All were looked at"
        yield Check(True, f"{told}, by {config.backbone} ({config.crops}).")
    yield _disk(needed)


def _photos(name: str | None, split: str, config: Config) -> tuple[Path, ...]:
    found = data.photos(name or "flickr8k", split)
    return found[: config.photos or None] if split == "train" else found


def _no_network(backbone: str) -> str:
    return f"The image network {backbone} is not here; fetch it (`vsdemo fetch`) or choose pocket."


def _unseen(cache: FeatureCache, photos: Sequence[Path]) -> int:
    """How many photos have no features yet, by a sample."""
    if not photos:
        return 0
    sample = photos[:: -(-len(photos) // SAMPLE)]
    known = cache.known()
    return round(len(photos) * sum(photo_key(p) not in known for p in sample) / len(sample))


def _disk(needed: int) -> Check:
    place = next(folder for folder in (home(), *home().parents) if folder.exists())
    free = shutil.disk_usage(place).free
    says = f"The disk has {_size(free)} free; about {_size(needed)} are needed"
    return Check(free >= needed, f"{says}." if free >= needed else f"{says}: make room in {place}.")


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
