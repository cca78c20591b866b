"""HierarCaps: photos of MS-COCO, each with a chain of four captions from general to full.

Alper & Averbuch-Elor, "Emergent visual-semantic hierarchies in image-text representations",
ECCV 2024. Its test set is for measuring only, so it is not among the data sets to train on.
"""

from __future__ import annotations

import csv
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.paths import require_data

FILE, PHOTOS = "hierarcaps.csv", "images"
SEPARATOR = " => "
LEVELS = 4  # captions of a chain


def load(folder: Path | None = None) -> CaptionSet:
    """Return the photos with their captions, those of a chain from general to full.

    Args:
        folder: The folder with hierarcaps.csv and images/; VSDEMO_DATA/hierarcaps by default.

    Raises:
        UserError: A file is missing or malformed.
    """
    if folder is None:
        folder = require_data("hierarcaps", what="HierarCaps")
    path = folder / FILE
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [
                (row["image"], row["captions"].split(SEPARATOR)) for row in csv.DictReader(file)
            ]
    except OSError:
        raise UserError(f"{path} is missing; choose a folder of HierarCaps.") from None
    except (ValueError, LookupError, TypeError, AttributeError, csv.Error) as error:
        raise UserError(f"{path} is damaged ({error}); download it again.") from None
    if not rows or any(len(chain) != LEVELS for _, chain in rows):
        raise UserError(
            f"{path} is damaged: each chain needs {LEVELS} captions; download it again."
        )
    photos = tuple(folder / PHOTOS / name for name, _ in rows)
    if missing := next((photo for photo in photos if not photo.is_file()), None):
        raise UserError(f"{missing} is missing; download HierarCaps again.")
    return CaptionSet(
        name="hierarcaps",
        split="test",
        photos=photos,
        captions=tuple(caption for _, chain in rows for caption in chain),
        photo_of=tuple(photo for photo, (_, chain) in enumerate(rows) for _ in chain),
    )
