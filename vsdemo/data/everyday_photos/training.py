"""Photos to learn from besides those of a data set, so that a model knows more everyday things.

They are Pascal1K's train photos with their captions, and ImageNet's samples, one a class, with the
names of what they show: those of their class in WordNet, such as "a fire engine", and of what that
is, such as "a truck" and "a vehicle". The photos that measure descriptions are not among them.
"""

from __future__ import annotations

import re
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.images import photos_in
from vsdemo.core.paths import require_data
from vsdemo.data import caption_bank, datasets, everyday_photos
from vsdemo.data.pairs import wordnet
from vsdemo.data.sources import source_below_data
from vsdemo.data.text.inflection import article

SAMPLES = "imagenet_samples"  # in the folder of photos
SOURCE = source_below_data(
    everyday_photos.FOLDER,
    marker=SAMPLES,
    how_to_get="put photos of ImageNet, at most one for each class and named like "
    f"n02098413_Lhasa.jpg, into $VSDEMO_DATA/{everyday_photos.FOLDER}/{SAMPLES}/",
)
CLASS = re.compile(r"n(\d{8})_")  # the offset of a class in WordNet, as file names begin
NAMES = 2  # names of a class
GENERAL = 4  # more general names
VAGUE = re.compile(
    "agent|being|cause|construction|cover|covering|fixing|form|group|head|line|matter|object|part|"
    "piece|point|relation|set|stock|structure|thing|top|unit|whole"
)  # too vague to describe a photo


def load() -> CaptionSet:
    """Return the photos with their captions.

    Raises:
        UserError: Files are missing or damaged.
    """
    return datasets.load("pascal1k", "train").with_more(_named_photos())


def photos() -> list[Path]:
    """Return the photos of `load`.

    Raises:
        UserError: As `load` does.
    """
    return [*datasets.photos("pascal1k", "train"), *_samples()]


def _samples() -> list[Path]:
    """Return ImageNet's samples without those that are measured."""
    folder = require_data(everyday_photos.FOLDER, SAMPLES, what="The set of ImageNet's samples")
    measured = {photo.file for photo in everyday_photos.described_photos()}
    return [photo for photo in photos_in(folder) if f"{SAMPLES}/{photo.name}" not in measured]


def _named_photos() -> CaptionSet:
    """Return ImageNet's samples with the names of what they show."""
    photos = _samples()
    nouns, known = wordnet.load_nouns(), set(caption_bank.words())
    names = [_names(photo.name, nouns, known) for photo in photos]
    return CaptionSet(
        SAMPLES,
        "train",
        photos=tuple(photos),
        captions=tuple(name for own in names for name in own),
        photo_of=tuple(number for number, own in enumerate(names) for _ in own),
    )


def _names(file: str, nouns: wordnet.Nouns, known: set[str]) -> list[str]:
    """Return what a photo shows, in several short captions.

    Args:
        file: Its name, which begins with its class.
        nouns: The nouns of WordNet.
        known: The words of the caption bank, which more general names are chosen from.
    """
    match = CLASS.match(file)
    concept = nouns.at_offset.get(int(match[1])) if match else None
    if concept is None:
        raise UserError(f"{file} is not the name of a sample of ImageNet; remove it.")
    own = nouns.words[concept]
    general = [word for other in _above(concept, nouns) for word in nouns.words[other]]
    usual = dict.fromkeys(word for word in general if word in known and not VAGUE.fullmatch(word))
    chosen = dict.fromkeys((*own[:NAMES], *list(usual)[:GENERAL]))
    return [f"{article('a', name)} {name}" for name in chosen]


def _above(concept: int, nouns: wordnet.Nouns) -> list[int]:
    """Return the hypernyms of a concept, the nearest first."""
    above: dict[int, None] = {}
    level = [concept]
    while level:
        level = [parent for one in level for parent in nouns.taxonomy.parents[one]]
        above |= dict.fromkeys(level)
    return list(above)
