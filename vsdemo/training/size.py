"""An estimate of the memory and the disk space that a training takes, before it starts.

The weights are counted exactly, on a model without storage. The rest is rough: its factors were
measured on a CPU: estimates were 0.9 to 1.9 times the peak, and 3 times that of bags of words in
large batches.
"""

from __future__ import annotations

import os
import string
import sys
from pathlib import Path
from typing import NamedTuple

import torch

from vsdemo import models
from vsdemo.core.config import Config
from vsdemo.data.text.vocab import CHARACTERS, SPECIAL, Vocab
from vsdemo.models.dual_encoder import DualEncoder

FLOAT = 4  # bytes
PROGRAM = 770_000_000  # bytes of Python, torch and the data sets' texts
PARSER = 500_000_000  # bytes of the parser
COPIES = 10  # of the weights: weights, gradient, two moments, and those of a state being saved
AVERAGE_COPIES = 3  # additional copies with a moving average
SAVED_COPIES = 6  # on the disk: weights and two moments, twice while a file is replaced
STATES = 12  # numbers of `dim` and `word_dim` that are kept for a word, for the backward pass
SCORE_COPIES = 9  # matrices (B, B) of scores, hinges and their gradients
ALIGNED_COPIES = 6  # tensors (R, B, K) of scores of fragments and regions
WORDS, CHARACTERS_OF_A_TEXT, WORDS_OF_A_TEXT = 10_000, 60, 12  # typical ones
RELATIONS, CHILDREN = 45, (6, 6)
WIDTHS = ("dim", "word_dim", "units", "attention")  # settings that are lengths of vectors
LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # of a container, below /sys/fs/cgroup
HUGE = sys.maxsize


class Size(NamedTuple):
    """Bytes of memory and of disk space."""

    memory: int
    disk: int


class Amounts(NamedTuple):
    """How much a training learns from; rough where counting would take long.

    Attributes:
        pairs: Largest number of pairs in a batch.
        names: Number of names of concepts, which form the vocabulary.
        photos: Number of photos whose features are in memory.
        vectors: Number of vectors of a photo: one, or one for each region.
        features: Length of such a vector; 0 without photos.
        stored: Bytes in memory of each photo; 0 if these are the vectors, in single precision.
        epoch: Numbers that describe the pairs of an epoch.
    """

    pairs: int
    names: int = 0
    photos: int = 0
    vectors: int = 1
    features: int = 0
    stored: int = 0
    epoch: int = 0


def estimate(model: str, config: Config, amounts: Amounts) -> Size:
    """Estimate what the training of a configuration takes.

    Args:
        model: Name of a model.
        config: Its configuration.
        amounts: What it learns from.

    Raises:
        UserError: If the model refuses the configuration.
    """
    try:
        with torch.device("meta"):
            built = models.build(model, config, _vocab(config, amounts), amounts.features)
    except RuntimeError:  # the weights are too many to count
        return Size(HUGE, HUGE)
    weights = FLOAT * sum(weight.numel() for weight in built.parameters())
    copies = COPIES + (AVERAGE_COPIES if config.average_decay else 0)
    photos = amounts.photos * (amounts.stored or FLOAT * amounts.vectors * amounts.features)
    work = _solving(config, amounts) if built.solved else _step(built, config, amounts)
    program = PROGRAM + (PARSER if _needs_trees(config) else 0)
    snapshots = config.epochs // config.snapshot_every if config.snapshot_every else 0
    return Size(
        memory=min(HUGE, program + copies * weights + photos + work + FLOAT * amounts.epoch),
        disk=min(HUGE, (SAVED_COPIES + 2 + snapshots) * weights),
    )


def memory_of_machine() -> int:
    """Return the memory of this machine, or of the container this runs in, in bytes."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in LIMITS:
        try:
            sizes.append(int((Path("/sys/fs/cgroup") / name).read_text()))
        except (OSError, ValueError):  # ValueError: "max", for no limit
            continue
    return min(sizes)


def _vocab(config: Config, amounts: Amounts) -> Vocab:
    """Return a vocabulary of the expected size."""
    if config.needs >= CHARACTERS:
        return Vocab((*SPECIAL, *string.printable))
    count = amounts.names or WORDS
    words = (*SPECIAL, *map(str, range(count)))
    if not _needs_trees(config):
        return Vocab(words)
    return Vocab(words, tuple(map(str, range(RELATIONS))), CHILDREN)


def _needs_trees(config: Config) -> bool:
    return any("tree" in need for need in config.needs)


def _step(model: DualEncoder, config: Config, amounts: Amounts) -> int:
    """Return the bytes that are kept of a batch for the backward pass."""
    batch = min(config.batch_size, amounts.pairs)
    text = CHARACTERS_OF_A_TEXT if config.needs >= CHARACTERS else WORDS_OF_A_TEXT
    width = sum(int(getattr(config, name, 0)) for name in WIDTHS)
    states = (min(batch, config.chunk) or batch) * text * STATES * width
    scores = SCORE_COPIES * batch * batch
    if model.score.can_align:
        scores += ALIGNED_COPIES * batch * text * batch * amounts.vectors
    return FLOAT * (states + scores + batch * amounts.vectors * amounts.features)


def _solving(config: Config, amounts: Amounts) -> int:
    """Return the bytes needed to solve a model at once: its inputs and their moments."""
    landmarks = getattr(config, "landmarks", 0)
    inputs = getattr(config, "word_dim", 0) + amounts.features
    moments = 2 * landmarks if landmarks else inputs
    double = 2 * FLOAT
    return double * (amounts.pairs * inputs + 10 * moments * moments)
