"""Captions in the Karpathy format (COCO, Flickr30k and any set of one's own).

    {"images": [{"filename": "1.jpg", "filepath": "val2014", "split": "train",
                 "sentences": [{"raw": "A dog runs."}]}]}

Splits are train, restval (counts as train, as in Vendrov 2016), val (dev) and test. Photos are
looked for beside the file and in its folder images/, below `filepath` where there is one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError

SPLIT_OF = {"train": "train", "restval": "train", "val": "dev", "dev": "dev", "test": "test"}


def load(path: Path, split: str) -> CaptionSet:
    """Reads one split. Raises UserError when the file does not have the format."""
    try:
        images: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["images"]
        rows = [i for i in images if split == "all" or SPLIT_OF.get(i["split"]) == split]
        photos = tuple(_photo(path.parent, i) for i in rows)
        texts = [[s["raw"].strip() for s in i["sentences"]] for i in rows]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{path} is not in the Karpathy caption format ({type(error).__name__}: {error})."
        ) from None
    if not photos:
        raise UserError(f"{path} has no photo in split {split!r}.")
    return CaptionSet(
        path.absolute().parent.name,
        split,
        photos,
        tuple(t for texts_of_one in texts for t in texts_of_one),
        tuple(n for n, texts_of_one in enumerate(texts) for _ in texts_of_one),
    )


def _photo(folder: Path, image: dict[str, Any]) -> Path:
    below = Path(image.get("filepath", "")) / image["filename"]
    if below.is_absolute() or ".." in below.parts:
        raise ValueError(f"photo path {below} leaves its folder")
    in_images = folder / "images" / below
    return in_images if in_images.exists() else folder / below
