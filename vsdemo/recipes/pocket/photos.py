"""The photos that Pocket learns from, none of them of a dev or test split, and photos as pixels."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor
from torchvision.transforms import v2
from tqdm import tqdm

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.images import open_photo, photos_in
from vsdemo.core.paths import require_data
from vsdemo.data import datasets, storybook
from vsdemo.data.storybook import store

SHORT = 224  # pixels: the short side of a photo in memory
LEAST = {  # share of a photo that a crop shows at least: of captions, most has to stay true
    "flickr8k": 0.35,
    "pascal1k": 0.35,
    "photos_unlabelled": 0.25,
    "storybook": 0.7,
}
MORE = range(5500, 11_500)  # scenes of Storybook that are in none of its splits
VAGUE = 2  # captions of a scene, its shortest, that are true of many others too
WIDEST = 2.0  # of a longer photo the middle is kept


@dataclass(frozen=True)
class Photos:
    """Photo files, the drawings last, and the captions of those that have some."""

    paths: tuple[Path, ...]
    captions: tuple[str, ...]
    photo_of: tuple[int, ...]  # of each caption the number of its photo
    sets: dict[str, int]  # how many photos come from where, in their order

    @property
    def photographs(self) -> int:
        """How many are no drawings."""
        return len(self.paths) - self.sets.get("storybook", 0)

    @property
    def least(self) -> Tensor:
        """(P,) the share of each photo that a crop shows at least."""
        return torch.cat([torch.full((n,), LEAST[name]) for name, n in self.sets.items()])


def training() -> Photos:
    """The photos of all sources: Flickr8k and Pascal1K train, photos without captions, Storybook
    train and more scenes like these. Raises UserError when a set is missing."""
    sets = [datasets.load(name, "train") for name in ("flickr8k", "pascal1k")]
    folder = require_data("photos_unlabelled", what="The set of photos without captions")
    sets.append(CaptionSet("photos_unlabelled", "all", tuple(photos_in(folder))))
    sets.append(storybook.drawn((*store.SPLITS["train"], *MORE)))
    paths: list[Path] = []
    said: list[tuple[str, int]] = []
    for part in sets:
        vague = VAGUE if part.name == "storybook" else 0
        for number, captions in enumerate(part.captions_of, len(paths)):
            said += [(part.captions[caption], number) for caption in captions[vague:]]
        paths += part.photos
    counts = {part.name: len(part.photos) for part in sets}
    return Photos(tuple(paths), *(tuple(column) for column in zip(*said, strict=True)), counts)


def shrunk(photo: Image.Image) -> Tensor:
    """(3, h, w), uint8: the short side at most SHORT, the long side at most WIDEST as long."""
    width, height = photo.size
    short = min(width, height)
    across, down = (min(side, round(short * WIDEST)) for side in (width, height))
    left, top = (width - across) // 2, (height - down) // 2
    scale = min(1.0, SHORT / short)
    size = (max(1, round(across * scale)), max(1, round(down * scale)))
    box = (left, top, left + across, top + down)
    return v2.functional.pil_to_tensor(photo.resize(size, Image.Resampling.BILINEAR, box))


def read(paths: Sequence[Path]) -> list[Tensor]:
    """All photos in memory, about 150 KB each. Raises UserError for one that cannot be read."""
    with ThreadPoolExecutor() as pool:
        opened = pool.map(lambda path: shrunk(open_photo(path)), paths)
        return list(tqdm(opened, total=len(paths), desc="reading photos"))


def whole(path: Path, side: int) -> Tensor:
    """All of a photo as a network in use sees it: (3, side, side), 0 to 1. Raises UserError."""
    square = open_photo(path).resize((side, side), Image.Resampling.BILINEAR)
    return v2.functional.pil_to_tensor(square) / 255
