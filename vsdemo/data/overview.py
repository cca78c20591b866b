"""The list of all data: what is available, and how to get the rest."""

from __future__ import annotations

import os

from vsdemo.core.paths import data_root
from vsdemo.data import datasets
from vsdemo.data.datasets import entities
from vsdemo.data.everyday_photos import training
from vsdemo.data.pairs import nli, sick, sts, wordnet
from vsdemo.data.text import vectors

SOURCES = (
    *(*sts.SOURCES, sick.SOURCE, nli.SOURCE),
    *(entities.SOURCE, vectors.SOURCE, wordnet.SOURCE, training.SOURCE),
)


def overview() -> list[str]:
    """Return lines that list the data below VSDEMO_DATA and how to get what is missing."""
    lines = [_location()]
    for name in datasets.DATASETS:
        dataset = datasets.find(name)
        lines.append(_line(name, dataset.summary(), dataset.how_to_get))
    for name, path in datasets.karpathy_files().items():
        lines.append(_line(name, f"{path} (Karpathy format)", ""))
    for source in SOURCES:
        location = source.find()
        lines.append(_line(source.name, str(location) if location else None, source.how_to_get))
    lines += [
        "COCO or Flickr30k: put photos and a captions.json in the Karpathy format into",
        "$VSDEMO_DATA/<name>/. Your own: give a folder or an index as --data, with captions in",
        "photo.txt next to photo.jpg, in captions.csv (file, caption) or in the photos' metadata.",
    ]
    return lines


def _line(name: str, available: str | None, how_to_get: str) -> str:
    return f"  found    {name}: {available}" if available else f"  missing  {name}: {how_to_get}"


def _location() -> str:
    root = data_root()
    if os.environ.get("VSDEMO_DATA"):
        return f"VSDEMO_DATA is {root}"
    if root:
        return f"VSDEMO_DATA is not set; data were fetched into {root}."
    return "VSDEMO_DATA is not set, and no data have been fetched."
