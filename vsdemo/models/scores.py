"""Scores: how well the general (a caption) fits the specific (a photo); higher is better.

One sign and one orientation everywhere, from the loss to the screen: `score(general, specific)`
is (G, S). Each score says how its value reads on a scale from 0 to 1 (`fit`), for bars.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from vsdemo.core.embeddings import Embeddings

CHUNK = (1 << 26, 1 << 20)  # numbers a block, on a GPU and on a CPU, whose cache holds 4 MB


class Score:
    """A similarity of embeddings (G, D) and (S, D)."""

    unit: str
    meaning: str
    unbound = False  # whether the points of its models have lengths other than 1
    is_order = False  # whether it is a partial order, so that `excess` is defined
    can_align = False  # whether embeddings are sets of parts, so that `align` is defined

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """All scores, (G, S)."""
        raise NotImplementedError

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Row i of one against row i of the other, (N,): the diagonal of the whole."""
        raise NotImplementedError

    def fit(self, scores: Tensor) -> Tensor:
        """Scores mapped to [0, 1] for unit-length embeddings, keeping their order."""
        return scores.clamp(0, 1)

    def neighbours(self, a: Embeddings, b: Embeddings) -> Tensor:
        """Items of one kind against each other, (A, B): the mean of both directions."""
        return (self(a, b) + self(b, a).T) / 2


class Inner(Score):
    """score(x, y) = x . y"""

    unit = "inner product"
    meaning = "Inner product of the sentence's and the photo's vectors."
    unbound = True

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        return general.x @ specific.x.T

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        return (general.x * specific.x).sum(-1)

    def fit(self, scores: Tensor) -> Tensor:
        return scores.sigmoid()  # the inner product has no bounds


class Cosine(Score):
    """score(x, y) = x . y / (|x| |y|)"""

    unit = "cosine"
    meaning = "Cosine of the angle between the two vectors; 1 is the same direction."

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        return F.normalize(general.x, dim=-1) @ F.normalize(specific.x, dim=-1).T

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        return F.cosine_similarity(general.x, specific.x, dim=-1)


class Euclidean(Score):
    """score(x, y) = -|x - y|^2, which ranks as the distance does (Socher 2014, section 6.4)"""

    unit = "closeness"
    meaning = "Minus the squared distance of the sentence's and the photo's points; 0 is the same."
    unbound = True

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        lengths = general.x.square().sum(-1)[:, None] + specific.x.square().sum(-1)
        return (2 * general.x @ specific.x.T - lengths).clamp(max=0)

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        return -(general.x - specific.x).square().sum(-1)

    def fit(self, scores: Tensor) -> Tensor:
        return 1 / (1 - scores.clamp(max=0))


def _blocks(lower: Tensor, upper: Tensor) -> Iterator[tuple[slice, slice]]:
    """Cuts (I, J) so that a block of (i, j, D) numbers stays small."""
    room = CHUNK[lower.device.type == "cpu"]
    columns = max(1, min(len(upper), room // upper.shape[1]))
    rows = max(1, room // (columns * upper.shape[1]))
    for i in range(0, len(lower), rows):
        for j in range(0, len(upper), columns):
            yield slice(i, i + rows), slice(j, j + columns)


class _OrderViolation(torch.autograd.Function):
    """E[i, j] = sum_d max(0, lower_id - upper_jd)^2, block by block in both directions.

    Autograd alone would keep (I, J, D) numbers for the backward pass: 20 GB for Flickr8k's test.
    """

    @staticmethod
    def forward(ctx: Any, lower: Tensor, upper: Tensor) -> Tensor:
        ctx.save_for_backward(lower, upper)
        out = lower.new_empty(len(lower), len(upper))
        for i, j in _blocks(lower, upper):
            excess = (lower[i, None] - upper[j]).clamp_(min=0)  # (i, j, D)
            out[i, j] = torch.linalg.vecdot(excess, excess)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        lower, upper = ctx.saved_tensors
        to_lower, to_upper = torch.zeros_like(lower), torch.zeros_like(upper)
        for i, j in _blocks(lower, upper):
            slope = (lower[i, None] - upper[j]).clamp_(min=0).mul_(2 * grad[i, j, None])
            to_lower[i] += slope.sum(1)
            to_upper[j] -= slope.sum(0)
        return to_lower, to_upper


class OrderViolation(Score):
    """score(x, y) = -E(y, x) = -|max(0, x - y)|^2 (Vendrov 2016, Eq. 2 and section 4).

    The general x lies above the specific y when no coordinate of x exceeds that of y.
    `reversed` places photos above captions: score(x, y) = -|max(0, y - x)|^2.
    """

    unit = "order fit"
    meaning = (
        "1 minus the order violation: how fully the photo's vector covers the sentence's. "
        "1 means that the sentence lies above the photo in the hierarchy."
    )
    is_order = True

    def __init__(self, reversed: bool = False) -> None:
        self.reversed = reversed

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        if self.reversed:
            return -_OrderViolation.apply(specific.x, general.x).T
        return -_OrderViolation.apply(general.x, specific.x)

    def excess(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """(N, D) of row i and row i: the order is violated in the dimensions that are above 0."""
        return specific.x - general.x if self.reversed else general.x - specific.x

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        return -self.excess(general, specific).clamp(min=0).square().sum(-1)

    def fit(self, scores: Tensor) -> Tensor:
        return (1 + scores).clamp(0, 1)  # a unit vector's violation is at most 1


class FragmentAlignment(Score):
    """How well the fragments of a sentence are found among the regions of a photo (Karpathy 2014).

        S_kl = 1 / (|g_k| (|g_l| + n)) sum_i sum_j max(0, v_i . s_j)      Eq. 6

    over the regions i of photo k and the fragments j of sentence l; n is `smoothing`. best: over
    each fragment's best region only, without |g_k|. Sentences (G, M, D) and photos (S, K, D) with
    their masks; a fragment or region that does not exist is a vector of zeros.
    """

    unit = "alignment"
    meaning = (
        "How well the parts of the sentence are found among the regions of the photo, on average; "
        "1 is never reached."
    )
    can_align = True

    def __init__(self, smoothing: float = 5.0, best: bool = False) -> None:
        self.smoothing, self.best = smoothing, best

    def align(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """All scores of fragments and regions, (G, S, M, K): what the loss trains on."""
        return torch.einsum("gmd,skd->gsmk", general.x, specific.x)

    def align_pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Sentence i with photo i, (N, M, K)."""
        return general.x @ specific.x.transpose(1, 2)

    def rows(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """`align` of the R fragments that exist, sentence by sentence: (R, S, K)."""
        flat = general.x[general.mask] @ specific.x.flatten(0, 1).T
        return flat.unflatten(1, specific.x.shape[:2])

    def shares(self, scores: Tensor, specific: Embeddings) -> Tensor:
        """What fragments add to the sum of Eq. 6: scores (..., S, K) -> (..., S)."""
        seen = scores.clamp(min=0)
        return seen.amax(-1) if self.best else seen.sum(-1) / specific.mask.sum(-1).clamp(min=1)

    def total(self, rows: Tensor, general: Embeddings, specific: Embeddings) -> Tensor:
        """The scores of sentences and photos, (G, S), from `rows`."""
        mask = general.mask
        owner = mask.nonzero()[:, 0]  # (R,)
        sums = rows.new_zeros(len(mask), len(specific))
        sums = sums.index_add(0, owner, self.shares(rows, specific))
        return sums / (mask.sum(1, keepdim=True) + self.smoothing)

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        room = CHUNK[general.x.device.type == "cpu"] * 8  # a block is written once, not squared
        wide = max(1, general.x.shape[1] * specific.x.shape[1])
        columns = max(1, min(len(specific), room // wide))
        step = max(1, room // (wide * columns))
        parts = [specific[j : j + columns] for j in range(0, len(specific), columns)]
        found = general.x.new_zeros(len(general), len(specific))
        for i in range(0, len(general), step):
            some = general[i : i + step]
            row = [self.total(self.rows(some, part), some, part) for part in parts]
            found[i : i + step] = torch.cat(row, 1) if row else 0
        return found

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        sums = self.shares(self.align_pairs(general, specific).transpose(0, 1), specific).sum(0)
        return sums / (general.mask.sum(1) + self.smoothing)

    def fit(self, scores: Tensor) -> Tensor:
        return scores / (1 + scores)


SCORES: dict[str, Score] = {
    "inner": Inner(),
    "cosine": Cosine(),
    "euclidean": Euclidean(),
    "order": OrderViolation(),
    "order_reversed": OrderViolation(reversed=True),
}


@cache
def fragment_alignment(smoothing: float, best: bool) -> FragmentAlignment:
    """The score with these settings, the same object each time."""
    return FragmentAlignment(smoothing, best)
