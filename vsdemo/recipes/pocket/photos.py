"""The photos that Pocket learns from, none of them of a dev or test split, and their pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor
from torchvision.transforms import v2
from tqdm import tqdm

from vsdemo.core import cores
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.images import open_photo, photos_in
from vsdemo.core.paths import require_data
from vsdemo.data import datasets, everyday_photos, storybook
from vsdemo.data.storybook import store

SHORT_SIDE = 224  # pixels of a photo in memory
MIN_AREA = {  # smallest fraction of a photo in a crop
    "flickr8k": 0.2,
    "pascal1k": 0.2,
    "photos_unlabelled": 0.2,
    "storybook": 0.7,
}
MORE_SCENES = range(5500, 11_500)  # scenes of Storybook that are in none of its splits
VAGUE_CAPTIONS = 2  # the shortest captions of a scene, which are true of many other scenes too
MAX_ASPECT = 2.0  # a longer photo is cropped to its middle


@dataclass(frozen=True)
class PocketPhotos:
    """Photo files and captions.

    Attributes:
        paths: The P files, drawings last.
        captions: The C captions of those photos that have some.
        photo_of: For each caption the number of its photo.
        counts: The number of photos of each source, in the order of `paths`.
    """

    paths: tuple[Path, ...]
    captions: tuple[str, ...]
    photo_of: tuple[int, ...]
    counts: Mapping[str, int]

    @property
    def photographs(self) -> int:
        """The number of photos that are not drawings."""
        return len(self.paths) - self.counts.get("storybook", 0)

    @property
    def min_area(self) -> Tensor:
        """The smallest fraction of each photo's area that a crop may show, (P,)."""
        parts = [torch.full((n,), MIN_AREA[name]) for name, n in self.counts.items()]
        return torch.cat(parts)


def load() -> PocketPhotos:
    """Return the photos of all sources.

    These are Flickr8k and Pascal1K train, photos without captions except those of
    `vsdemo.data.everyday_photos`, Storybook train and more scenes like these.

    Raises:
        UserError: If a source is missing.
    """
    sets = [datasets.load(name, "train") for name in ("flickr8k", "pascal1k")]
    folder = require_data("photos_unlabelled", what="The set of photos without captions")
    kept_back = {*everyday_photos.load().photos}
    unlabelled = tuple(path for path in photos_in(folder) if path not in kept_back)
    sets.append(CaptionSet("photos_unlabelled", "all", unlabelled))
    sets.append(storybook.drawn((*store.SPLITS["train"], *MORE_SCENES)))
    paths: list[Path] = []
    captions: list[str] = []
    photo_of: list[int] = []
    for part in sets:
        vague = VAGUE_CAPTIONS if part.name == "storybook" else 0
        for photo, numbers in enumerate(part.captions_of, start=len(paths)):
            kept = [part.captions[number] for number in numbers[vague:]]
            captions += kept
            photo_of += [photo] * len(kept)
        paths += part.photos
    counts = {part.name: len(part.photos) for part in sets}
    return PocketPhotos(tuple(paths), tuple(captions), tuple(photo_of), counts)


def shrink(photo: Image.Image) -> Tensor:
    """Return a photo as uint8 pixels (3, h, w).

    The short side has at most SHORT_SIDE pixels, the long side at most MAX_ASPECT times as many as
    the short one.
    """
    width, height = photo.size
    short = min(width, height)
    across, down = (min(side, round(short * MAX_ASPECT)) for side in (width, height))
    left, top = (width - across) // 2, (height - down) // 2
    scale = min(1.0, SHORT_SIDE / short)
    size = (max(1, round(across * scale)), max(1, round(down * scale)))
    box = (left, top, left + across, top + down)
    return v2.functional.pil_to_tensor(photo.resize(size, Image.Resampling.BILINEAR, box))


def read_all(paths: Sequence[Path]) -> list[Tensor]:
    """Return the pixels of all photos, about 150 kB each.

    Raises:
        UserError: If a photo cannot be read.
    """
    with cores.thread_pool() as pool:
        opened = pool.map(lambda path: shrink(open_photo(path)), paths)
        return list(tqdm(opened, total=len(paths), desc="reading photos"))


def digest(pixels: Sequence[Tensor]) -> str:
    """Return a hash of the pixels of photos."""
    result = sha256()
    for photo in pixels:
        result.update(photo.numpy().tobytes())
    return result.hexdigest()[:16]


def read_square(path: Path, side: int) -> Tensor:
    """Return a whole photo as the app shows it to a network, (3, side, side) from 0 to 1.

    Raises:
        UserError: If the photo cannot be read.
    """
    square = open_photo(path).resize((side, side), Image.Resampling.BILINEAR)
    return v2.functional.pil_to_tensor(square) / 255
