"""Caption-image retrieval: Recall@K, median and mean rank in both directions.

Protocol: all captions of all photos of the split. `i2t` gives a photo and ranks the captions; a
hit is the best-ranked of its own. `t2i` gives a caption and ranks the photos. Which caption
belongs to which photo is read from the correspondence list, never from its position. An item
that ties counts as half an item before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.evaluation.metrics.ranks import RECALLS, best_ranks, summary, with_intervals
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "rsum"
FOLD = 1000  # photos a block of the 1k protocol (Vendrov 2016, section 4.5)


@dataclass(frozen=True)
class Ranks:
    """i2t: (P,) a rank for each photo with captions; t2i: (C,) for each caption;
    photo_of: (C,) the row of i2t that a caption belongs to."""

    i2t: np.ndarray
    t2i: np.ndarray
    photo_of: np.ndarray

    def __len__(self) -> int:
        return len(self.i2t)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """Both summaries and the sum of the six recalls, of all or of a resample of photos."""
        i2t, t2i = self.i2t, self.t2i
        if photos is not None:
            captions = [self._captions[p] for p in photos]
            i2t, t2i = i2t[photos], t2i[np.concatenate(captions)]
        result: dict[str, Any] = {"i2t": summary(i2t), "t2i": summary(t2i)}
        result["rsum"] = sum(result[way][f"r{k}"] for way in ("i2t", "t2i") for k in RECALLS)
        return result

    def __post_init__(self) -> None:
        order = np.argsort(self.photo_of, kind="stable")
        cuts = np.searchsorted(self.photo_of[order], np.arange(1, len(self.i2t)))
        object.__setattr__(self, "_captions", np.split(order, cuts))


def ranks(model: DualEncoder, captions: Embeddings, photos: Embeddings, owner: Tensor) -> Ranks:
    """Ranks of C captions and P photos; owner: (C,) photo number of each caption."""
    device = model.device
    scores = model.score(captions.to(device), photos.to(device)).cpu()  # (C, P)
    relevant = torch.zeros(scores.shape, dtype=torch.bool)
    relevant[torch.arange(len(owner)), owner] = True
    with_captions = relevant.any(0)
    row = with_captions.cumsum(0) - 1
    return Ranks(
        best_ranks(scores.T[with_captions], relevant.T[with_captions]).numpy(),
        best_ranks(scores, relevant).numpy(),
        row[owner].numpy(),
    )


def encode(
    model: DualEncoder, split: CaptionSet, features: Tensor
) -> tuple[Embeddings, Embeddings, Tensor]:
    """(captions, photos, owner) of a split, embedded. features: (P, F) of its photos."""
    if not split.captions:
        raise UserError(f"{split.name} has no captions, so there is nothing to measure.")
    captions = model.encode_text([Sentence(c) for c in split.captions])
    return captions, model.encode_image(features), torch.tensor(split.photo_of)


def evaluate(
    model: DualEncoder, split: CaptionSet, features: Tensor, folds: bool = False
) -> dict[str, Any]:
    """i2t and t2i as `ranks.summary`, rsum of r1, r5 and r10, n_images, n_captions, ci95.

    folds: metrics averaged over consecutive blocks of 1,000 photos, without intervals.
    """
    captions, photos, owner = encode(model, split, features)
    sizes = {"n_images": len(photos), "n_captions": len(captions)}
    if folds:
        if len(photos) < FOLD:
            raise UserError(f"{split.name} has {len(photos)} photos; a fold needs {FOLD:,}.")
        blocks = []
        for start in range(0, len(photos) - FOLD + 1, FOLD):
            inside = (owner >= start) & (owner < start + FOLD)
            block = ranks(
                model, captions[inside], photos[start : start + FOLD], owner[inside] - start
            )
            blocks.append(block.metrics())
        return {**mean(blocks), **sizes, "folds": len(blocks)}
    found = ranks(model, captions, photos, owner)
    return {**with_intervals(found), **sizes}


def mean(results: list[Any]) -> Any:
    """The mean of dicts of the same nested keys."""
    if isinstance(results[0], dict):
        return {k: mean([r[k] for r in results]) for k in results[0]}
    return sum(results) / len(results)
