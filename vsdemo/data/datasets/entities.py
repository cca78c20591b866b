"""Flickr30k Entities (Plummer et al. 2015): which phrase of a caption speaks of which boxes.

It annotates the five captions of each photo of Flickr8k, in another order and with some spelling
amended, so that captions find theirs by `match`. Photos go by what stands before the first `_` of
their file's name.
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

HOW_TO_GET = (
    "the boxes of Flickr8k's phrases: put annotations.zip from "
    "github.com/BryanPlummer/flickr30k_entities into $VSDEMO_DATA/flickr30k_entities"
)
Box = tuple[float, float, float, float]  # x0, y0, x1, y1 in shares of the photo

MARK = re.compile(r"\[/EN#(\d+)/(\S+) ([^\]]*)\]")  # [/EN#chain/type/type words]
EDGES = ("xmin", "ymin", "xmax", "ymax")


@dataclass(frozen=True)
class Phrase:
    """Words of a caption that name something.

    first: number of the first among the caption's tokens, which white space separates. types: such
    as people. chain: what it names; phrases of a photo that name the same thing share it.
    """

    words: tuple[str, ...]
    first: int
    types: tuple[str, ...]
    chain: str


@dataclass(frozen=True)
class Annotation:
    """What people marked for one photo.

    phrases: those of each caption, from left to right. boxes: chain -> (B, 4) in shares of the
    photo; chains without a box are absent.
    """

    captions: tuple[str, ...]
    phrases: tuple[tuple[Phrase, ...], ...]
    boxes: Mapping[str, Tensor]


def read(photos: Sequence[Path]) -> list[Annotation]:
    """The annotations of photos, of which only the names are looked at.

    Raises UserError when the archive is missing or damaged, or does not know a photo.
    """
    return [_annotated(photo) for photo in photos]


def boxes(photo: Path) -> list[Box]:
    """All boxes of a photo, without doubles, the largest first.

    Raises UserError as `read` does, and for a photo without a box.
    """
    rows = [tuple(box) for found in _annotated(photo).boxes.values() for box in found.tolist()]
    if not rows:
        raise UserError(f"Nobody drew a box into {photo.name}; choose other regions.")
    return sorted(dict.fromkeys(rows), key=lambda b: (b[0] - b[2]) * (b[3] - b[1]))


def match_captions(captions: Sequence[str], sentences: Sequence[str]) -> list[int | None]:
    """For each caption the number of the sentence that it is but for letters' case, signs and
    spelling; None where no sentence is left. No sentence is two captions."""
    left = {number: _letters(sentence) for number, sentence in enumerate(sentences)}
    own = [_letters(caption) for caption in captions]
    found: list[int | None] = [None] * len(captions)

    def take(i: int, number: int | None) -> None:
        found[i] = number
        left.pop(number, None)

    for i, letters in enumerate(own):
        take(i, next((number for number in left if left[number] == letters), None))
    unlike = [i for i, number in enumerate(found) if number is None]
    # The longest first, as a caption that was cut short is like any sentence.
    for i in sorted(unlike, key=lambda i: -len(own[i])):
        take(i, max(left, key=lambda number: _likeness(own[i], left[number]), default=None))
    return found


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


@lru_cache(maxsize=1)
def _archive(path: Path) -> ZipFile:
    """Kept in memory, as its list of 16,000 files takes longer to read than any of them."""
    return ZipFile(BytesIO(path.read_bytes()))


def archive() -> Path:
    """Where the annotations are. Raises UserError when they are nowhere."""
    return require_data("flickr30k_entities", "annotations.zip", what="Flickr30k Entities")


def _annotated(photo: Path) -> Annotation:
    path = archive()
    number = photo.name.partition("_")[0].removesuffix(photo.suffix)
    try:
        files = _archive(path)
        if f"Sentences/{number}.txt" not in files.NameToInfo:
            raise UserError(
                f"Flickr30k Entities knows no photo {photo.name}; take one of Flickr8k."
            )
        lines = files.read(f"Sentences/{number}.txt").decode().splitlines()
        told = [_sentence(line) for line in lines if line.strip()]
        found = _boxes(files.read(f"Annotations/{number}.xml"))
    except UserError:
        raise
    except Exception as error:  # a damaged archive fails in as many ways as there are bytes
        raise UserError(
            f"{path} is damaged ({type(error).__name__} at photo {number}); get it once more."
        ) from error
    return Annotation(tuple(text for text, _ in told), tuple(rows for _, rows in told), found)


def _sentence(line: str) -> tuple[str, tuple[Phrase, ...]]:
    """(caption, phrases) of a line with marks."""
    tokens: list[str] = []
    phrases, end = [], 0
    for mark in MARK.finditer(line):
        tokens += line[end : mark.start()].split()
        chain, types, words = mark.groups()
        phrases.append(Phrase(tuple(words.split()), len(tokens), tuple(types.split("/")), chain))
        tokens += words.split()
        end = mark.end()
    return " ".join([*tokens, *line[end:].split()]), tuple(phrases)


def _boxes(xml: bytes) -> dict[str, Tensor]:
    """Chain -> (B, 4). Pixels count from 1, and the last ones belong to the box; what lies outside
    of the photo is cut off, and boxes of which nothing is left go."""
    root = ElementTree.fromstring(xml)
    size = [int(root.findtext(f"size/{side}", "")) for side in ("width", "height")]
    found: dict[str, list[Box]] = {}
    for thing in root.iter("object"):
        for drawn in thing.iter("bndbox"):
            low_x, low_y, x1, y1 = (int(drawn.findtext(edge, "")) for edge in EDGES)
            edges = zip((low_x - 1, low_y - 1, x1, y1), size * 2, strict=True)
            x0, y0, x1, y1 = (min(max(edge / side, 0.0), 1.0) for edge, side in edges)
            if x0 < x1 and y0 < y1:
                for name in thing.iter("name"):
                    found.setdefault(name.text or "", []).append((x0, y0, x1, y1))
    return {chain: torch.tensor(rows) for chain, rows in found.items()}
