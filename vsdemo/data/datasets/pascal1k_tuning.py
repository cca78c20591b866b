"""The photos of Pascal1K that no reported test set holds, for choosing settings."""

from __future__ import annotations

from vsdemo.core.caption_set import CaptionSet
from vsdemo.data.datasets.pascal1k import Pascal1k, names_of, subset

REPORTED = range(5)  # seeds of the splits whose tests are reported
DEV = 100


class Pascal1kTuning(Pascal1k):
    """Train and dev without the test photos of `pascal1k` and `pascal1k:1` to `pascal1k:4`."""

    seeded = False
    splits = ("train", "dev", "all")

    def read(self, split: str) -> CaptionSet:
        """Return the last 100 of the remaining photos as dev, or the others as train."""
        tested = {name for seed in REPORTED for name in names_of(seed, "test")}
        left = [name for name in names_of(0, "all") if name not in tested]
        parts = {"train": left[:-DEV], "dev": left[-DEV:], "all": left}
        return subset("pascal1k-tuning", split, parts[split])
