"""Sentences to try, each with the photos that it is true of.

A new visitor should see a search succeed, so only sentences that a model answers rightly are
offered. The sentences are in two lists, the best first: `storybook.toml` for Storybook, with what
each states, and `photos.toml` for data sets of everyday photos, with the words by which captions
state the same. Which photos a sentence is true of follows from Storybook's scenes, or from the
captions.

`storybook.json` and `flickr8k.json` have these photos, and the shipped checkpoints that rank one of
them first; `python -m vsdemo data examples NAME` writes them, see `vsdemo.search.examples`.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from vsdemo.core.caption_set import CaptionSet
from vsdemo.data import packaged
from vsdemo.data.storybook import store
from vsdemo.data.storybook.facts import Facts, Thing, entails, facts_of
from vsdemo.data.storybook.scene import Link
from vsdemo.data.text.vocab import tokenize

FOLDER = Path(__file__).parent
DRAWN, EVERYDAY = "storybook", "photos"  # the lists
TOPICS = ("animal", "people", "scene")
WITNESSES = 2  # captions of a photo that must state all that a sentence states
CAPTIONS = 40  # of a gallery, at most
CAPTION_WORDS = range(4, 9)  # words of such a caption
PLAIN = re.compile(r"[A-Za-z ]+")


@dataclass(frozen=True)
class Example:
    """A sentence to try.

    Attributes:
        text: The sentence.
        topic: One of TOPICS; empty for a caption.
        facts: What it states of a drawn scene; None for everyday photos.
        groups: Groups of phrases; a caption with a phrase of each states the same. None for a drawn
            scene.
    """

    text: str
    topic: str = ""
    facts: Facts | None = None
    groups: tuple[tuple[str, ...], ...] = ()


@cache
def examples(dataset: str) -> tuple[Example, ...]:
    """Return the sentences for a data set, the best first.

    Args:
        dataset: Its name; all but Storybook share the list for everyday photos.
    """
    name = DRAWN if dataset == DRAWN else EVERYDAY
    rows = tomllib.loads(packaged.read_text(FOLDER / f"{name}.toml"))["examples"]
    return tuple(_drawn(row) if name == DRAWN else _everyday(row) for row in rows)


def _drawn(row: dict[str, Any]) -> Example:
    facts = Facts(
        things=tuple(Thing(**thing) for thing in row["things"]),
        links=tuple(Link(*link) for link in row.get("links", ())),
        place=row.get("place"),
        time=row.get("time"),
        weather=row.get("weather"),
    )
    return Example(row["text"], row["topic"], facts=facts)


def _everyday(row: dict[str, Any]) -> Example:
    groups = tuple(tuple(group.split(", ")) for group in row["groups"])
    return Example(row["text"], row["topic"], groups=groups)


def true_photos(gallery: CaptionSet) -> dict[str, frozenset[str]]:
    """Return, for each sentence of `examples`, the names of the photos that it is true of.

    A photo whose captions or scene do not state enough is left out, so some photos that a sentence
    is true of may be missing.

    Args:
        gallery: A split of a data set with captions.
    """
    if gallery.name == DRAWN:
        return _of_scenes(gallery)
    return _of_captions(gallery)


def short_captions(gallery: CaptionSet) -> dict[Example, str]:
    """Return short captions that only one photo has, spread over the gallery, with their photos.

    They have no punctuation but a full stop, which is left out. A photo has at most one.
    """
    texts: dict[str, str] = {}
    owners: dict[str, list[int]] = {}
    for caption, photo in zip(gallery.captions, gallery.photo_of, strict=True):
        text = caption.strip(" .")
        if len(text.split()) in CAPTION_WORDS and PLAIN.fullmatch(text):
            texts[text.lower()] = text
            owners.setdefault(text.lower(), []).append(photo)
    of_photo = {photos[0]: texts[key] for key, photos in owners.items() if len(photos) == 1}
    numbers = sorted(of_photo)
    step = max(1, len(numbers) // CAPTIONS)
    spread = numbers[::step][:CAPTIONS]
    return {Example(of_photo[number]): gallery.photos[number].name for number in spread}


def _of_scenes(gallery: CaptionSet) -> dict[str, frozenset[str]]:
    photos = [(photo, facts_of(store.read_example(photo).scene)) for photo in gallery.photos]
    return {
        example.text: frozenset(
            photo.name
            for photo, facts in photos
            if example.facts is not None and entails(facts, example.facts)
        )
        for example in examples(gallery.name)
    }


def _of_captions(gallery: CaptionSet) -> dict[str, frozenset[str]]:
    captions = [" ".join(["", *tokenize(text), ""]) for text in gallery.captions]
    return {
        example.text: frozenset(
            gallery.photos[photo].name for photo in _stated(example, captions, gallery.photo_of)
        )
        for example in examples(gallery.name)
    }


def _stated(example: Example, captions: Sequence[str], photo_of: Sequence[int]) -> set[int]:
    """Return the photos of which WITNESSES captions state all that an example states.

    Args:
        example: The example.
        captions: Lower-case words with a space before and behind each.
        photo_of: The photo of each caption.
    """
    stating = Counter(
        photo
        for caption, photo in zip(captions, photo_of, strict=True)
        if all(any(f" {phrase} " in caption for phrase in group) for group in example.groups)
    )
    return {photo for photo, count in stating.items() if count >= WITNESSES}
