"""Pairs of captions of one photo, which are drawn with their photo."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vsdemo.core.caption_set import CaptionSet


def photos_of(pairs: Sequence[tuple[int, int]], split: CaptionSet) -> np.ndarray:
    """Return the photo of each pair of captions, (N,), numbered without those that have no pair."""
    owner = np.array(split.photo_of)[[first for first, _ in pairs]]
    return np.unique(owner, return_inverse=True)[1]


def times_drawn(photos: np.ndarray | None, count: int) -> np.ndarray:
    """Return how often each of `count` photos is in a sample, (count,); without one, once."""
    return np.ones(count) if photos is None else np.bincount(photos, minlength=count)
