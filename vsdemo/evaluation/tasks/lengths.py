"""The study of Vendrov 2016, section 4.6: do captions of very different detail hurt a model?

Among the pairs of captions of one photo, the 100 with the largest difference in length are taken.
`t2i`: mean rank of the photo over both captions of these pairs. `short_to_long`: with the shorter
caption as the query and all other captions ranked, the mean rank of the longer one.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data.text.vocab import tokenize
from vsdemo.evaluation.metrics.ranks import best_ranks, bootstrap
from vsdemo.evaluation.tasks.retrieval import encode
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "t2i"
PAIRS = 100


def longest_differences(split: CaptionSet) -> list[tuple[int, int]]:
    """(shorter, longer) caption numbers of the PAIRS pairs; ties go to the earlier pair."""
    length = [len(tokenize(c)) for c in split.captions]
    pairs = [
        tuple(sorted(pair, key=length.__getitem__))
        for captions in split.captions_of
        for pair in combinations(captions, 2)
    ]
    pairs.sort(key=lambda pair: length[pair[0]] - length[pair[1]])
    return [(a, b) for a, b in pairs[:PAIRS]]


def pair_ranks(model: DualEncoder, split: CaptionSet, features: Tensor) -> dict[str, np.ndarray]:
    """t2i: (PAIRS,) mean rank over a pair's two captions; short_to_long: (PAIRS,)."""
    captions, photos, owner = encode(model, split, features)
    pairs = longest_differences(split)
    if not pairs:
        raise UserError(f"{split.name} has no photo with two captions, so none to compare.")
    short, long = torch.tensor(pairs).T  # (PAIRS,) each
    both = torch.cat([short, long])
    on_photos = model.score(captions[both], photos)  # (2 PAIRS, P)
    own_photo = owner[both, None] == torch.arange(len(photos))
    on_captions = model.score(captions[short], captions)  # (PAIRS, C)
    numbers = torch.arange(len(captions))
    on_captions[torch.arange(len(short)), short] = -torch.inf  # a query never finds itself
    return {
        "t2i": best_ranks(on_photos, own_photo).view(2, -1).mean(0).numpy(),
        "short_to_long": best_ranks(on_captions, long[:, None] == numbers).numpy(),
    }


def summary(ranks: dict[str, np.ndarray]) -> dict[str, Any]:
    """Mean ranks, with 95% intervals over the pairs."""

    def means(pairs: np.ndarray | None = None) -> dict[str, float]:
        return {k: float((r if pairs is None else r[pairs]).mean()) for k, r in ranks.items()}

    pairs = len(ranks["t2i"])
    return {**means(), "n_pairs": pairs, "ci95": bootstrap(means, pairs)}


def evaluate(model: DualEncoder, split: CaptionSet, features: Tensor) -> dict[str, Any]:
    """The two mean ranks; lower is better."""
    return summary(pair_ranks(model, split, features))
