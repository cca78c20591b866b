"""Scores of concepts only: the baselines of Vendrov 2016, section 3.4.

Each is minus a penalty E >= 0 that is small where the general concept lies above the specific one,
as Eq. 4 requires.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.scores import Cosine, Score


class CosineDistance(Cosine):
    """Minus half the difference between 1 and the cosine.

    score(x, y) = -(1 - cos(x, y)) / 2

    With `as_released`, score(x, y) = -(1 + cos(x, y)) / 2: the paper's baseline as released. It
    mistakes the similarity for a distance, and so pushes a concept away from those above it.
    """

    unit = "nearness"
    meaning = "Minus half the difference between 1 and the cosine; 0 is the same direction."
    normalized = False

    def __init__(self, *, as_released: bool = False) -> None:
        self.sign = -1 if as_released else 1

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        return (self.sign * super().__call__(general, specific) - 1) / 2

    def _compiled(
        self, kernels: ModuleType, query: Tensor, stored: Tensor, *, symmetric: bool
    ) -> Tensor:
        cosines = super()._compiled(kernels, query, stored, symmetric=symmetric)
        return (self.sign * cosines - 1) / 2

    def best_beyond(self, query: Tensor, similarity: float) -> float:
        """Return the score for the cosine, or the highest of all if the cosine is subtracted."""
        return (similarity - 1) / 2 if self.sign > 0 else 0.0

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        return (self.sign * super().pairs(general, specific) - 1) / 2

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores to 0..1: 1 - E."""
        return (1 + scores).clamp(0, 1)


class Bilinear(nn.Module, Score):
    """The logarithm of a bilinear form's sigmoid, with a learned matrix M (Socher 2013, NTN).

    score(x, y) = log sigmoid(x' M y)

    The sigmoid bounds the score; without it the loss could fall without limit, as Eq. 4 has no
    hinge for positives.
    """

    unit = "log likelihood"
    meaning = "How likely the first is to lie above the second, as a logarithm."
    normalized = False

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.matrix = nn.Embedding(dim, dim, sparse=True)  # sparse, as the optimizer expects
        nn.init.eye_(self.matrix.weight)

    def _mapped(self, general: Embeddings) -> Tensor:
        """Return x' M, (G, D)."""
        rows = torch.arange(self.matrix.num_embeddings, device=general.x.device)
        matrix: Tensor = self.matrix(rows)
        return general.x @ matrix

    def __call__(self, general: Embeddings, specific: Embeddings) -> Any:
        """Return all scores, (G, S)."""
        return F.logsigmoid(self._mapped(general) @ specific.x.T)

    forward = __call__  # or nn.Module would define its own

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        return F.logsigmoid((self._mapped(general) * specific.x).sum(-1))

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores to 0..1: the likelihood."""
        return scores.exp()


class Gaussians(Score):
    """Minus the divergence of Gaussians with diagonal covariance (Vilnis & McCallum 2015).

    score(x, y) = -KL(y || x)
    KL(y || x) = 1/2 sum_d log(v_x / v_y) + (v_y + (m_y - m_x)^2) / v_x - 1

    A concept is a mean m and the logarithms of D variances v, (N, 2 D); general ones are wide.
    """

    unit = "divergence"
    meaning = "Minus the Kullback-Leibler divergence; 0 is the same Gaussian."
    normalized = False
    max_log_variance = 3.0  # in either direction

    def _mean_and_log_variance(self, embeddings: Embeddings) -> tuple[Tensor, Tensor]:
        """Return two tensors (N, D)."""
        mean, log_variance = embeddings.x.chunk(2, -1)
        return mean, log_variance.clamp(-self.max_log_variance, self.max_log_variance)

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        m_x, s_x = self._mean_and_log_variance(general)
        m_y, s_y = self._mean_and_log_variance(specific)
        precision = (-s_x).exp()  # 1 / v_x
        cross = precision @ (s_y.exp() + m_y.square()).T - 2 * (m_x * precision) @ m_y.T  # (G, S)
        of_general = (s_x + m_x.square() * precision).sum(-1)[:, None]  # (G, 1)
        of_specific = s_y.sum(-1)  # (S,)
        return -(cross + (of_general - of_specific - m_x.shape[-1])) / 2

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        m_x, s_x = self._mean_and_log_variance(general)
        m_y, s_y = self._mean_and_log_variance(specific)
        square = (s_y.exp() + (m_y - m_x).square()) * (-s_x).exp()
        return -(s_x - s_y + square - 1).sum(-1) / 2

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores to 0..1: 1 / (1 + divergence)."""
        return 1 / (1 - scores.clamp(max=0))
