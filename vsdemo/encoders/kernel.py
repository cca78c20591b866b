"""Kernel canonical correlation analysis: the linear kernel, or landmarks for the RBF kernel."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.errors import UserError

CHUNK = 4096  # rows of features converted to float64 at a time
RIDGE = 1e-3  # added to the landmarks' kernel matrix, against nearly equal landmarks


class KernelMap(nn.Module):
    """A linear map of kernel features: (N, I) -> (N, D).

        y = k(x) W - m,  k(x) = x, or k(x)_l = exp(-gamma |x - x_l|^2) for each landmark x_l

    The landmarks are a sample of the training items (Nystroem; Williams & Seeger 2001); with all of
    the items the map is that of the exact kernel method. Until `fit_cca` it is random and linear.

    Args:
        size: Length I of an item.
        dim: Length D of the result.
        landmarks: Number of landmarks L; 0 for the linear kernel.
    """

    def __init__(self, size: int, dim: int, *, landmarks: int = 0) -> None:
        super().__init__()
        rows = landmarks or size
        self.landmarks = nn.Parameter(torch.randn(landmarks, size), requires_grad=False)
        self.gamma = nn.Parameter(torch.tensor(1 / size), requires_grad=False)
        self.weight = nn.Parameter(torch.randn(rows, dim) / rows**0.5)
        self.mean = nn.Parameter(torch.zeros(dim))

    def kernel(self, x: Tensor) -> Tensor:
        """Compute k(x): (N, L), or (N, I) for the linear kernel."""
        if not len(self.landmarks):
            return x
        return torch.exp(-self.gamma * torch.cdist(x, self.landmarks).square())

    def forward(self, x: Tensor) -> Tensor:
        """Map items (N, I): (N, D)."""
        with torch.autocast(x.device.type, enabled=False):
            return self.kernel(x.float()) @ self.weight - self.mean

    @torch.no_grad()
    def draw_landmarks(self, x: Tensor) -> None:
        """Draw the landmarks from items (N, I); 1 / gamma becomes their median squared distance.

        Raises:
            UserError: If there are fewer distinct items than landmarks.
        """
        count = len(self.landmarks)
        if not count:
            return
        distinct = torch.unique(x, dim=0)
        if len(distinct) < count:
            raise UserError(
                f"{count:,} landmarks need as many different items, but there are "
                f"{len(distinct):,}; set fewer landmarks."
            )
        rows = torch.randperm(len(distinct))[:count].to(x.device)
        self.landmarks.copy_(distinct[rows])
        self.gamma.copy_(1 / torch.pdist(self.landmarks).square().median())


@torch.no_grad()
def fit_cca(
    first: KernelMap, second: KernelMap, x: Tensor, y: Tensor, *, ridge: float, power: float
) -> Tensor:
    """Fit two maps to pairs of items (Hardoon, Szedmak & Shawe-Taylor 2004), in place.

        a, b = argmax a C_xy b / sqrt(a (C_xx + r I) a  b (C_yy + s I) b)

    over covariances C of the kernel features, r and s being `ridge` times their mean variance.
    Each coordinate is scaled by its correlation to the power `power` (Gong et al. 2014). If there
    are fewer than D directions, the last coordinates are 0.

    Args:
        first: Map of x.
        second: Map of y.
        x: Items (N, I).
        y: Their partners (N, J).
        ridge: Regularisation, relative to the mean variance.
        power: Exponent of the correlations; 0 for plain CCA.

    Returns:
        The canonical correlations, at most D, the highest first.

    Raises:
        UserError: If there are fewer distinct items than landmarks.
    """
    first.draw_landmarks(x)
    second.draw_landmarks(y)
    first_root, second_root = _feature_root(first), _feature_root(second)
    size = len(first_root)
    total, mean = _moments(first, second, x, y, first_root, second_root)
    covariance = total / len(x) - mean[:, None] * mean
    first_white = _inverse_root(covariance[:size, :size], ridge)
    second_white = _inverse_root(covariance[size:, size:], ridge)
    cross = first_white @ covariance[:size, size:] @ second_white
    u: Tensor
    correlations: Tensor
    v: Tensor
    u, correlations, v = torch.linalg.svd(cross, full_matrices=False)
    dim = first.weight.shape[1]
    scale = correlations[:dim] ** power
    _set(first, first_root, first_white @ u[:, :dim] * scale, mean[:size])
    _set(second, second_root, second_white @ v.T[:, :dim] * scale, mean[size:])
    return correlations[:dim]


def _set(one: KernelMap, root: Tensor, directions: Tensor, mean: Tensor) -> None:
    """Set the weights of a map; directions: (R, at most D), padded with zeros to D."""
    missing = one.weight.shape[1] - directions.shape[1]
    weight = F.pad(directions, (0, missing))
    one.weight.copy_(root @ weight)
    one.mean.copy_(mean @ weight)


def _feature_root(one: KernelMap) -> Tensor:
    """Return R such that inner products of rows of k(x) R are values of the kernel (Nystroem)."""
    if not len(one.landmarks):
        return torch.eye(len(one.weight), dtype=torch.float64, device=one.weight.device)
    return _inverse_root(one.kernel(one.landmarks).double(), RIDGE)


def _moments(
    first: KernelMap,
    second: KernelMap,
    x: Tensor,
    y: Tensor,
    first_root: Tensor,
    second_root: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return the sum of outer products and the mean of both sides' features, concatenated."""
    size = len(first_root) + len(second_root)
    outer = x.new_zeros(size, size, dtype=torch.float64)
    total = x.new_zeros(size, dtype=torch.float64)
    for a, b in zip(x.split(CHUNK), y.split(CHUNK), strict=True):
        left = first.kernel(a).double() @ first_root
        right = second.kernel(b).double() @ second_root
        both = torch.cat([left, right], 1)  # (chunk, size)
        outer += both.T @ both
        total += both.sum(0)
    return outer, total / len(x)


def _inverse_root(matrix: Tensor, ridge: float) -> Tensor:
    """Return (M + ridge * (mean of its diagonal) * I)^(-1/2) of a symmetric matrix M."""
    identity = torch.eye(len(matrix), device=matrix.device)
    ridged = matrix + ridge * matrix.diagonal().mean() * identity
    values, vectors = torch.linalg.eigh(ridged)
    root: Tensor = vectors * values.clamp(min=values[-1] * 1e-12).rsqrt() @ vectors.T
    return root
