"""The loss of true and false sentences equals plain loops."""

import math

import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.scores import SCORES
from vsdemo.models.truth_loss import (
    BIAS,
    OWN,
    PHOTOS,
    SCALE,
    SENTENCES,
    TELLING,
    TruthLabels,
    TruthLoss,
)

T, P = 6, 4
SHARES = torch.tensor([0.5, 0.01, 0.9, 0.001, 0.3, 0.04], dtype=torch.float64)
PICTURES = Embeddings(torch.zeros(P, 1))


@pytest.fixture
def labels():
    true = [
        [1, 0, 0, -1],
        [1, 1, 0, 0],
        [0, -1, 1, 0],
        [-1, 0, 0, 0],  # true of no picture
        [0, -1, -1, -1],
        [-1, 1, 0, -1],
    ]
    return TruthLabels(torch.tensor([0, 0, 1, 1, 2, 2]), torch.tensor(true), SHARES)


class Given:
    """Takes the embeddings of the texts for the scores of all pairs."""

    def __call__(self, texts, photos):
        return texts.x


def loss_of(scores, labels):
    return TruthLoss()(Given(), Embeddings(scores), PICTURES, labels)


@pytest.fixture
def scores():
    draw = torch.Generator().manual_seed(0)
    return torch.rand(T, P, generator=draw, dtype=torch.float64) * 2 - 1


def plain(scores, labels):
    """The classification and the rankings of photos and of sentences, pair by pair."""
    scaled = [[SCALE * s for s in row] for row in scores.tolist()]
    true = labels.true.tolist()
    total = weight = 0.0
    for i in range(T):
        for j in range(P):
            if true[i][j] >= 0:
                p = 1 / (1 + math.exp(-scaled[i][j] - BIAS - math.log(SHARES[i])))
                own = OWN if labels.owner[i] == j else 1.0
                total -= own * math.log(p if true[i][j] else 1 - p)
                weight += own
    return total / weight, rank_photos(scaled, true), rank_sentences(scaled, true)


def rank_photos(logits, true):
    terms = []
    for row, known in zip(logits, true, strict=True):
        every = [math.exp(x) for x, label in zip(row, known, strict=True) if label >= 0]
        right = [math.exp(x) for x, label in zip(row, known, strict=True) if label == 1]
        if right:
            terms.append(-math.log(sum(right) / sum(every)))
    return sum(terms) / len(terms)


def rank_sentences(logits, true):
    terms = []
    for photo in range(P):
        known = [row for row in range(T) if true[row][photo] >= 0]
        right = [row for row in known if true[row][photo] == 1]
        every = sum(math.exp(logits[row][photo]) for row in known)
        good = sum(SHARES[row].item() ** -TELLING for row in right)
        if right:
            terms.append(
                sum(
                    SHARES[row].item() ** -TELLING
                    / good
                    * -math.log(math.exp(logits[row][photo]) / every)
                    for row in right
                )
            )
    return sum(terms) / len(terms)


def test_the_loss_equals_plain_loops(scores, labels):
    classification, photos, sentences = plain(scores, labels)
    result = loss_of(scores, labels)
    assert result["classification"].item() == pytest.approx(classification, rel=1e-5)
    assert result["photos"].item() == pytest.approx(photos, rel=1e-5)
    assert result["sentences"].item() == pytest.approx(sentences, rel=1e-5)
    total = classification + PHOTOS * photos + SENTENCES * sentences
    assert result["loss"].item() == pytest.approx(total, rel=1e-5)
    assert result["scale"].item() == pytest.approx(SCALE)
    assert [name for name, part in result.items() if part.requires_grad] == ["loss"]


def test_gradients_agree_with_differences(scores, labels):
    loss = TruthLoss().double()
    names, weights = zip(*loss.named_parameters(), strict=True)

    def run(scores, *values):
        given = dict(zip(names, values, strict=True))
        inputs = (Given(), Embeddings(scores), PICTURES, labels)
        return torch.func.functional_call(loss, given, inputs)["loss"]

    assert torch.autograd.gradcheck(run, (scores.requires_grad_(), *weights))


def test_undecided_pairs_count_nowhere(scores, labels):
    undecided = labels.true < 0
    scores.requires_grad_()
    loss_of(scores, labels)["loss"].backward()
    assert not scores.grad[undecided].any()
    assert scores.grad[~undecided].all()
    changed = scores.detach().masked_fill(undecided, 0.9)
    torch.testing.assert_close(loss_of(changed, labels), loss_of(scores.detach(), labels))


def test_sentences_that_are_true_of_no_picture_are_not_ranked(scores, labels):
    false = TruthLabels(labels.owner, labels.true.clamp(max=0), SHARES)
    result = loss_of(scores, false)
    assert result["photos"] == result["sentences"] == 0
    assert result["loss"] == result["classification"] > 0


def test_a_batch_of_which_nothing_is_known_is_no_loss(scores, labels):
    unknown = TruthLabels(labels.owner, torch.full((T, P), -1), SHARES)
    scores.requires_grad_()
    result = loss_of(scores, unknown)["loss"]
    result.backward()
    assert result == 0
    assert not scores.grad.any()


def test_right_scores_have_a_smaller_loss_than_wrong_ones(labels):
    right = (labels.true == 1).float()
    best, none, worst = (
        loss_of(s, labels) for s in (right, torch.full_like(right, 0.5), 1 - right)
    )
    for part in ("loss", "classification", "photos", "sentences"):
        assert best[part] < none[part] < worst[part]
    assert best["photos"] < 1e-3


def test_of_equal_scores_the_rarer_sentence_is_the_less_likely_one():
    """To be as likely, it needs the higher score."""
    labels = TruthLabels(torch.tensor([1, 1]), torch.ones(2, P).long(), torch.tensor([0.5, 0.01]))
    scores = torch.zeros(2, P, requires_grad=True)
    loss_of(scores, labels)["loss"].backward()
    common, rare = scores.grad[:, 0]
    assert rare < common < 0


def test_of_true_sentences_the_one_that_says_more_is_pulled_up():
    labels = TruthLabels(torch.tensor([0, 0]), torch.ones(2, 1).long(), torch.tensor([0.5, 0.01]))
    scores = torch.zeros(2, 1, requires_grad=True)
    loss_of(scores, labels)["loss"].backward()
    common, rare = scores.grad[:, 0]
    assert rare < common


def test_a_pair_of_a_sentence_and_its_own_picture_weighs_more(scores):
    false = torch.zeros(T, P, dtype=torch.long)
    scores = torch.zeros_like(scores).requires_grad_()
    loss_of(scores, TruthLabels(torch.tensor([0, 0, 1, 1, 2, 3]), false, torch.ones(T)))[
        "loss"
    ].backward()
    own = scores.grad[range(T), [0, 0, 1, 1, 2, 3]]
    torch.testing.assert_close(own, OWN * scores.grad[range(T), [1, 1, 2, 2, 3, 0]])


def test_the_first_loss_of_the_cosine_is_finite_and_falls():
    torch.manual_seed(0)
    loss, score = TruthLoss(), SCORES["cosine"]
    texts, photos = (torch.randn(n, 8, requires_grad=True) for n in (T, P))
    owner, right = torch.tensor([0, 1, 2, 3, 0, 1]), torch.eye(P).repeat(2, 1)[:T].long()
    true = TruthLabels(owner, right, torch.full((T,), 1 / P))
    optimizer = torch.optim.Adam([texts, photos, *loss.parameters()], lr=0.05)
    values = []
    for _ in range(100):
        sides = (Embeddings(torch.nn.functional.normalize(x, dim=1)) for x in (texts, photos))
        result = loss(score, *sides, true)["loss"]
        optimizer.zero_grad()
        result.backward()
        optimizer.step()
        values.append(result.item())
    assert values[-1] < 0.1 * values[0]
