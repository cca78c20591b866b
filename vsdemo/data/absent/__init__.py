"""Sentences about what no photo of a data set shows, written for vsdemo.

They measure whether a search says so when nothing matches. Most name things, scenes and actions
that the photos lack; some are abstract, and some are nonsense. `storybook.txt` is for Storybook's
drawn world, `photos.txt` for data sets of everyday photos such as Flickr8k, with people, dogs,
sport and the outdoors in them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from vsdemo.data import packaged

FOLDER = Path(__file__).parent
EVERYDAY = "photos"  # the list for data sets without their own


@cache
def sentences(dataset: str) -> tuple[str, ...]:
    """Return the sentences for a data set.

    Args:
        dataset: Its name; data sets without their own list share that of everyday photos.
    """
    file = FOLDER / f"{dataset if dataset in names() else EVERYDAY}.txt"
    return tuple(packaged.read_text(file).splitlines())


def names() -> tuple[str, ...]:
    """Return the names of the lists."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.txt")))
