import math

import pytest
import torch
from torch.nn.functional import normalize

from vsdemo import models
from vsdemo.core.config import Config
from vsdemo.core.embeddings import Embeddings
from vsdemo.models.losses import (
    LOSSES,
    Entailment,
    PairwiseRanking,
    Softmax,
    SquaredError,
    build,
    check_finite,
    distillation,
    entailment,
)
from vsdemo.models.scores import SCORES

LABELS = torch.tensor([3, 1, 3, 0, 2])  # rows 0 and 2 are captions of one photo


def batch(seed: int = 0, pairs: int = 5) -> tuple[Embeddings, Embeddings]:
    draw = torch.Generator().manual_seed(seed)
    rows = normalize(torch.rand(2, pairs, 4, generator=draw, dtype=torch.float64), dim=-1)
    return Embeddings(rows[0]), Embeddings(rows[1])


def by_loops(scores: list[list[float]], labels: list[int], margin: float, hardest: float) -> float:
    """Eq. 5 and its VSE++ form, a pair at a time."""
    total, worst, n = 0.0, 0.0, len(labels)
    for a in range(n):
        others = [b for b in range(n) if labels[b] != labels[a]]
        right = scores[a][a]
        photo_violations = [max(0.0, margin - right + scores[a][b]) for b in others]
        caption_violations = [max(0.0, margin - right + scores[b][a]) for b in others]
        total += sum(photo_violations) + sum(caption_violations)
        worst += max(photo_violations, default=0.0) + max(caption_violations, default=0.0)
    return (1 - hardest) * total + hardest * worst


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("hardest", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("margin", [0.0, 0.05, 0.2])
def test_the_loss_equals_plain_loops(name, hardest, margin):
    general, specific = batch()
    parts = PairwiseRanking(margin, hardest)(SCORES[name], general, specific, LABELS)
    scores = SCORES[name](general, specific).tolist()
    expected = by_loops(scores, LABELS.tolist(), margin, hardest)
    assert expected > 0
    assert parts["loss"].item() == pytest.approx(expected)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("temperature", [0.07, 1.0])
def test_the_softmax_equals_plain_loops(name, temperature):
    general, specific = batch()
    scores, labels = SCORES[name](general, specific).tolist(), LABELS.tolist()
    expected = 0.0
    for a in range(len(labels)):
        others = [b for b in range(len(labels)) if labels[b] != labels[a]]
        for row in (scores[a], [column[a] for column in scores]):
            chances = [math.exp((row[b] - row[a]) / temperature) for b in others]
            expected += math.log(1 + sum(chances))
    parts = Softmax(temperature)(SCORES[name], general, specific, LABELS)
    assert parts["loss"].item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", SCORES)
def test_gradient_of_the_softmax(name):
    def loss(x, y):
        return Softmax(0.3)(SCORES[name], Embeddings(x), Embeddings(y), LABELS)["loss"]

    general, specific = batch(seed=3)
    assert torch.autograd.gradcheck(loss, (general.x.requires_grad_(), specific.x.requires_grad_()))


def test_squared_distances_of_matching_pairs():
    general, specific = batch()
    parts = SquaredError()(SCORES["euclidean"], general, specific, LABELS)
    rows = zip(general.x.tolist(), specific.x.tolist(), strict=True)
    expected = sum((a - b) ** 2 for x, y in rows for a, b in zip(x, y, strict=True))
    assert parts["loss"].item() == pytest.approx(expected)
    assert parts["right_score"].item() == pytest.approx(-expected / 5)
    torch.testing.assert_close(
        SquaredError()(SCORES["inner"], general, specific, LABELS)["loss"], parts["loss"]
    )


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("margin", [0.0, 0.3, 1.0])
def test_the_loss_of_labelled_pairs_equals_plain_loops(name, margin):
    """Eq. 7 of Vendrov 2016."""
    general, specific = batch()
    label = torch.tensor([1, 0, 0, 1, 0])
    parts = Entailment(margin)(SCORES[name], general, specific, label)
    expected, violated = 0.0, 0
    for i, entailed in enumerate(label.tolist()):
        violation = -SCORES[name](general[i : i + 1], specific[i : i + 1]).item()
        expected += violation if entailed else max(0.0, margin - violation)
        violated += not entailed and violation < margin
    assert parts["loss"].item() == pytest.approx(expected)
    assert parts["violated"].item() == pytest.approx(violated / 3)
    right = SCORES[name](general, specific).diagonal()[label.bool()].mean()
    assert parts["right_score"].item() == pytest.approx(right.item())


def test_negatives_may_have_margins_of_their_own():
    scores = torch.tensor([-0.5, -0.2, -0.2, 0.1])  # minus E
    entailed = torch.tensor([True, False, False, False])
    parts = entailment(scores, entailed, torch.tensor([9.0, 0.1, 1.0, 0.3]))
    assert parts["loss"].item() == pytest.approx(0.5 + 0 + 0.8 + 0.4)
    assert parts["violated"].item() == pytest.approx(2 / 3)
    assert parts["right_score"].item() == -0.5


def test_the_share_of_violations_counts_every_negative():
    premise = hypothesis = Embeddings(torch.ones(1, 4))
    parts = Entailment(0.3)(SCORES["order"], hypothesis, premise, torch.tensor([0]))
    assert parts["violated"] == 1


@pytest.mark.parametrize("label", [[1] * 5, [0] * 5])
def test_labelled_pairs_with_one_label(label):
    parts = Entailment(0.3)(SCORES["order"], *batch(), torch.tensor(label))
    check_finite(parts)
    assert parts["loss"] > 0


@pytest.mark.parametrize("name", SCORES)
def test_gradient_over_labelled_pairs(name):
    def loss(x, y):
        sides = Embeddings(x), Embeddings(y)
        return Entailment(0.31)(SCORES[name], *sides, torch.tensor([1, 0, 0, 1, 0]))["loss"]

    general, specific = batch(seed=3)
    assert torch.autograd.gradcheck(loss, (general.x.requires_grad_(), specific.x.requires_grad_()))


def test_a_configuration_chooses_the_loss():
    general, specific = batch()
    for config, loss in (
        (Config(margin=0.3, hardest=0.5), PairwiseRanking(0.3, 0.5)),
        (Config(loss="softmax", temperature=0.3), Softmax(0.3)),
        (Config(loss="squared"), SquaredError()),
        (models.preset("order/entailment")[1], Entailment(0.5)),
    ):
        parts = build(config)(SCORES["cosine"], general, specific, LABELS)
        assert parts["loss"] == loss(SCORES["cosine"], general, specific, LABELS)["loss"]


def test_logged_parts_of_the_ranking():
    scores = torch.tensor([[0.9, 0.0, 0.8], [0.0, 0.9, 0.0], [0.0, 0.0, 0.9]])
    general, specific = Embeddings(scores), Embeddings(torch.eye(3))
    parts = PairwiseRanking(0.2, hardest=0.0)(SCORES["inner"], general, specific, torch.arange(3))
    assert parts["loss"].item() == pytest.approx(0.2)  # 0.2 - 0.9 + 0.8, as a photo and a caption
    assert parts["violated"].item() == pytest.approx(1 / 6)  # of 6 negatives
    assert parts["right_score"].item() == pytest.approx(0.9)
    assert not parts["violated"].requires_grad
    assert not parts["right_score"].requires_grad


@pytest.mark.parametrize("hardest", [0.0, 1.0])
def test_captions_of_one_photo_are_never_each_others_negatives(hardest):
    loss = PairwiseRanking(0.2, hardest)
    general, specific = batch()
    one_photo = loss(SCORES["cosine"], general, specific, torch.zeros(5, dtype=torch.long))
    assert one_photo["loss"] == 0
    twice = torch.tensor([0, 0])  # a photo twice in a batch beside one other
    label = torch.tensor([0, 0, 1])
    rows = Embeddings(general.x[:3]), Embeddings(specific.x[[0, 0, 1]])
    before = loss(SCORES["cosine"], *rows, label)["loss"]
    expected = by_loops(SCORES["cosine"](*rows).tolist(), label.tolist(), 0.2, hardest)
    assert before.item() == pytest.approx(expected)
    assert loss(SCORES["cosine"], general[twice], specific[twice], twice)["loss"] == 0


def test_the_loss_of_a_single_pair_is_0():
    parts = PairwiseRanking(0.2, 0.5)(SCORES["order"], *batch(pairs=1), torch.tensor([7]))
    assert parts["loss"] == 0
    assert parts["violated"] == 0


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("hardest", [0.0, 0.5, 1.0])
def test_gradient_of_the_loss(name, hardest):
    def loss(x, y):
        sides = Embeddings(x), Embeddings(y)
        return PairwiseRanking(0.3, hardest)(SCORES[name], *sides, LABELS)["loss"]

    general, specific = batch(seed=3)
    assert torch.autograd.gradcheck(loss, (general.x.requires_grad_(), specific.x.requires_grad_()))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_raises(value):
    with pytest.raises(FloatingPointError, match=str(value)):
        check_finite({"loss": torch.tensor(value)})
    check_finite({"loss": torch.tensor(1e30)})


def softmax(values: list[float], temperature: float) -> list[float]:
    powers = [math.exp(value / temperature) for value in values]
    return [power / sum(powers) for power in powers]


def divergence(teacher: list[float], student: list[float], temperature: float) -> float:
    """KL(softmax(teacher / t) || softmax(student / t))."""
    p, q = softmax(teacher, temperature), softmax(student, temperature)
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))


def random_scores(seed: int) -> torch.Tensor:
    """Return scores of 4 captions and 5 photos."""
    draw = torch.Generator().manual_seed(seed)
    return torch.rand(4, 5, generator=draw, dtype=torch.float64)


@pytest.mark.parametrize("temperature", [0.05, 1.0, 3.0])
def test_the_loss_of_a_teachers_scores_equals_plain_loops(temperature):
    student, teacher = random_scores(0), random_scores(1)
    expected = 0.0
    for s, t in ((student, teacher), (student.T, teacher.T)):
        for row in range(len(s)):
            expected += divergence(t[row].tolist(), s[row].tolist(), temperature)
    assert distillation(student, teacher, temperature).item() == pytest.approx(expected)


def test_gradient_of_the_loss_of_a_teachers_scores():
    teacher = random_scores(1)
    student = random_scores(0).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: distillation(s, teacher, 0.3), student)


def test_a_teachers_scores_and_a_constant_have_no_loss():
    teacher = random_scores(1)
    student = (teacher + 0.7).requires_grad_()
    loss = distillation(student, teacher, 0.1)
    loss.backward()
    assert loss.item() == pytest.approx(0)
    assert student.grad.abs().max() < 1e-12


def test_every_loss_that_a_preset_names_is_registered():
    assert {config.loss for _, config in models.presets().values()} <= LOSSES.keys()
