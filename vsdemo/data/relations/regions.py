"""Regions of photos, and the phrases above them: "a brown dog" above the box of that dog.

Phrases and boxes of Flickr8k are those of Flickr30k Entities (`entities.py`), those of Storybook
are what its captions name. A phrase lies above its caption too (Pal et al. 2024).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.paths import data_root
from vsdemo.data.datasets import entities
from vsdemo.data.relations.generalize import GUESSES, NEGATIONS
from vsdemo.data.relations.listing import Source, above_of
from vsdemo.data.relations.phrases import clean, is_shown
from vsdemo.data.storybook import store
from vsdemo.data.text.vocab import tokenize

SOURCES = ("phrases", "regions")
Box = tuple[float, float, float, float]  # left, top, right, bottom as fractions of the photo


@dataclass(frozen=True)
class Regions:
    """R regions of the photos of a split and T phrases.

    Attributes:
        texts: The phrases, in lower case.
        photo: (R,) the photo of each region, in ascending order.
        boxes: (R, 4) left, top, right and bottom as fractions of the photo, float32.
        above: (R, T) which phrases lie above a region.
        above_captions: (C, T) which phrases lie above a caption.
    """

    texts: tuple[str, ...]
    photo: np.ndarray
    boxes: np.ndarray
    above: csr_matrix
    above_captions: csr_matrix

    def of_photos(self, photos: np.ndarray) -> np.ndarray:
        """Return the rows of all regions of photos (P,), photo by photo."""
        starts = np.searchsorted(self.photo, photos, side="left")
        ends = np.searchsorted(self.photo, photos, side="right")
        counts = ends - starts
        before = np.repeat(np.cumsum(counts) - counts, counts)
        rows: np.ndarray = np.arange(counts.sum()) - before + np.repeat(starts, counts)
        return rows

    def above_regions(self, texts: np.ndarray, regions: np.ndarray) -> np.ndarray:
        """Return whether phrases (T,) are known to lie above regions (R,), as bool (T, R)."""
        chosen = self.above[regions][:, texts].toarray()
        result: np.ndarray = chosen.T > 0
        return result


@dataclass(frozen=True)
class _Photo:
    """What is known about one photo.

    Attributes:
        captions: For each caption its phrases.
        regions: The box of each thing, and all phrases that name it.
    """

    captions: Sequence[frozenset[str]]
    regions: Sequence[tuple[Box, frozenset[str]]]


def is_available(dataset: str) -> bool:
    """Return whether the regions of a data set are known here."""
    root = data_root()
    has_entities = root is not None and (root / "flickr30k_entities" / "annotations.zip").is_file()
    return dataset == "storybook" or (dataset == "flickr8k" and has_entities)


def load(split: CaptionSet) -> Regions:
    """Return the regions of a split of Flickr8k or Storybook.

    Raises:
        UserError: The regions of the data set are not known, or Flickr30k Entities is missing.
    """
    if split.name not in READERS:
        raise UserError(
            f"The regions of {split.name} are not known; choose {' or '.join(READERS)}."
        )
    read = READERS[split.name]
    photos = [read(split, photo) for photo in range(len(split.photos))]
    captions: list[frozenset[str]] = [frozenset()] * len(split.captions)
    for own, photo in zip(split.captions_of, photos, strict=True):
        for caption, phrases in zip(own, photo.captions, strict=True):
            captions[caption] = phrases
    regions = [
        (number, box, phrases)
        for number, photo in enumerate(photos)
        for box, phrases in photo.regions
        if phrases
    ]
    rows = [sorted(phrases) for phrases in (*captions, *(phrases for _, _, phrases in regions))]
    texts, above = above_of(rows)
    return Regions(
        texts=texts,
        photo=np.array([number for number, _, _ in regions], np.int64),
        boxes=np.array([box for _, box, _ in regions], np.float32).reshape(-1, 4),
        above=above[len(captions) :],
        above_captions=above[: len(captions)],
    )


def sources(split: CaptionSet) -> tuple[Source, Source]:
    """Return the phrases above captions, and those above regions.

    Raises:
        UserError: As for `load`.
    """
    known = load(split)
    names = tuple(
        f"{split.photos[photo].name} " + " ".join(f"{edge:.2f}" for edge in box)
        for photo, box in zip(known.photo, known.boxes, strict=True)
    )
    return (
        Source(
            name="phrases",
            meaning="phrases above captions",
            kind="caption",
            specific=split.captions,
            general=known.texts,
            above=known.above_captions,
        ),
        Source(
            name="regions",
            meaning="phrases above regions of photos",
            kind="region",
            specific=names,
            general=known.texts,
            above=known.above,
        ),
    )


def _hull(boxes: Sequence[Sequence[float]]) -> Box:
    """Return the smallest box around boxes."""
    edges = np.asarray(boxes, np.float64)
    left, top = edges[:, :2].min(0)
    right, bottom = edges[:, 2:].max(0)
    return float(left), float(top), float(right), float(bottom)


def _annotated(split: CaptionSet, photo: int) -> _Photo:
    """Return the phrases and regions of a photo of Flickr8k."""
    (annotation,) = entities.read([split.photos[photo]])
    captions = split.own_captions(photo)
    sentences = entities.match_captions(captions, annotation.captions)
    phrases: list[frozenset[str]] = []
    names: dict[str, set[str]] = {}  # by chain
    for caption, sentence in zip(captions, sentences, strict=True):
        own: set[str] = set()
        words = set(tokenize(caption))
        if sentence is not None and not words & (NEGATIONS | GUESSES):
            text = annotation.captions[sentence].lower().split()
            for phrase in annotation.phrases[sentence]:
                name = clean(phrase.words, is_first=phrase.first == 0)
                end = phrase.first + len(phrase.words)
                shown = "notvisual" not in phrase.types
                shown = shown and is_shown(text[: phrase.first], text[end:])
                if not name or not shown or not set(tokenize(" ".join(phrase.words))) <= words:
                    continue
                own.add(name)
                names.setdefault(phrase.chain, set()).add(name)
        phrases.append(frozenset(own))
    regions = [
        (_hull(annotation.boxes[chain].tolist()), frozenset(own))
        for chain, own in sorted(names.items())
        if chain in annotation.boxes
    ]
    return _Photo(phrases, regions)


def _drawn(split: CaptionSet, photo: int) -> _Photo:
    """Return the phrases and regions of a picture of Storybook."""
    scene = store.read_example(split.photos[photo]).scene
    phrases: list[frozenset[str]] = []
    names: dict[int, set[str]] = {}  # by group
    for caption in store.captions_of(scene):
        own: set[str] = set()
        for words, group in caption.links:
            name = clean([caption.tree.words[word] for word in words])
            if name:
                own.add(name)
                names.setdefault(group, set()).add(name)
        phrases.append(frozenset(own))
    regions = [
        (_hull(scene.groups[group].boxes), frozenset(own)) for group, own in sorted(names.items())
    ]
    return _Photo(phrases, regions)


READERS: dict[str, Callable[[CaptionSet, int], _Photo]] = {  # by data set
    "flickr8k": _annotated,
    "storybook": _drawn,
}
