"""Objectives of relations: parts that are not tested with the losses."""

import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.objectives import APART, WORST, separation
from vsdemo.models.scores import ORDER


def test_separation_equals_plain_loops():
    draw = torch.Generator().manual_seed(0)
    x, y = (torch.rand(n, 5, generator=draw, dtype=torch.float64) for n in (3, 12))
    labels = torch.randint(-1, 2, (3, 12), generator=draw)
    labels[2] = 1  # nothing false
    violations = ORDER.violation(Embeddings(x), Embeddings(y))
    hinges = []
    for i in range(3):
        false = [j for j in range(12) if labels[i, j] == 0]
        for j in sorted(false, key=lambda j: violations[i, j].item())[:WORST]:
            hinges.append(max(0.0, APART - max((x[i] - y[j]).tolist())))
    result = separation(ORDER, Embeddings(x), Embeddings(y), violations, labels)
    assert result.item() == pytest.approx(sum(hinges) / len(hinges))


def test_separation_has_a_gradient_where_the_violation_has_none():
    x = torch.zeros(1, 4, requires_grad=True)
    general, specific = Embeddings(x), Embeddings(torch.full((1, 4), 0.5))
    violation = ORDER.violation(general, specific)
    violation.sum().backward(retain_graph=True)
    assert not x.grad.any()
    separation(ORDER, general, specific, violation, torch.zeros(1, 1)).backward()
    assert x.grad.any()


def test_nothing_false_is_nothing_to_separate():
    x = Embeddings(torch.rand(2, 4, requires_grad=True))
    loss = separation(ORDER, x, x, ORDER.violation(x, x), torch.ones(2, 2))
    loss.backward()
    assert loss.item() == 0
