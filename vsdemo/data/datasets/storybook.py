"""Storybook as a data set; `vsdemo.data.storybook` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.progress import Progress
from vsdemo.data import storybook
from vsdemo.data.datasets.base import Dataset, Report
from vsdemo.data.storybook import store
from vsdemo.data.storybook.lexicon import load_lexicon


class Storybook(Dataset):
    """Illustrated scenes, drawn when they are first used."""

    how_to_get = storybook.HOW_TO_GET
    splits = ("train", "dev", "test", "compositional", "all")
    generated = True

    def read(self, split: str) -> CaptionSet:
        """Return a split; missing pictures are drawn."""
        return self.load(split)

    def load(self, split: str, progress: Progress | None = None, limit: int = 0) -> CaptionSet:
        """Return a split, or its first pictures; only those are drawn."""
        return storybook.load(split, progress, limit)

    def photos(self, split: str) -> tuple[Path, ...]:
        """Return where the pictures are, or will be once they are drawn."""
        return storybook.photos(split)

    def generate(self, photos: Sequence[Path]) -> None:
        """Draw those of these pictures that are missing."""
        if missing := [int(photo.stem) for photo in photos if not photo.exists()]:
            storybook.drawn(missing)

    def seconds_per_photo(self) -> float | None:
        """Return how long drawing a picture took lately; None if none was drawn here."""
        return store.seconds_per_picture()

    def check(self) -> Report:
        """Return facts and problems of the scenes."""
        return Report(*storybook.check())

    def words(self) -> tuple[str, ...]:
        """Return all words of captions."""
        return load_lexicon().words()

    def summary(self) -> str:
        """Return that the pictures can always be drawn."""
        return self.how_to_get
