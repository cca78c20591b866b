"""Galleries: what of the data sets that are here can be searched."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.core.paths import data_root
from vsdemo.data import datasets

TITLES = {"flickr8k": "Flickr8k", "pascal1k": "Pascal1K", "storybook": "Storybook"}
EXAMPLES = ("two dogs play in the snow", "children at the beach", "a man climbs a rock wall")
EXAMPLES_OF = {
    "storybook": (
        "a girl flying a kite on the beach",
        "two small brown dogs chase a red ball",
        "an animal in the snow",
    )
}


@dataclass(frozen=True)
class Gallery:
    """Photos that can be searched: a split of a data set, or a folder."""

    key: str
    label: str
    name: str
    split: str
    photos: tuple[Path, ...]

    @cached_property
    def token(self) -> str:
        """Names the gallery in addresses of photos; another list of photos has another one."""
        listed = "\n".join([self.key, *map(str, self.photos)])
        return hashlib.sha256(listed.encode()).hexdigest()[:12]

    @property
    def examples(self) -> tuple[str, ...]:
        """Sentences to try."""
        return EXAMPLES_OF.get(self.name, EXAMPLES)


def gallery(name: str, split: str, own: bool = False) -> Gallery | None:
    """None when the data set is not here or has no such split."""
    try:
        photos = datasets.photos(name, split)
    except (UserError, OSError, ValueError, KeyError):
        if own:  # asked for by name: its absence is the user's business
            raise
        return None
    title = TITLES.get(name, Path(name).stem if own else name)
    return Gallery(
        f"{title}-{split}".lower(), f"{title} {split} ({len(photos):,})", name, split, photos
    )


def galleries(own: str | None) -> Iterator[Gallery]:
    """All of them, the one to show first at the head: `own` where it is given, which is a data set,
    captions file or folder. Raises UserError when that is not there."""
    if (
        own is not None
        and own not in datasets.DATASETS
        and (found := gallery(own, "all", own=True))
    ):
        yield found
    root = data_root()
    here = {*datasets.DATASETS, *datasets.karpathy_files()} if root and root.is_dir() else set()
    generated = {name for name in datasets.DATASETS if datasets.is_generated(name)}
    # Photos come first, because generated pictures may have to be drawn.
    for name in sorted({*here, *generated}, key=lambda n: (n != own, n in generated, n)):
        for split in ("test",) if name in generated else ("test", "all"):
            if found := gallery(name, split):
                yield found
