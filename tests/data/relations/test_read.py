"""Samples of pairs that a person has read: at least 97% of those that are still made are right.

`read_pairs.json` has the ids of pairs of Flickr8k train and of the chains, by source: those that
are right, and those that are wrong. Of `swapped`, a pair is right if it is false, as the source
says.
"""

import json
from pathlib import Path

import pytest

from vsdemo.core.caption_set import CaptionSet
from vsdemo.data import datasets
from vsdemo.data.relations import caption_nouns, chains, regions
from vsdemo.data.relations.caption_sources import CaptionSources
from vsdemo.data.relations.listing import Source, digest

READ = json.loads((Path(__file__).parent / "read_pairs.json").read_text())
SHARE = 0.97
EVERY = 4  # of the captions only so many are parsed
STILL_MADE = 0.7  # least share; nouns of a few captions allow less than those of all
EVERYDAY_NOUNS = (  # that the other captions name
    "A person looks at an animal .",
    "An athlete and a player sit in a vehicle .",
    "A rider stands near a building .",
    "A plant grows near a pathway and a road .",
    "A skater with a toy sits on a seat .",
)


def ids(source: str) -> list[str]:
    return [*READ[source]["right"], *READ[source]["wrong"]]


def check(source: Source, wanted: list[str], still_made: float) -> None:
    """Assert that enough pairs are still made, and that enough of these are right."""
    made = {pair.id for pair in source.find(wanted)}
    wrong = made & set(READ[source.name]["wrong"])
    assert len(made) >= still_made * len(wanted), source.name
    assert len(wrong) <= (1 - SHARE) * len(made), source.name


def of_captions(wanted: list[str]) -> CaptionSet:
    """Return the photos of Flickr8k train that some pairs mention."""
    full = datasets.load("flickr8k", "train")
    names = {pair.split("-")[1] for pair in wanted}
    photos = [
        photo
        for photo in range(len(full.photos))
        if any(digest(caption) in names for caption in full.own_captions(photo))
    ]
    captions = [(n, caption) for n, p in enumerate(photos) for caption in full.own_captions(p)]
    return CaptionSet(
        "flickr8k",
        "train",
        tuple(full.photos[photo] for photo in photos),
        tuple(caption for _, caption in captions),
        tuple(n for n, _ in captions),
    )


def only(split: CaptionSet, wanted: list[str]) -> CaptionSet:
    """Return the captions of a split that some pairs mention, and some with everyday nouns."""
    names = {pair.split("-")[1] for pair in wanted}
    kept = [row for row, caption in enumerate(split.captions) if digest(caption) in names]
    captions = (*(split.captions[row] for row in kept), *EVERYDAY_NOUNS)
    photo_of = (*(split.photo_of[row] for row in kept), *(0 for _ in EVERYDAY_NOUNS))
    return CaptionSet(split.name, split.split, split.photos, captions, photo_of)


def test_samples_have_no_pair_twice():
    for source in READ:
        assert len(set(ids(source))) == len(ids(source))
        assert len(ids(source)) >= 100


@pytest.mark.usefixtures("real_data")
def test_general_captions_that_were_read(monkeypatch):
    monkeypatch.setattr(caption_nouns, "LEAST", 1)  # the other captions are not there
    monkeypatch.setattr(caption_nouns, "EVERYDAY", 1)
    wanted = {name: ids(name)[::EVERY] for name in ("shortened", "replaced", "swapped")}
    every = [pair for pairs in wanted.values() for pair in pairs]
    sources = CaptionSources(only(of_captions(every), every))
    for name, pairs in wanted.items():
        check(getattr(sources, name)(), pairs, STILL_MADE)


@pytest.mark.usefixtures("real_data")
def test_phrases_that_were_read():
    phrases, _ = regions.sources(of_captions(ids("phrases")))
    check(phrases, ids("phrases"), still_made=0.95)


@pytest.mark.usefixtures("real_data")
def test_chains_that_were_read():
    made = list(chains.load().neighbours().find(ids("chains")))
    assert len({pair.id for pair in made}) == len(ids("chains"))


@pytest.mark.long
@pytest.mark.usefixtures("real_data")
def test_all_pairs_that_were_read():
    sources = CaptionSources(datasets.load("flickr8k", "train"))
    for name in ("shortened", "replaced", "concepts", "swapped"):
        check(getattr(sources, name)(), ids(name), still_made=0.95)
