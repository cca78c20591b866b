"""Pairs of captions of one photo, from which a text encoder learns before it sees photos."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.data.text.vectors import corpus_path, corpus_sentences
from vsdemo.data.text.vocab import letters_of
from vsdemo.training.materials.photo_batches import PhotoBatch

PER_PHOTO = 5  # captions of a photo in `corpus_sentences`
HELD_OUT = ("dev", "test")


class PairBatch(PhotoBatch):
    """Photos of which two captions are drawn when they are needed, also photos not at hand."""


def obstacle() -> str:
    """Return why captions of photos that are not at hand are missing; empty if they are there."""
    try:
        corpus_path()
    except UserError as error:
        return str(error)
    return ""


def other_captions(dataset: str) -> list[tuple[str, ...]]:
    """Return captions of photos that are not at hand, those of each photo together.

    Photos with a caption that the data set has in dev or test are left out.

    Args:
        dataset: The data set of a training.

    Raises:
        UserError: The captions are missing, or the data set is.
    """
    lines = [line.strip() for line in corpus_sentences()]
    photos = [tuple(lines[at : at + PER_PHOTO]) for at in range(0, len(lines), PER_PHOTO)]
    held_out = {letters_of(caption) for caption in _held_out(dataset)}
    return [own for own in photos if held_out.isdisjoint(map(letters_of, own))]


def _held_out(name: str) -> Iterator[str]:
    """Yield the captions of dev and test."""
    dataset = datasets.find(name)
    for split in HELD_OUT:
        if split in dataset.splits:
            yield from dataset.read(split).captions


def batches(photos: Sequence[object], count: int, seed: int, epoch: int) -> list[PairBatch]:
    """Return an epoch of `count` batches, each photo once.

    Args:
        photos: The captions of each photo.
        count: The number of batches.
        seed: Of the training.
        epoch: Number of the epoch.
    """
    order = np.random.default_rng((seed, epoch)).permutation(len(photos))
    parts = np.array_split(order, count)
    return [PairBatch(rows, (seed, epoch, number)) for number, rows in enumerate(parts)]
