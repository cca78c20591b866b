"""Captions in the Karpathy format, used by COCO, Flickr30k and many other data sets.

    {"images": [{"filename": "1.jpg", "filepath": "val2014", "split": "train",
                 "sentences": [{"raw": "A dog runs."}]}]}

The splits are train, restval (part of train, as in Vendrov 2016), val (dev) and test. Photos are
expected next to the file or in its folder images/, below `filepath` if that is given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from vsdemo.core import json_files
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data.datasets.base import Dataset

SPLIT_OF = {"train": "train", "restval": "train", "val": "dev", "dev": "dev", "test": "test"}


class KarpathyEntry(NamedTuple):
    """A photo of a file: its path, its split, None if it is in none, and its captions."""

    photo: Path
    split: str | None
    captions: tuple[str, ...]


class KarpathyFile(Dataset):
    """The data set that a file describes; its folder gives it its name."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, split: str) -> CaptionSet:
        """Return a split.

        Raises:
            UserError: The file is not in this format, or the split is empty.
        """
        rows = self.entries(split)
        if not rows:
            raise UserError(f"{self.path} has no photo in split {split!r}.")
        return CaptionSet(
            self.path.absolute().parent.name,
            split,
            photos=tuple(row.photo for row in rows),
            captions=tuple(text for row in rows for text in row.captions),
            photo_of=tuple(i for i, row in enumerate(rows) for _ in row.captions),
        )

    def entries(self, split: str = "all") -> list[KarpathyEntry]:
        """Return the photos of a split, which may be none.

        Raises:
            UserError: The file is not in this format.
        """
        try:
            return [
                KarpathyEntry(
                    photo=_photo(self.path.parent, image),
                    split=SPLIT_OF.get(image.get("split")),
                    captions=tuple(sentence["raw"].strip() for sentence in image["sentences"]),
                )
                for image in json_files.load(self.path)["images"]
                if split == "all" or SPLIT_OF.get(image["split"]) == split
            ]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"{self.path} is not in the Karpathy caption format "
                f"({type(error).__name__}: {error})."
            ) from None


def _photo(folder: Path, image: dict[str, Any]) -> Path:
    relative = Path(image.get("filepath", ""), image["filename"])
    if relative.is_absolute() or ".." in relative.parts:
        raise ValueError(f"photo path {relative} leaves its folder")
    in_images = folder / "images" / relative
    return in_images if in_images.exists() else folder / relative
