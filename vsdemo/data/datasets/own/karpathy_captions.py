"""The captions and splits of a folder with a file in the Karpathy format."""

from __future__ import annotations

from pathlib import Path

from vsdemo.data.datasets.karpathy import KarpathyFile
from vsdemo.data.datasets.own.caption_list import CaptionList, Captions, Kind, PhotoNames


def read(file: Path, names: PhotoNames) -> Captions:
    """Return the captions in a file.

    Args:
        file: The file.
        names: Finds the photos of its folder.

    Raises:
        UserError: It is not in the Karpathy format, or names a photo outside of its folder.
    """
    captions, splits = CaptionList(), {}
    for entry in KarpathyFile(file).entries():
        path = entry.photo.relative_to(file.parent).as_posix()
        photo = names.find(path)
        if photo is None:
            captions.problem(
                Kind.MISSING_PHOTO,
                f"{file.name}: there is no photo {path} in {file.parent}; add it, or remove it "
                "from the file.",
            )
            continue
        if entry.split:
            splits[photo] = entry.split
        for text in entry.captions:
            captions.add(photo, text, file.name)
    return captions.result(splits)
