"""Flickr30k Entities (Plummer et al. 2015): phrases of captions, linked to boxes in the photos.

It annotates the five captions of each photo of Flickr8k, but in another order and with corrected
spelling, so captions find their annotations with `match_captions`. Photos are identified by the
part of their file name before the first `_`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import torch
from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.core.paths import require_data
from vsdemo.data.sources import source_below_data
from vsdemo.data.text.vocab import letters_of

SOURCE = source_below_data(
    "flickr30k_entities",
    marker="annotations.zip",
    how_to_get=(
        "the boxes of Flickr8k's phrases: put annotations.zip from "
        "github.com/BryanPlummer/flickr30k_entities into $VSDEMO_DATA/flickr30k_entities"
    ),
)
Box = tuple[float, float, float, float]  # x0, y0, x1, y1 as fractions of width and height

PHRASE = re.compile(r"\[/EN#(\d+)/(\S+) ([^\]]*)\]")  # [/EN#chain/type/type words]
EDGES = ("xmin", "ymin", "xmax", "ymax")


@dataclass(frozen=True)
class Phrase:
    """Words of a caption that name something.

    Args:
        words: The words.
        first: Index of the first word among the caption's whitespace-separated tokens.
        types: Types, such as `people`.
        chain: Identifies what is named; phrases of a photo with the same chain name the same.
    """

    words: tuple[str, ...]
    first: int
    types: tuple[str, ...]
    chain: str


@dataclass(frozen=True)
class Annotation:
    """The annotation of one photo.

    Args:
        captions: The captions in their order in Flickr30k Entities.
        phrases: For each caption its phrases from left to right.
        boxes: For each chain with boxes `(B, 4)`, as fractions of the photo's width and height.
    """

    captions: tuple[str, ...]
    phrases: tuple[tuple[Phrase, ...], ...]
    boxes: Mapping[str, Tensor]


def read(photos: Sequence[Path]) -> list[Annotation]:
    """Return the annotations of photos; the photos themselves are not read.

    Raises:
        UserError: The archive is missing or damaged, or does not contain one of the photos.
    """
    return [_annotation(photo) for photo in photos]


def boxes(photo: Path) -> list[Box]:
    """Return all boxes of a photo without duplicates, the largest first.

    Raises:
        UserError: The photo has no boxes, or as for `read`.
    """
    rows = [tuple(box) for boxes in _annotation(photo).boxes.values() for box in boxes.tolist()]
    if not rows:
        raise UserError(f"{photo.name} has no annotated boxes; choose other regions.")
    return sorted(dict.fromkeys(rows), key=lambda b: (b[0] - b[2]) * (b[3] - b[1]))


def match_captions(captions: Sequence[str], sentences: Sequence[str]) -> list[int | None]:
    """Assign a different sentence to each caption.

    Sentences that equal a caption except for case and punctuation are assigned first, then the
    most similar ones.

    Returns:
        For each caption the index of its sentence; None if no sentence is left.
    """
    remaining = {i: letters_of(sentence) for i, sentence in enumerate(sentences)}
    letters = [letters_of(caption) for caption in captions]
    matches: list[int | None] = [None] * len(captions)
    for caption, own in enumerate(letters):
        equal = next((i for i, other in remaining.items() if other == own), None)
        if equal is not None:
            matches[caption] = equal
            del remaining[equal]
    unmatched = [caption for caption, match in enumerate(matches) if match is None]
    # Long captions choose first, because truncated ones are similar to many sentences.
    for caption in sorted(unmatched, key=lambda caption: -len(letters[caption])):
        own = letters[caption]
        best = max(remaining, key=lambda i: _similarity(own, remaining[i]), default=None)
        if best is not None:
            matches[caption] = best
            del remaining[best]
    return matches


def _similarity(a: str, b: str) -> float:
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


@lru_cache(maxsize=1)
def _open_archive(path: Path) -> ZipFile:
    """Keep the archive in memory, because its directory of 16,000 files is slow to read."""
    return ZipFile(BytesIO(path.read_bytes()))


def archive_path() -> Path:
    """Return the path of the annotations.

    Raises:
        UserError: They are missing.
    """
    return require_data("flickr30k_entities", "annotations.zip", what="Flickr30k Entities")


def _annotation(photo: Path) -> Annotation:
    path = archive_path()
    number = photo.name.partition("_")[0].removesuffix(photo.suffix)
    try:
        archive = _open_archive(path)
        if f"Sentences/{number}.txt" not in archive.NameToInfo:
            raise UserError(
                f"Flickr30k Entities does not contain {photo.name}; choose a photo of Flickr8k."
            )
        lines = archive.read(f"Sentences/{number}.txt").decode().splitlines()
        sentences = [_parse_sentence(line) for line in lines if line.strip()]
        boxes = _parse_boxes(archive.read(f"Annotations/{number}.xml"))
    except UserError:
        raise
    except Exception as error:  # zip, XML and numbers can all be damaged
        raise UserError(
            f"{path} is damaged ({type(error).__name__} at photo {number}); download it again."
        ) from error
    return Annotation(
        captions=tuple(caption for caption, _ in sentences),
        phrases=tuple(phrases for _, phrases in sentences),
        boxes=boxes,
    )


def _parse_sentence(line: str) -> tuple[str, tuple[Phrase, ...]]:
    """Return (caption, phrases) of a line with marked phrases."""
    tokens: list[str] = []
    phrases = []
    end = 0
    for match in PHRASE.finditer(line):
        tokens += line[end : match.start()].split()
        chain, types, text = match.groups()
        words = text.split()
        phrases.append(Phrase(tuple(words), len(tokens), tuple(types.split("/")), chain))
        tokens += words
        end = match.end()
    tokens += line[end:].split()
    return " ".join(tokens), tuple(phrases)


def _parse_boxes(xml: bytes) -> dict[str, Tensor]:
    """Return the boxes of each chain, `(B, 4)`, clipped to the photo; empty boxes are dropped."""
    root = ElementTree.fromstring(xml)
    width, height = (int(root.findtext(f"size/{side}", "")) for side in ("width", "height"))
    boxes: dict[str, list[Box]] = {}
    for element in root.iter("object"):
        for drawn in element.iter("bndbox"):
            left, top, right, bottom = (int(drawn.findtext(edge, "")) for edge in EDGES)
            # Pixels are counted from 1, and the box includes the last ones.
            box = (
                _clip((left - 1) / width),
                _clip((top - 1) / height),
                _clip(right / width),
                _clip(bottom / height),
            )
            if box[0] < box[2] and box[1] < box[3]:
                for name in element.iter("name"):
                    boxes.setdefault(name.text or "", []).append(box)
    return {chain: torch.tensor(rows) for chain, rows in boxes.items()}


def _clip(fraction: float) -> float:
    return min(max(fraction, 0.0), 1.0)
