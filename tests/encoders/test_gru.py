from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn
from torch.func import functional_call
from torch.nn.functional import normalize

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.encoders import recurrent
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
    h, result = torch.zeros(w_h.shape[1]), []
    for step in x:
        from_x, from_h = (w_x @ step + b_x).chunk(3), (w_h @ h + b_h).chunk(3)
        reset, update = torch.sigmoid(from_x[0] + from_h[0]), torch.sigmoid(from_x[1] + from_h[1])
        new = torch.tanh(from_x[2] + reset * from_h[2])
        h = (1 - update) * new + update * h
        result.append(h)
    return result


def by_steps(encoder: WordGRU, text: str) -> torch.Tensor:
    x = encoder.table.weight[torch.tensor(encoder.vocab.encode(text))]
    forward = torch.stack(states(encoder.gru, x, ""))
    last, everything = forward[-1], forward
    if encoder.gru.bidirectional:
        backward = torch.stack(states(encoder.gru, x.flip(0), "_reverse"))
        last = torch.cat([forward[-1], backward[-1]])
        everything = torch.cat([forward, backward.flip(0)], dim=1)
    pooled = {"last": last, "max": everything.amax(0), "mean": everything.mean(0)}[encoder.pooling]
    return normalize(pooled, dim=0)


@torch.no_grad()
@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_gru_agrees_with_its_definition(vocab, sentences, embed, pooling, bidirectional):
    encoder = gru(vocab, pooling=pooling, bidirectional=bidirectional)
    for bias in ("bias_ih_l0", "bias_hh_l0"):
        nn.init.normal_(getattr(encoder.gru, bias))  # zeros would hide a mistake
    expected = torch.stack([by_steps(encoder, s.text) for s in sentences])
    torch.testing.assert_close(embed(encoder, sentences), expected, atol=1e-6, rtol=1e-5)


def test_threads_share_an_encoder(vocab, sentences, monkeypatch):
    """Half precision is that of one call: the weights stay float32, also for other threads."""
    monkeypatch.setattr(recurrent, "fast_dtype", lambda: torch.bfloat16)
    encoder = gru(vocab, bidirectional=True)
    own = dict(encoder.gru.named_parameters())
    x, lengths = torch.rand(8, 12, WORD_DIM), torch.full((8,), 12)

    @torch.no_grad()
    def encode(number: int) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=number % 2 == 0):
            return recurrent.run(encoder.gru, x, lengths)[0]

    expected = [encode(0), encode(1)]
    with ThreadPoolExecutor(8) as pool:
        for number, states in enumerate(pool.map(encode, range(400))):
            torch.testing.assert_close(states, expected[number % 2], rtol=0, atol=0)
    assert all(own[name] is weight for name, weight in encoder.gru.named_parameters())


@torch.no_grad()
def test_lexical_coordinates_do_not_depend_on_context(vocab, embed):
    encoder = gru(vocab, pooling="max", bidirectional=True, lexical_dim=4, head=nn.Identity())
    x = embed(encoder, [Sentence("red dog near blue sea"), Sentence("sea"), Sentence("dog red")])
    words = encoder.table.weight[torch.tensor(encoder.vocab.encode("red dog near blue sea"))]
    torch.testing.assert_close(x[0, 4:], encoder.lexical(words).amax(0))
    assert (x[1:, 4:] <= x[0, 4:] + 1e-6).all()  # fewer words, no larger coordinate
    assert (x[1:, :4] > x[0, :4] + 1e-6).any()


@torch.no_grad()
def test_word_order_matters(vocab, embed):
    encoder = gru(vocab, pooling="last")
    x = embed(encoder, [Sentence("red dog near blue sea"), Sentence("blue dog near red sea")])
    assert (x[0] - x[1]).abs().max() > 1e-3


def test_recurrent_weights_start_orthogonal_and_word_vectors_small(vocab):
    encoder = gru(vocab, pooling="max", bidirectional=True)
    for name, weights in encoder.gru.named_parameters():
        if "weight_hh" in name:
            for gate in weights.split(DIM // 2):
                torch.testing.assert_close(gate @ gate.T, torch.eye(DIM // 2))
        elif "bias" in name:
            assert (weights == 0).all()
    assert 0.05 < encoder.table.weight.abs().max() <= 0.1


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_gradients_of_the_gru_agree_with_differences(vocab, pooling, bidirectional):
    encoder = gru(vocab, word_dim=2, dim=4, pooling=pooling, bidirectional=bidirectional).double()
    encoder.head = nn.Identity()  # the head computes in float32
    batch = encoder.collate(encoder.prepare([Sentence("a red dog"), Sentence("sea")]))
    names, values = zip(*encoder.gru.named_parameters(prefix="gru"), strict=True)

    def run(*weights: torch.Tensor) -> torch.Tensor:
        return functional_call(encoder, dict(zip(names, weights, strict=True)), (batch,)).x

    assert torch.autograd.gradcheck(run, tuple(v.detach().requires_grad_() for v in values))


def test_bidirectional_gru_needs_an_even_dim(vocab):
    with pytest.raises(UserError, match="even dim, not 33"):
        gru(vocab, dim=33, bidirectional=True)
    assert gru(vocab, dim=33, bidirectional=False).dim == 33
