"""Kernel canonical correlation analysis: the linear kernel, or landmarks for the RBF kernel."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from vsdemo.core.errors import UserError

CHUNK = 4096  # rows of features in float64 at a time
RIDGE = 1e-3  # on the landmarks' kernel matrix, so that near-equal landmarks do no harm


class KernelMap(nn.Module):
    """(N, I) -> (N, D): k(x) W - m, where k(x) is x, or exp(-gamma |x - l|^2) for each landmark l.

    The landmarks are a sample of the training items (Williams & Seeger 2001, Nystroem); with all
    of them the map is that of the exact kernel method. landmarks: their number, 0 for k(x) = x.
    Untrained it is a random linear map; `KernelMap.see` and `correlate` fit it.
    """

    def __init__(self, size: int, dim: int, landmarks: int = 0) -> None:
        super().__init__()
        self.landmarks = nn.Parameter(torch.randn(landmarks, size), requires_grad=False)
        self.gamma = nn.Parameter(torch.tensor(1 / size), requires_grad=False)
        self.weight = nn.Parameter(torch.randn(landmarks or size, dim) / (landmarks or size) ** 0.5)
        self.mean = nn.Parameter(torch.zeros(dim))

    def kernel(self, x: Tensor) -> Tensor:
        """k(x), (N, landmarks) or (N, I)."""
        if not len(self.landmarks):
            return x
        return torch.exp(-self.gamma * torch.cdist(x, self.landmarks).square())

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast(x.device.type, enabled=False):
            return self.kernel(x.float()) @ self.weight - self.mean

    @torch.no_grad()
    def see(self, x: Tensor) -> None:
        """Draws the landmarks from items x (N, I); 1 / gamma is their median squared distance.

        Raises UserError when there are fewer different items than landmarks.
        """
        count = len(self.landmarks)
        if not count:
            return
        different = x.unique(dim=0)
        if len(different) < count:
            raise UserError(
                f"{count:,} landmarks need as many different items, but there are "
                f"{len(different):,}; set fewer landmarks."
            )
        chosen = torch.randperm(len(different))[:count].to(x.device)
        self.landmarks.copy_(different[chosen])
        self.gamma.copy_(1 / torch.pdist(self.landmarks).square().median())


@torch.no_grad()
def correlate(
    first: KernelMap, second: KernelMap, x: Tensor, y: Tensor, ridge: float, power: float
) -> Tensor:
    """Fits two maps to pairs x (N, I), y (N, J); returns the canonical correlations.

    Hardoon, Szedmak & Shawe-Taylor 2004: the directions a, b of greatest
    a C_xy b / sqrt(a (C_xx + r I) a  b (C_yy + s I) b), C being covariances of the kernel's
    features and r, s `ridge` times their mean variance. Each coordinate is scaled by its
    correlation to `power` (Gong et al. 2014); where there are fewer than D directions, the last
    coordinates are 0. Raises UserError as `KernelMap.see` does.
    """
    maps, dim = (first, second), first.weight.shape[1]
    for one, items in zip(maps, (x, y), strict=True):
        one.see(items)
    roots = [_features(one) for one in maps]
    size = len(roots[0])
    total, mean = _moments(first, second, x, y, roots)
    covariance = total / len(x) - mean[:, None] * mean
    whiten = [
        _inverse_root(covariance[part, part], ridge) for part in (slice(0, size), slice(size, None))
    ]
    u, s, v = torch.linalg.svd(whiten[0] @ covariance[:size, size:] @ whiten[1], False)
    scale = s[:dim] ** power
    sides = (maps, roots, whiten, (u, v.T), (mean[:size], mean[size:]))
    for one, root, white, directions, centre in zip(*sides, strict=True):
        weight = torch.nn.functional.pad(white @ directions[:, :dim] * scale, (0, dim - len(scale)))
        one.weight.copy_(root @ weight)
        one.mean.copy_(centre @ weight)
    return s[:dim]


def _features(one: KernelMap) -> Tensor:
    """R such that inner products of k(x) R are the kernel's values (Nystroem)."""
    if not len(one.landmarks):
        return torch.eye(len(one.weight), dtype=torch.float64, device=one.weight.device)
    return _inverse_root(one.kernel(one.landmarks).double(), RIDGE)


def _moments(
    first: KernelMap, second: KernelMap, x: Tensor, y: Tensor, roots: list[Tensor]
) -> tuple[Tensor, Tensor]:
    """Sum of outer products and mean of the features of both sides, one beside the other."""
    size = sum(map(len, roots))
    outer, total = x.new_zeros(size, size, dtype=torch.float64), 0
    for a, b in zip(x.split(CHUNK), y.split(CHUNK), strict=True):
        parts = (first.kernel(a).double() @ roots[0], second.kernel(b).double() @ roots[1])
        both = torch.cat(parts, 1)
        outer += both.T @ both
        total = total + both.sum(0)
    return outer, total / len(x)


def _inverse_root(matrix: Tensor, ridge: float) -> Tensor:
    """(M + ridge * mean of its diagonal * I)^(-1/2) of a symmetric matrix."""
    ridged = matrix + ridge * matrix.diagonal().mean() * torch.eye(
        len(matrix), device=matrix.device
    )
    values, vectors = torch.linalg.eigh(ridged)
    return vectors * values.clamp(min=values[-1] * 1e-12).rsqrt() @ vectors.T
