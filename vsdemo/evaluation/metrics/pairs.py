"""Pairs of captions, which are drawn with the photo of their first caption."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vsdemo.core.caption_set import CaptionSet


def photos_of(pairs: Sequence[tuple[int, int]], split: CaptionSet) -> np.ndarray:
    """Return the photo of each pair of captions, (N,), numbered without those that have no pair."""
    owner = np.array(split.photo_of)[[first for first, _ in pairs]]
    return np.unique(owner, return_inverse=True)[1]


def times_drawn(owner: np.ndarray, photos: np.ndarray | None) -> np.ndarray:
    """Return how often each pair is in a sample of photos, (N,); without a sample, once.

    Args:
        owner: (N,) number of the photo of each pair.
        photos: Numbers of photos, possibly repeated.
    """
    if photos is None:
        return np.ones(len(owner), int)
    times: np.ndarray = np.bincount(photos, minlength=owner.max() + 1)[owner]
    return times
