"""What all data sets of photos have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.progress import Progress
from vsdemo.data import caption_bank
from vsdemo.data.text.vocab import tokenize

SPLITS = ("train", "dev", "test", "all")


class Report(NamedTuple):
    """The result of checking a data set; it is fine if there are no problems."""

    facts: list[str]
    problems: list[str]


class TrainingCheck(NamedTuple):
    """What must be known before a training on a data set starts, one sentence each.

    Attributes:
        obstacles: What keeps it from starting.
        notes: What is left out of it, or makes its figures rough.
    """

    obstacles: list[str]
    notes: list[str]


class Dataset(ABC):
    """Photos in splits, usually with captions.

    Attributes:
        how_to_get: Where to download the data set, and where to put it.
        splits: The names of its splits. The last one, `all`, contains the photos of all others.
        variants: What may follow `NAME:` to get other splits, in words for a message; empty if
            nothing may.
        generated: Whether vsdemo makes the photos itself, so that they are always available.
        is_own: Whether the photos are somebody's own, so that unreadable ones are left out.
        has_photos: Whether there are photos, and not only their features, which are then read when
            they are needed.
    """

    how_to_get: ClassVar[str] = ""
    splits: ClassVar[tuple[str, ...]] = SPLITS
    variants: ClassVar[str] = ""
    generated: ClassVar[bool] = False
    is_own: ClassVar[bool] = False
    has_photos: ClassVar[bool] = True

    @property
    def captioned(self) -> bool:
        """Whether the photos have captions."""
        return True

    @classmethod
    def variant(cls, name: str) -> Dataset | None:
        """Return the data set with other splits, or None if there are none with this name.

        Args:
            name: What follows `NAME:`, such as a seed.
        """
        return None

    @abstractmethod
    def read(self, split: str) -> CaptionSet:
        """Return a split.

        Raises:
            UserError: Files are missing or malformed.
        """

    def load(self, split: str, progress: Progress | None = None, limit: int = 0) -> CaptionSet:
        """Return a split, or its first `limit` photos if that is not 0.

        Args:
            split: One of `splits`.
            progress: Called while photos are generated, or their content is read.
            limit: The number of photos; 0 for all.
        """
        captions = self.read(split)
        return captions.first(limit) if limit else captions

    def photos(self, split: str) -> Sequence[Path]:
        """Return the photos of a split, which need not have been generated yet."""
        return self.read(split).photos

    def generate(self, photos: Sequence[Path]) -> None:  # noqa: B027 (most data sets are files)
        """Generate those of these photos that are missing, in a data set that can.

        Args:
            photos: Some of the paths that `photos` returns.
        """

    def seconds_per_photo(self) -> float | None:
        """Return how long generating a photo takes on this machine; None if that is not known."""
        return None

    def words(self) -> tuple[str, ...]:
        """Return the words that occur at least twice in the training captions, frequent ones first.

        Without such captions they are those of the caption bank.
        """
        try:
            captions = self.read("train").captions
        except UserError:
            captions = ()
        counts = Counter(word for caption in captions for word in tokenize(caption))
        repeated = tuple(word for word, count in counts.most_common() if count > 1)
        return repeated or caption_bank.words()

    def check(self) -> Report:
        """Return facts and problems that only this data set can have."""
        return Report([], [])

    def check_training(self) -> TrainingCheck:
        """Return what keeps a training from starting, and what is left out of it."""
        return TrainingCheck([], [])

    def summary(self) -> str | None:
        """Return what is available in a few words; None if files are missing."""
        try:
            return f"{len(self.photos('all')):,} photos"
        except (UserError, OSError):
            return None
