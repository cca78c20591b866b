import pytest
import torch
from torch import nn
from torch.func import functional_call
from torch.nn.functional import normalize

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.encoders.gru import POOLINGS, WordGRU

WORD_DIM, DIM = 5, 8


def gru(vocab, word_dim: int = WORD_DIM, dim: int = DIM, **options) -> WordGRU:
    return WordGRU(vocab, word_dim=word_dim, dim=dim, **options)


def states(network: nn.GRU, x: torch.Tensor, suffix: str) -> list[torch.Tensor]:
    """h_t = (1 - z) * n + z * h_(t-1), step by step, from the definition of a GRU."""
    w_x, w_h, b_x, b_h = (
        getattr(network, f"{name}_l0{suffix}")
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    h, found = torch.zeros(w_h.shape[1]), []
    for step in x:
        from_x, from_h = (w_x @ step + b_x).chunk(3), (w_h @ h + b_h).chunk(3)
        reset, update = torch.sigmoid(from_x[0] + from_h[0]), torch.sigmoid(from_x[1] + from_h[1])
        new = torch.tanh(from_x[2] + reset * from_h[2])
        h = (1 - update) * new + update * h
        found.append(h)
    return found


def by_steps(tower: WordGRU, text: str) -> torch.Tensor:
    x = tower.table.weight[torch.tensor(tower.vocab.encode(text))]
    forward = torch.stack(states(tower.gru, x, ""))
    last, everything = forward[-1], forward
    if tower.gru.bidirectional:
        backward = torch.stack(states(tower.gru, x.flip(0), "_reverse"))
        last = torch.cat([forward[-1], backward[-1]])
        everything = torch.cat([forward, backward.flip(0)], dim=1)
    pooled = {"last": last, "max": everything.amax(0), "mean": everything.mean(0)}[tower.pooling]
    return normalize(pooled, dim=0)


@torch.no_grad()
@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_gru_is_that_of_its_definition(vocab, sentences, embed, pooling, bidirectional):
    tower = gru(vocab, pooling=pooling, bidirectional=bidirectional)
    for bias in ("bias_ih_l0", "bias_hh_l0"):
        nn.init.normal_(getattr(tower.gru, bias))  # zero at first, which would hide a mistake
    expected = torch.stack([by_steps(tower, s.text) for s in sentences])
    torch.testing.assert_close(embed(tower, sentences), expected, atol=1e-6, rtol=1e-5)


@torch.no_grad()
def test_the_order_of_words_matters(vocab, embed):
    tower = gru(vocab, pooling="last")
    x = embed(tower, [Sentence("red dog near blue sea"), Sentence("blue dog near red sea")])
    assert (x[0] - x[1]).abs().max() > 1e-3


def test_recurrent_weights_start_orthogonal_and_input_weights_small(vocab):
    tower = gru(vocab, pooling="max", bidirectional=True)
    for name, weights in tower.gru.named_parameters():
        if "weight_hh" in name:
            for gate in weights.split(DIM // 2):
                torch.testing.assert_close(gate @ gate.T, torch.eye(DIM // 2))
        elif "bias" in name:
            assert (weights == 0).all()
    assert 0.05 < tower.table.weight.abs().max() <= 0.1


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_gradient_of_the_recurrent_weights(vocab, pooling, bidirectional):
    tower = gru(vocab, word_dim=2, dim=4, pooling=pooling, bidirectional=bidirectional).double()
    tower.head = nn.Identity()  # the head computes in float32
    batch = tower.collate(tower.prepare([Sentence("a red dog"), Sentence("sea")]))
    names, values = zip(*tower.gru.named_parameters(prefix="gru"), strict=True)

    def run(*weights: torch.Tensor) -> torch.Tensor:
        return functional_call(tower, dict(zip(names, weights, strict=True)), (batch,)).x

    assert torch.autograd.gradcheck(run, tuple(v.detach().requires_grad_() for v in values))


def test_two_directions_need_an_even_dim(vocab):
    with pytest.raises(UserError, match="even dim, not 33"):
        gru(vocab, dim=33, bidirectional=True)
    assert gru(vocab, dim=33, bidirectional=False).dim == 33
