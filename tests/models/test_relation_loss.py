"""The loss of relations equals plain loops."""

import math

import pytest
import torch

from vsdemo.models.relation_loss import RAREST, SHARPNESS, RelationLoss

LOSS = RelationLoss(margin=0.5, negatives=2, boundary=0.3, true_weight=4.0)


@pytest.fixture
def labels():
    return torch.tensor([[1, 0, 0, -1], [1, 1, 0, 0], [0, -1, 1, 0], [0, 0, 0, 1]])


@pytest.fixture
def violations():
    return torch.rand(4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_texts_by_plain_loops(violations, labels):
    true = [violations[i, j] for i in range(4) for j in range(4) if labels[i, j] == 1]
    hinges = [
        [max(0.0, 0.5 - violations[i, j].item()) * (labels[i, j].item() == 0) for j in range(4)]
        for i in range(4)
    ]
    rows = [sorted(row, reverse=True)[:2] for row in hinges]
    columns = [sorted(column, reverse=True)[:2] for column in zip(*hinges, strict=True)]
    expected = sum(true) / len(true) + sum(map(sum, rows)) / 8 + sum(map(sum, columns)) / 8
    assert LOSS.among_texts(violations, labels).item() == pytest.approx(expected.item())


def test_photos_by_plain_loops(violations, labels):
    total, count = 0.0, 0
    for i in range(4):
        for j in range(3):
            p = 1 / (1 + math.exp(SHARPNESS * (violations[i, j].item() - 0.3)))
            if labels[i, j] == 1:
                total -= 4 * math.log(p)
            elif labels[i, j] == 0:
                total -= math.log(1 - p)
            count += labels[i, j].item() >= 0
    loss = LOSS.above_photos(violations[:, :3], labels[:, :3])
    assert loss.item() == pytest.approx(total / count)


def test_photos_with_shares_by_plain_loops(violations, labels):
    shares = torch.tensor([0.01, 0.9, 0.0, 0.25])

    def logit(p: float) -> float:
        p = min(max(p, RAREST), 1 - RAREST)
        return math.log(p / (1 - p))

    total, count = 0.0, 0
    for i in range(4):
        known = [label for label in labels[i, :3].tolist() if label >= 0]
        more = max(0.0, logit(sum(known) / len(known)) - logit(shares[i].item()))
        for j in range(3):
            p = 1 / (1 + math.exp(SHARPNESS * (violations[i, j].item() - 0.3) - more))
            if labels[i, j] == 1:
                total -= 4 * math.log(p)
            elif labels[i, j] == 0:
                total -= math.log(1 - p)
            count += labels[i, j].item() >= 0
    loss = LOSS.above_photos(violations[:, :3], labels[:, :3], shares)
    assert loss.item() == pytest.approx(total / count, rel=1e-5)


def test_unknown_pairs_have_no_gradient(violations, labels):
    violations.requires_grad_()
    (LOSS.among_texts(violations, labels) + LOSS.above_photos(violations, labels)).backward()
    assert not violations.grad[labels < 0].any()
    assert violations.grad[labels == 1].all()


@pytest.mark.parametrize("part", ["among_texts", "above_photos"])
def test_gradients(violations, labels, part):
    loss = getattr(LOSS, part)
    assert torch.autograd.gradcheck(lambda x: loss(x, labels), violations.requires_grad_())


def test_fewer_texts_than_negatives(violations, labels):
    few = RelationLoss(margin=0.5, negatives=99)
    assert few.among_texts(violations, labels).isfinite()
