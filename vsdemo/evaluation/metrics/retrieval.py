"""Ranks of captions for photos and of photos for captions.

All captions of all photos of the split take part. `i2t` gives a photo and ranks the captions; the
rank is that of its best caption. `t2i` gives a caption and ranks the photos. Which caption belongs
to which photo is read from the correspondence list, never from its position.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.evaluation.metrics.ranks import RECALLS, best_ranks, summary
from vsdemo.models.dual_encoder import DualEncoder

CAPTIONS = 8192  # that are embedded and scored at a time
SETS = 1024  # the same for captions that are sets of fragments, which are large
DIRECTIONS = ("i2t", "t2i")


@dataclass(frozen=True)
class Ranks:
    """Ranks in both directions.

    Args:
        i2t: (P,) a rank for each photo with captions.
        t2i: (C,) a rank for each caption.
        photo_of: (C,) the row of i2t that a caption belongs to.
    """

    i2t: np.ndarray
    t2i: np.ndarray
    photo_of: np.ndarray

    def __len__(self) -> int:
        return len(self.i2t)

    @cached_property
    def _captions_of(self) -> list[np.ndarray]:
        """The numbers of the captions of each photo."""
        order = np.argsort(self.photo_of, kind="stable")
        cuts = np.searchsorted(self.photo_of[order], np.arange(1, len(self.i2t)))
        return np.split(order, cuts)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """Return i2t and t2i as `ranks.summary`, and rsum, the sum of R@1, R@5 and R@10 of both.

        Args:
            photos: (N,) numbers of photos, possibly repeated; all photos by default.
        """
        i2t, t2i = self.i2t, self.t2i
        if photos is not None:
            captions = np.concatenate([self._captions_of[photo] for photo in photos])
            i2t, t2i = i2t[photos], t2i[captions]
        result: dict[str, Any] = {"i2t": summary(i2t), "t2i": summary(t2i)}
        result["rsum"] = sum(
            result[direction][f"r{k}"] for direction in DIRECTIONS for k in RECALLS
        )
        return result


def ranks(model: DualEncoder, captions: Embeddings, photos: Embeddings, owner: Tensor) -> Ranks:
    """Return the ranks of C captions and P photos.

    Args:
        model: The model whose score is used.
        captions: (C, D), or sets (C, M, D).
        photos: (P, D), or sets (P, K, D).
        owner: (C,) number of each caption's photo.
    """
    device = model.device
    return _ranks(model.score(captions.to(device), photos.to(device)).cpu(), owner)


def _ranks(scores: Tensor, owner: Tensor) -> Ranks:
    """Return the ranks by the scores of C captions and P photos, (C, P)."""
    relevant = torch.zeros(scores.shape, dtype=torch.bool)
    relevant[torch.arange(len(owner)), owner] = True
    has_captions = relevant.any(0)  # (P,)
    row = has_captions.cumsum(0) - 1
    t2i = best_ranks(scores, relevant)
    if not has_captions.all():
        scores, relevant = scores[:, has_captions], relevant[:, has_captions]
    return Ranks(
        i2t=best_ranks(scores.T, relevant.T).numpy(),
        t2i=t2i.numpy(),
        photo_of=row[owner].numpy(),
    )


def encode(
    model: DualEncoder, split: CaptionSet, features: Tensor
) -> tuple[Embeddings, Embeddings, Tensor]:
    """Return the embeddings of a split's captions and photos, and each caption's photo, (C,).

    Args:
        model: The model.
        split: The split.
        features: (P, F) of its photos, or of their regions (P, K, F).

    Raises:
        UserError: The split has no captions.
    """
    _check(split)
    captions = model.encode_text([Sentence(caption) for caption in split.captions])
    return captions, model.encode_image(features), torch.tensor(split.photo_of)


def _check(split: CaptionSet) -> None:
    if not split.captions:
        raise UserError(f"{split.name} has no captions, so there is nothing to measure.")


def measure(model: DualEncoder, split: CaptionSet, features: Tensor) -> Ranks:
    """Return the ranks of all captions and photos of a split, with the arguments of `encode`.

    Large numbers of captions are embedded block by block.
    """
    _check(split)
    return _ranks(_scores(model, split, features), torch.tensor(split.photo_of))


def _scores(model: DualEncoder, split: CaptionSet, features: Tensor) -> Tensor:
    """Return the scores of all captions and photos, (C, P), and keep no embedding."""
    photos = model.encode_image(features).to(model.device)
    scores = torch.empty(len(split.captions), len(photos))
    size = SETS if model.score.can_align else CAPTIONS
    for start in range(0, len(scores), size):
        rows = slice(start, start + size)
        captions = model.encode_text([Sentence(caption) for caption in split.captions[rows]])
        scores[rows] = model.score(captions.to(model.device), photos).cpu()
    return scores
