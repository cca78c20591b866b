"""Kernel CCA agrees with its textbook forms."""

import numpy as np
import pytest
import torch
from sklearn.cross_decomposition import CCA

from vsdemo.core.errors import UserError
from vsdemo.encoders import kernel
from vsdemo.encoders.kernel import KernelMap, fit_cca


@pytest.fixture
def pairs():
    """(40, 5) and (40, 7) that share two directions."""
    shared = torch.randn(40, 2)
    x = torch.cat([shared, torch.randn(40, 3)], 1) @ torch.randn(5, 5)
    y = torch.cat([torch.randn(40, 5), shared + 0.3 * torch.randn(40, 2)], 1) @ torch.randn(7, 7)
    return x, y


def centred(x: torch.Tensor) -> torch.Tensor:
    return x.double() - x.double().mean(0)


def correlation(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The correlation of each column of `a` with that of `b`."""
    a, b = (v / v.norm(dim=0) for v in (centred(a), centred(b)))
    return (a * b).sum(0)


def test_linear_kernel_without_ridge_is_cca(pairs):
    maps = KernelMap(5, 3), KernelMap(7, 3)
    correlations = fit_cca(*maps, *pairs, ridge=1e-9, power=0)
    cosines = torch.linalg.qr(centred(pairs[0]))[0].T @ torch.linalg.qr(centred(pairs[1]))[0]
    torch.testing.assert_close(
        correlations, torch.linalg.svdvals(cosines)[:3], rtol=1e-5, atol=1e-6
    )
    a, b = (one(x) for one, x in zip(maps, pairs, strict=True))
    torch.testing.assert_close(correlation(a, b), correlations, rtol=1e-3, atol=1e-3)
    for out in (a, b):  # coordinates have mean 0 and variance 1 and are uncorrelated
        torch.testing.assert_close(out.mean(0), torch.zeros(3), atol=1e-4, rtol=0)
        torch.testing.assert_close(out.T @ out / 40, torch.eye(3), atol=1e-3, rtol=0)


def test_cca_agrees_with_scikit_learn(pairs):
    correlations = fit_cca(KernelMap(5, 2), KernelMap(7, 2), *pairs, ridge=1e-9, power=0)
    theirs = CCA(2, max_iter=5000, tol=1e-9).fit_transform(*(x.numpy() for x in pairs))
    expected = correlation(*(torch.from_numpy(np.asarray(v)) for v in theirs))
    torch.testing.assert_close(correlations, expected, rtol=1e-3, atol=1e-3)


def test_all_items_as_landmarks_give_the_exact_method(pairs, monkeypatch):
    monkeypatch.setattr(kernel, "RIDGE", 1e-10)
    maps = KernelMap(5, 4, landmarks=40).double(), KernelMap(7, 4, landmarks=40).double()
    x, y = (v.double() for v in pairs)
    correlations = fit_cca(*maps, x, y, ridge=0.1, power=0)
    smooth, centre = [], torch.eye(40, dtype=torch.float64) - 1 / 40
    for one, v in zip(maps, (x, y), strict=True):
        gram = centre @ torch.exp(-one.gamma * torch.cdist(v, v).square()) @ centre
        ridge = 0.1 * gram.trace() / 40
        smooth.append(gram @ torch.linalg.inv(gram + ridge * torch.eye(40)))
    squares = torch.linalg.eigvals(smooth[0] @ smooth[1]).real.sort(descending=True).values
    torch.testing.assert_close(correlations, squares[:4].sqrt(), rtol=1e-4, atol=1e-5)


def test_coordinates_are_scaled_by_their_correlation(pairs):
    plain, scaled = KernelMap(5, 3), KernelMap(5, 3)
    correlations = fit_cca(plain, KernelMap(7, 3), *pairs, ridge=0.01, power=0)
    fit_cca(scaled, KernelMap(7, 3), *pairs, ridge=0.01, power=2)
    torch.testing.assert_close(
        scaled(pairs[0]), plain(pairs[0]) * correlations.float() ** 2, rtol=1e-4, atol=1e-5
    )


def test_gradient_steps_leave_the_kernel_alone():
    one = KernelMap(5, 2, landmarks=6)
    one(torch.randn(3, 5)).sum().backward()
    assert one.weight.grad is not None
    assert one.gamma.grad is None
    assert one.landmarks.grad is None


def test_coordinates_without_a_direction_are_0(pairs):
    one = KernelMap(5, 8)
    correlations = fit_cca(one, KernelMap(7, 8), *pairs, ridge=0.01, power=1)
    assert correlations.shape == (5,)
    assert (one(pairs[0])[:, 5:] == 0).all()
    assert (one(pairs[0])[:, :5].abs().sum(0) > 0).all()


def test_chunk_size_does_not_matter(pairs, monkeypatch):
    whole, cut = KernelMap(5, 3), KernelMap(5, 3)
    fit_cca(whole, KernelMap(7, 3), *pairs, ridge=0.01, power=1)
    monkeypatch.setattr(kernel, "CHUNK", 7)
    fit_cca(cut, KernelMap(7, 3), *pairs, ridge=0.01, power=1)
    torch.testing.assert_close(cut.weight.abs(), whole.weight.abs(), rtol=1e-4, atol=1e-5)


def test_landmarks_are_distinct_items(pairs):
    x = torch.cat([pairs[0][:6]] * 5)
    one = KernelMap(5, 2, landmarks=6)
    one.draw_landmarks(x)
    assert one.landmarks.unique(dim=0).shape == (6, 5)
    assert one.gamma == 1 / torch.pdist(one.landmarks).square().median()
    with pytest.raises(UserError, match=r"7 landmarks need as many different items, .* are 6"):
        KernelMap(5, 2, landmarks=7).draw_landmarks(x)
