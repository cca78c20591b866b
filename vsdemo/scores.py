"""Scores: how well the general (a caption) fits the specific (a photo); higher is better.

One sign and one orientation everywhere, from the loss to the screen: `score(general, specific)`
is (G, S). Each score says how its value reads on a scale from 0 to 1 (`fit`), for bars.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from vsdemo.types import Embeddings

CHUNK = (1 << 26, 1 << 20)  # numbers a block, on a GPU and on a CPU, whose cache holds 4 MB


class Score:
    """A similarity of embeddings (G, D) and (S, D)."""

    unit: str
    meaning: str
    symmetric = True  # whether score(x, y) = score(y, x) for any two points

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
    symmetric = False

    def __init__(self, reversed: bool = False) -> None:
        self.reversed = reversed

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        if self.reversed:
            return -_OrderViolation.apply(specific.x, general.x).T
        return -_OrderViolation.apply(general.x, specific.x)

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        excess = specific.x - general.x if self.reversed else general.x - specific.x
        return -excess.clamp(min=0).square().sum(-1)

    def fit(self, scores: Tensor) -> Tensor:
        return (1 + scores).clamp(0, 1)  # a unit vector's violation is at most 1


SCORES: dict[str, Score] = {
    "inner": Inner(),
    "cosine": Cosine(),
    "euclidean": Euclidean(),
    "order": OrderViolation(),
    "order_reversed": OrderViolation(reversed=True),
}
