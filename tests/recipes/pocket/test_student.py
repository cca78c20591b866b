"""The losses that train Pocket, recomputed with plain loops."""

import pytest
import torch

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.recipes.pocket.student import HARDEST, MARGIN, Student
from vsdemo.vision.backbones.pocket import FEATURES

DEVIATIONS = torch.tensor([[4.0, 2.0, 1.0], [1.0, 0.5, 0.5]])


@pytest.fixture
def student():
    torch.manual_seed(0)
    return Student(Vocab.build([Sentence("a red dog and a blue cat")]), DEVIATIONS).eval()


@torch.no_grad()
def test_distillation_losses_agree_with_plain_loops(student):
    seeded = torch.Generator().manual_seed(0)
    spatial = torch.rand(2, FEATURES, 2, 2, generator=seeded)
    target = torch.randn(2, 3, 2, 2, generator=seeded)
    losses = student.distillation_losses(spatial, target)
    weight, bias = student.components.weight[:, :, 0, 0], student.components.bias
    for row, name in enumerate(("cells", "means")):
        variance = sum(float(d) ** 2 for d in DEVIATIONS[row])
        total, count = 0.0, 0
        for photo in range(2):
            errors = [
                weight @ spatial[photo, :, y, x] + bias - target[photo, :, y, x]
                for y in range(2)
                for x in range(2)
            ]
            for error in [sum(errors) / 4] if name == "means" else errors:
                count += 1
                total += sum(float(e) ** 2 for e in error)
        assert float(losses[row]) == pytest.approx(total / count / variance, rel=1e-4)


@torch.no_grad()
def test_finer_targets_are_averaged(student):
    """A cell of the student's map stands for four of the teacher's."""
    seeded = torch.Generator().manual_seed(0)
    spatial = torch.rand(2, FEATURES, 2, 2, generator=seeded)
    target = torch.randn(2, 3, 4, 4, generator=seeded)
    losses = student.distillation_losses(spatial, target)
    coarse = torch.stack(
        [
            torch.stack([target[:, :, y : y + 2, x : x + 2].mean((2, 3)) for x in (0, 2)], -1)
            for y in (0, 2)
        ],
        2,
    )
    torch.testing.assert_close(losses, student.distillation_losses(spatial, coarse))


@torch.no_grad()
def test_ranking_loss_agrees_with_plain_loops(student):
    """Three photos and five captions; the last two are negatives, one of them of photo 8."""
    seeded = torch.Generator().manual_seed(0)
    vector = torch.rand(3, FEATURES, generator=seeded)
    texts = ("a red dog", "a blue cat", "a red cat", "a blue dog", "a dog and a cat")
    captions, owner = [Sentence(text) for text in texts], torch.tensor([7, 8, 9, 5, 8])
    photos = student.pair.image(vector).x.tolist()
    texts_x = student.pair.encode_text(captions).x.tolist()
    score = [[sum(a * b for a, b in zip(c, p, strict=True)) for p in photos] for c in texts_x]
    total = worst = 0.0
    for photo in range(3):
        positive = score[photo][photo]
        for_photo = [
            max(0, MARGIN - positive + score[caption][photo])
            for caption in range(5)
            if owner[caption] != owner[photo]
        ]
        for_caption = [max(0, MARGIN - positive + score[photo][p]) for p in range(3) if p != photo]
        total += sum(for_photo) + sum(for_caption)
        worst += max(for_photo) + max(for_caption)
    expected = ((1 - HARDEST) * total + HARDEST * worst) / 3
    assert student.ranking_loss(vector, captions, owner).item() == pytest.approx(expected, rel=1e-4)


def test_ranking_loss_of_one_photo_is_zero(student):
    assert (
        student.ranking_loss(torch.rand(1, FEATURES), [Sentence("a dog")], torch.tensor([0])) == 0
    )


def test_predicting_the_mean_explains_nothing(student):
    """Random components with these deviations, and a prediction of zeros."""
    torch.nn.init.zeros_(student.components.weight)
    torch.nn.init.zeros_(student.components.bias)
    draw = torch.Generator().manual_seed(0)
    target = torch.randn(400, 3, 5, 5, generator=draw) * DEVIATIONS[0][:, None, None]
    cells, _ = student.distillation_losses(torch.zeros(400, FEATURES, 5, 5), target)
    assert cells.item() == pytest.approx(1, abs=0.03)


def test_training_lowers_the_ranking_loss(student):
    vector = torch.rand(2, FEATURES, generator=torch.Generator().manual_seed(0))
    captions = [Sentence("a red dog"), Sentence("a blue cat")]
    owner = torch.arange(2)
    optimizer = torch.optim.Adam(student.parameters(), 0.01)
    student.train()
    first = student.ranking_loss(vector, captions, owner)
    for _ in range(30):
        optimizer.zero_grad()
        student.ranking_loss(vector, captions, owner).backward()
        optimizer.step()
    assert student.ranking_loss(vector, captions, owner) < 0.3 * first
