"""The losses that teach Pocket, computed again with plain loops."""

import pytest
import torch

from vsdemo.backbones.pocket import FEATURES
from vsdemo.data.vocab import Vocab
from vsdemo.pocket.student import SOFT, Student
from vsdemo.types import Sentence

DEVIATIONS = torch.tensor([[4.0, 2.0, 1.0], [1.0, 0.5, 0.5]])


@pytest.fixture
def student():
    torch.manual_seed(0)
    return Student(Vocab.build([Sentence("a red dog and a blue cat")]), DEVIATIONS).eval()


@torch.no_grad()
def test_what_is_not_explained(student):
    draw = torch.Generator().manual_seed(0)
    spatial = torch.rand(2, FEATURES, 2, 2, generator=draw)
    target = torch.randn(2, 3, 2, 2, generator=draw)
    found = student.distilled(spatial, target)
    weight, bias = student.components.weight[:, :, 0, 0], student.components.bias
    for row, name in enumerate(("places", "means")):
        raw = [float(d) ** -SOFT for d in DEVIATIONS[row]]
        scale = sum((r * float(d)) ** 2 for r, d in zip(raw, DEVIATIONS[row], strict=True)) ** 0.5
        total, count = 0.0, 0
        for photo in range(2):
            errors = [
                weight @ spatial[photo, :, y, x] + bias - target[photo, :, y, x]
                for y in range(2)
                for x in range(2)
            ]
            if name == "means":
                errors = [sum(errors) / 4]
            for error in errors:
                count += 1
                total += sum((float(e) * r / scale) ** 2 for e, r in zip(error, raw, strict=True))
        assert float(found[name]) == pytest.approx(total / count, rel=1e-4)


def test_who_always_answers_the_mean_explains_nothing(student):
    """Components of these deviations, and an answer of zeros."""
    torch.nn.init.zeros_(student.components.weight)
    torch.nn.init.zeros_(student.components.bias)
    draw = torch.Generator().manual_seed(0)
    target = torch.randn(400, 3, 5, 5, generator=draw) * DEVIATIONS[0][:, None, None]
    places = student.distilled(torch.zeros(400, FEATURES, 5, 5), target)["places"]
    assert places.item() == pytest.approx(1, abs=0.03)


def test_right_captions_cost_less(student):
    vector = torch.rand(2, FEATURES, generator=torch.Generator().manual_seed(0))
    captions = [Sentence("a red dog"), Sentence("a blue cat")]
    owner = torch.arange(2)
    optimizer = torch.optim.Adam(student.parameters(), 0.01)
    student.train()
    first = student.ranked(vector, captions, owner)
    for _ in range(30):
        optimizer.zero_grad()
        student.ranked(vector, captions, owner).backward()
        optimizer.step()
    assert student.ranked(vector, captions, owner) < 0.3 * first
