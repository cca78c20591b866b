"""Scores that only concepts are compared by: the baselines of Vendrov 2016, section 3.4.

Each is minus a penalty E >= 0 that is small where the general lies above the specific, as Eq. 4
wants it.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.scores import Cosine


class CosineDistance(Cosine):
    """score(x, y) = -(1 - cos(x, y)) / 2

    as_released: score(x, y) = -(1 + cos(x, y)) / 2, the paper's baseline as its code has it, which
    takes the similarity for a distance and so pushes a concept away from what lies above it.
    """

    unit = "nearness"
    meaning = "Minus half of what the cosine lacks to 1; 0 is the same direction."
    unbound = True

    def __init__(self, as_released: bool = False) -> None:
        self.sign = -1 if as_released else 1

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        return (self.sign * super().__call__(general, specific) - 1) / 2

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        return (self.sign * super().pairs(general, specific) - 1) / 2

    def fit(self, scores: Tensor) -> Tensor:
        return (1 + scores).clamp(0, 1)


class Bilinear(nn.Module, Cosine):
    """score(x, y) = log sigmoid(x' M y), with a learnt matrix M (after Socher 2013, NTN)

    The sigmoid bounds what would else fall without end: Eq. 4 has no hinge for the right pairs.
    """

    unit = "log likelihood"
    meaning = "How likely the first is to lie above the second, as a logarithm."
    unbound = True

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.matrix = nn.Embedding(dim, dim, sparse=True)  # a table, as all that is learnt here
        nn.init.eye_(self.matrix.weight)

    def _mapped(self, general: Embeddings) -> Tensor:
        rows = torch.arange(self.matrix.num_embeddings, device=general.x.device)
        return general.x @ self.matrix(rows)

    def __call__(self, general: Embeddings, specific: Embeddings) -> Any:
        return F.logsigmoid(self._mapped(general) @ specific.x.T)

    forward = __call__  # nn.Module's own call would come first

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        return F.logsigmoid((self._mapped(general) * specific.x).sum(-1))

    def fit(self, scores: Tensor) -> Tensor:
        return scores.exp()


class Gaussians(Cosine):
    """score(x, y) = -KL(y || x) of two Gaussians with diagonal covariance (Vilnis & McCallum 2015)

    A concept is a mean and the logarithms of D variances, (N, 2 D); a general one is a wide one.

        KL(y || x) = 1/2 sum_d log(v_x / v_y) + (v_y + (m_y - m_x)^2) / v_x - 1
    """

    unit = "divergence"
    meaning = "Minus the Kullback-Leibler divergence; 0 is the same Gaussian."
    unbound = True
    widest = 3.0  # of the logarithms of variances, either way

    def _parts(self, found: Embeddings) -> tuple[Tensor, Tensor]:
        mean, spread = found.x.chunk(2, -1)
        return mean, spread.clamp(-self.widest, self.widest)

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        (m_x, s_x), (m_y, s_y) = self._parts(general), self._parts(specific)
        narrow = (-s_x).exp()
        square = narrow @ (s_y.exp() + m_y.square()).T - 2 * (m_x * narrow) @ m_y.T
        alone = (s_x + m_x.square() * narrow).sum(-1)[:, None] - s_y.sum(-1) - m_x.shape[-1]
        return -(square + alone) / 2

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        (m_x, s_x), (m_y, s_y) = self._parts(general), self._parts(specific)
        square = (s_y.exp() + (m_y - m_x).square()) * (-s_x).exp()
        return -(s_x - s_y + square - 1).sum(-1) / 2

    def fit(self, scores: Tensor) -> Tensor:
        return 1 / (1 - scores.clamp(max=0))
