"""MERU: its head, its score and order, and its objective by plain loops."""

import math

import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.models import lorentz
from vsdemo.models.desai2023 import (
    CONES,
    LORENTZ_DISTANCE,
    ContrastiveEntailment,
    LorentzHead,
    Positive,
    contrastive,
)
from vsdemo.models.objectives import Labels

OWNER = torch.tensor([0, 0, 1, 2])  # the photo of each caption


def points(rows: int, seed: int) -> torch.Tensor:
    return torch.randn(rows, 3, generator=torch.Generator().manual_seed(seed))


def test_the_head_has_its_equation():
    head = LorentzHead(4, Positive(2.0))
    f = points(5, seed=1)
    expected = math.sqrt(2) * lorentz.exp_map0(f / 2, 2.0)
    torch.testing.assert_close(head(f), expected)
    assert head(f.bfloat16()).dtype == torch.float32


def test_a_positive_number_stays_within_its_bounds_and_can_return():
    number = Positive(1.0, minimum=0.1, maximum=10.0)
    assert number().item() == 1
    with torch.no_grad():
        number.log.fill_(7.0)
    value = number()
    assert value.item() == pytest.approx(10)
    value.backward()
    assert number.log.grad != 0


def test_only_the_order_has_a_direction():
    general, specific = (
        Embeddings(lorentz.exp_map0(torch.tensor([[radius, 0.1, 0.0]]), 1.0)) for radius in (1, 2)
    )
    ahead, back = LORENTZ_DISTANCE(general, specific), LORENTZ_DISTANCE(specific, general)
    torch.testing.assert_close(ahead, back)
    assert LORENTZ_DISTANCE.order is LORENTZ_DISTANCE.directed is CONES
    assert CONES.violation(general, specific) == 0
    assert CONES.violation(specific, general) > 1


def test_the_contrast_equals_plain_loops():
    logits = points(4, seed=2)  # (C, P)
    for_captions = [
        -math.log(math.exp(row[own]) / sum(map(math.exp, row)))
        for row, own in zip(logits.tolist(), OWNER.tolist(), strict=True)
    ]
    for_photos = []
    for i, own in enumerate(OWNER.tolist()):
        rivals = [j for j in range(4) if j == i or OWNER[j] != own]
        total = sum(math.exp(logits[j, own]) for j in rivals)
        for_photos.append(-math.log(math.exp(logits[i, own]) / total))
    expected = (sum(for_captions) + sum(for_photos)) / 8
    assert float(contrastive(logits, OWNER)) == pytest.approx(expected)


def test_the_objective_adds_violations_of_what_is_strictly_true():
    among_texts = torch.tensor([[1, 1, 0, 1], [1, 1, 0, -1], [1, 0, 1, 0], [0, 0, 0, 1]])
    above_photos = torch.tensor([[1, 0, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    labels = Labels(OWNER, among_texts, above_photos)
    texts, photos = Embeddings(points(4, seed=3)), Embeddings(points(3, seed=4))
    objective = ContrastiveEntailment(Positive(4.0), weight=0.2)
    parts = objective(LORENTZ_DISTANCE, texts, photos, labels)

    def violation(x: torch.Tensor, y: torch.Tensor) -> float:
        angle = lorentz.exterior_angle(x, y, 1.0) - lorentz.half_aperture(x, 1.0)
        return max(0.0, float(angle))

    strict = [(0, 3), (2, 0)]  # texts 0 and 1 follow from each other
    of_texts = sum(violation(texts.x[i], texts.x[j]) for i, j in strict) / 2
    of_photos = sum(violation(texts.x[i], photos.x[OWNER[i]]) for i in range(4)) / 4
    contrast = contrastive(LORENTZ_DISTANCE(texts, photos) / (2 * 0.07), OWNER)
    assert parts["texts"].item() == pytest.approx(of_texts, abs=1e-5)
    assert parts["photos"].item() == pytest.approx(of_photos, abs=1e-5)
    expected = contrast.item() + 0.2 * (of_texts + of_photos)
    assert parts["loss"].item() == pytest.approx(expected, rel=1e-5)


def test_captions_without_a_strict_relation_have_a_loss():
    labels = Labels(OWNER, torch.eye(4, dtype=torch.int8), torch.eye(4, dtype=torch.int8)[:, :3])
    sides = Embeddings(points(4, seed=3)), Embeddings(points(3, seed=4))
    parts = ContrastiveEntailment(Positive(1.0), weight=0.2)(LORENTZ_DISTANCE, *sides, labels)
    assert parts["loss"].isfinite()
    assert parts["texts"] == 0
