"""The scores of Vendrov's baselines, compared with plain loops over their equations."""

import math

import pytest
import torch
from torch.nn.functional import logsigmoid

from vsdemo import models
from vsdemo.core.config import override
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.models import checkpoint
from vsdemo.models.concept_scores import Bilinear, CosineDistance, Gaussians

DIM = 4


def bilinear() -> Bilinear:
    score = Bilinear(DIM)
    with torch.no_grad():
        score.matrix.weight.add_(torch.randn(DIM, DIM, generator=torch.Generator().manual_seed(9)))
    return score


SCORES = {
    "distance": CosineDistance(),
    "released": CosineDistance(as_released=True),
    "bilinear": bilinear(),
    "gaussians": Gaussians(),
}
every_score = pytest.mark.parametrize("name", SCORES)


def random(n: int, name: str, seed: int = 0) -> Embeddings:
    size = DIM * (2 if name == "gaussians" else 1)
    return Embeddings(1.5 * torch.randn(n, size, generator=torch.Generator().manual_seed(seed)))


def by_loops(name: str, x: list[float], y: list[float]) -> float:
    """The score of one general x and one specific y, from its equation."""

    def inner(a: list[float], b: list[float]) -> float:
        return sum(i * j for i, j in zip(a, b, strict=True))

    cosine = inner(x, y) / math.sqrt(inner(x, x) * inner(y, y))
    match name:
        case "distance":
            return -(1 - cosine) / 2
        case "released":
            return -(1 + cosine) / 2
        case "bilinear":
            matrix = SCORES["bilinear"].matrix.weight.tolist()
            z = sum(x[i] * matrix[i][j] * y[j] for i in range(DIM) for j in range(DIM))
            return -math.log(1 + math.exp(-z))
        case "gaussians":
            divergence = 0.0
            for d in range(DIM):
                m_x, m_y = x[d], y[d]
                v_x, v_y = (math.exp(max(-3.0, min(3.0, s[DIM + d]))) for s in (x, y))
                divergence += (math.log(v_x / v_y) + (v_y + (m_y - m_x) ** 2) / v_x - 1) / 2
            return -divergence
    raise ValueError(f"{name} has no loop here; write one")


@every_score
def test_scores_equal_plain_loops(name):
    general, specific = random(6, name, seed=1), random(5, name, seed=2)
    expected = [[by_loops(name, x, y) for y in specific.x.tolist()] for x in general.x.tolist()]
    torch.testing.assert_close(
        SCORES[name](general, specific), torch.tensor(expected), rtol=1e-4, atol=1e-4
    )


@every_score
def test_pairs_are_the_diagonal(name):
    general, specific = random(7, name, seed=1), random(7, name, seed=2)
    whole = SCORES[name](general, specific)
    assert whole.shape == (7, 7)
    torch.testing.assert_close(
        SCORES[name].pairs(general, specific), whole.diagonal(), rtol=1e-4, atol=1e-4
    )


@every_score
def test_empty_embeddings_have_empty_scores(name):
    score, none = SCORES[name], random(0, name)
    assert score(none, random(3, name)).shape == (0, 3)
    assert score(random(3, name), none).shape == (3, 0)
    assert score.pairs(none, none).shape == (0,)


@every_score
@pytest.mark.parametrize("whole", [True, False])
def test_gradients(name, whole):
    score = bilinear().double() if name == "bilinear" else SCORES[name]
    x, y = (0.5 * random(3, name, seed=s).x.double() for s in (1, 2))
    spread = torch.cat([x, y])[:, DIM:].abs()
    assert (spread - 3).abs().numel() == 0 or (spread - 3).abs().min() > 1e-3  # no kink near

    def scored(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (score if whole else score.pairs)(Embeddings(a), Embeddings(b))

    assert torch.autograd.gradcheck(scored, (x.requires_grad_(), y.requires_grad_()))


def test_the_gradient_of_the_matrix():
    score, x, y = bilinear(), random(5, "bilinear", 1), random(5, "bilinear", 2)
    score.pairs(x, y).sum().backward()
    dense = score.matrix.weight.detach().clone().requires_grad_()
    logsigmoid(((x.x @ dense) * y.x).sum(-1)).sum().backward()
    assert score.matrix.weight.grad.is_sparse
    torch.testing.assert_close(score.matrix.weight.grad.to_dense(), dense.grad)


@every_score
def test_to_unit_rises_with_the_score_from_0_to_1(name):
    values = SCORES[name](random(30, name, 1), random(30, name, 2)).flatten().sort().values
    unit = SCORES[name].to_unit(values)
    assert 0 <= unit.min() < unit.max() <= 1
    assert (unit.diff() >= 0).all()
    middle = (values > -2) & (values < -0.01)
    assert middle.sum() > 5
    assert (unit[middle].diff() > 0)[values[middle].diff() > 1e-3].all()
    assert SCORES[name].to_unit(torch.tensor([1e-5, 0.0])).tolist() == pytest.approx(
        [1, 1], abs=1e-4
    )


@every_score
def test_a_score_is_minus_a_penalty_and_has_a_description(name):
    score = SCORES[name]
    assert score(random(30, name, 1), random(30, name, 2)).max() <= 1e-5
    assert score.unit
    assert score.meaning.endswith(".")


def test_cosine_distance_of_known_directions():
    a = Embeddings(torch.tensor([[2.0, 0], [2, 0], [2, 0]]))
    b = Embeddings(torch.tensor([[5.0, 0], [0, 3], [-1, 0]]))
    assert CosineDistance().pairs(a, b).tolist() == [0, -0.5, -1]
    assert CosineDistance(as_released=True).pairs(a, b).tolist() == [-1, -0.5, 0]


def test_a_new_matrix_scores_by_the_inner_product():
    x, y = random(4, "bilinear", 1), random(4, "bilinear", 2)
    expected = torch.log(torch.sigmoid((x.x * y.x).sum(-1)))
    torch.testing.assert_close(Bilinear(DIM).pairs(x, y), expected)


def test_a_gaussian_diverges_from_all_but_itself():
    x, y = random(200, "gaussians", 1), random(200, "gaussians", 2)
    score = Gaussians()
    torch.testing.assert_close(score.pairs(x, x), torch.zeros(200), atol=1e-4, rtol=0)
    assert score.pairs(x, y).max() < 0
    narrow, wide = (torch.tensor([[0.3, -0.2, s, s]]) for s in (-1.0, 1.0))
    up, down = (
        score.pairs(Embeddings(a), Embeddings(b)) for a, b in ((wide, narrow), (narrow, wide))
    )
    assert up > down  # the wide one lies above


def test_a_learned_matrix_is_part_of_a_checkpoint(tmp_path):
    hierarchy = ("thing", "dog", "cat")
    config = override(models.preset("hypernyms/bilinear")[1], [f"dim={DIM}"])
    vocab = Vocab(hierarchy)
    model = models.build("hypernyms", config, vocab, 0)
    with torch.no_grad():
        for weights in model.parameters():
            weights.normal_().copy_(weights.half())
    spec = checkpoint.Spec("hypernyms", "hypernyms/bilinear", "toy", config, "", 0)
    checkpoint.save(tmp_path, spec, vocab, model.state_dict())
    loaded, loaded_spec, loaded_vocab = checkpoint.load(tmp_path)
    assert (loaded_spec, loaded_vocab) == (spec, vocab)
    assert torch.equal(loaded.score.matrix.weight, model.score.matrix.weight)
    assert not torch.equal(loaded.score.matrix.weight, torch.eye(DIM))
    sentences = [Sentence(name) for name in hierarchy]
    with torch.inference_mode():
        every = [
            m.score(m.encode_text(sentences), m.encode_text(sentences)) for m in (loaded, model)
        ]
    assert torch.equal(*every)
