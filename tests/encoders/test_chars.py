"""The encoders over characters agree with plain loops over sentences and steps."""

import string
from itertools import product

import pytest
import torch

from tests.support.half_precision import assert_half_precision_stays_close
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import EOS, PAD, SPECIAL, UNK, Vocab
from vsdemo.encoders.chars import CELLS, POOLINGS, Attention, CharRNN

TEXTS = ("A dog.", "Two dogs run on green grass", "", "!", "a\u2009b", "Red, red; RED?")
ENCODERS = list(product(CELLS, POOLINGS))


@pytest.fixture
def vocab():
    return Vocab.build([], needs=frozenset({"chars"}))


@pytest.fixture
def sentences():
    return [Sentence(t) for t in TEXTS]


@pytest.fixture(params=ENCODERS, ids="-".join)
def encoder(request, vocab):
    cell, pooling = request.param
    return CharRNN(vocab, char_dim=5, dim=8, cell=cell, pooling=pooling, attention=3).eval()


def cell(network, x, state):
    """One step of a GRU or LSTM; x: (char_dim,), state: (h, c)."""
    w = dict(network.named_parameters())
    h, c = state
    inner = w["weight_ih_l0"] @ x + w["bias_ih_l0"]
    outer = w["weight_hh_l0"] @ h + w["bias_hh_l0"]
    if isinstance(network, torch.nn.LSTM):
        i, f, g, o = (inner + outer).chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
    (r, z, n), (hr, hz, hn) = inner.chunk(3), outer.chunk(3)
    z = (z + hz).sigmoid()
    return (1 - z) * (n + (r + hr).sigmoid() * hn).tanh() + z * h, c


def run(network, vectors):
    state, states = (torch.zeros(4), torch.zeros(4)), []
    for x in vectors:
        state = cell(network, x, state)
        states.append(state[0])
    return states


def plain(encoder, text: str):
    """The embedding of a text and its attention weights, by loops."""
    numbers = [encoder.vocab.words.index(c) if c in string.printable else UNK for c in text]
    vectors = [encoder.table.weight[i] for i in numbers or [EOS]]
    onward, backward = run(encoder.onward, vectors), run(encoder.backward, vectors[::-1])[::-1]
    states = [torch.cat(pair) for pair in zip(onward, backward, strict=True)]
    if encoder.attention is None:
        pooled = torch.stack([max(h[d] for h in states) for d in range(8)])
        return pooled / pooled.norm(), None
    w, v = encoder.attention.hidden, encoder.attention.out
    e = [(v.weight @ (w.weight @ h + w.bias).tanh() + v.bias).exp() for h in states]
    total = torch.stack(e).sum(0)
    pooled = torch.stack([x / total * h for x, h in zip(e, states, strict=True)]).sum(0)
    return pooled / pooled.norm(), torch.stack([(x / total).mean() for x in e])


@torch.no_grad()
def test_embeddings_agree_with_loops_in_any_batch(encoder, sentences, embed):
    expected = torch.stack([plain(encoder, t)[0] for t in TEXTS])
    torch.testing.assert_close(embed(encoder, sentences), expected, atol=1e-5, rtol=0)
    order = torch.tensor([4, 0, 5, 2, 1, 3])
    shuffled = embed(encoder, [sentences[i] for i in order])
    torch.testing.assert_close(shuffled, expected[order], atol=1e-5, rtol=0)
    assert torch.pdist(expected).min() > 1e-3


@torch.no_grad()
def test_padding_ids_do_not_matter(encoder, sentences):
    batch = encoder.collate(encoder.prepare(sentences))
    dirty = batch.ids.masked_fill(batch.ids == PAD, 50)
    assert (dirty != batch.ids).any()
    torch.testing.assert_close(encoder(batch._replace(ids=dirty)).x, encoder(batch).x)


@torch.no_grad()
def test_attention_agrees_with_loops_and_ignores_padding():
    states, mask = torch.randn(3, 5, 6), torch.tensor([5, 2, 1])[:, None] > torch.arange(5)
    attention = Attention(6, 4)
    weights = attention(states, mask[..., None])
    w, v = attention.hidden, attention.out
    for b, d in product(range(3), range(6)):
        e = [torch.exp(v(w(states[b, t]).tanh())[d]) if mask[b, t] else 0.0 for t in range(5)]
        for t in range(5):
            assert float(weights[b, t, d]) == pytest.approx(float(e[t] / sum(e)), abs=1e-6)


@torch.no_grad()
def test_character_weights_agree_with_loops(encoder):
    for text in (*TEXTS, "x" * 200):
        weights = encoder.train().character_weights(Sentence(text))
        assert encoder.training
        assert weights.shape == (max(1, len(text)),)
        assert float(weights.sum()) == pytest.approx(1, abs=1e-5)
        expected = plain(encoder, text)[1]
        if expected is not None:
            torch.testing.assert_close(weights, expected, atol=1e-5, rtol=0)


def test_character_weights_without_attention_count_maxima(vocab):
    encoder = CharRNN(vocab, char_dim=5, dim=8, pooling="max").eval()
    weights = encoder.character_weights(Sentence("a dog"))
    states = encoder.states(encoder.collate(encoder.prepare([Sentence("a dog")])))[0]
    assert weights.tolist() == [sum(int(i == t) for i in states.argmax(0)) / 8 for t in range(5)]


@pytest.mark.parametrize(("kind", "pooling"), ENCODERS)
def test_gradients_agree_with_differences(vocab, kind, pooling):
    encoder = CharRNN(vocab, char_dim=3, dim=4, cell=kind, pooling=pooling, attention=2).double()
    batch = encoder.collate(encoder.prepare([Sentence("a dog"), Sentence("hi")]))
    names, weights = zip(*encoder.named_parameters(), strict=True)

    def pooled(*values):
        given = dict(zip(names, values, strict=True))
        return torch.func.functional_call(encoder, given, (batch,))

    encoder.forward = lambda batch: encoder.pool(encoder.states(batch), batch.mask)
    assert torch.autograd.gradcheck(pooled, weights)


def test_every_parameter_gets_a_gradient(encoder, sentences, embed):
    (embed(encoder, sentences) * torch.randn(8)).sum().backward()
    for name, parameter in encoder.named_parameters():
        if not name.endswith("out.bias"):  # a softmax over steps does not depend on it
            assert parameter.grad.abs().sum() > 0, name
    assert (encoder.table.weight[PAD] == 0).all()


@torch.no_grad()
def test_half_precision_stays_close(encoder, sentences, embed, monkeypatch):
    assert_half_precision_stays_close(encoder, sentences, embed, monkeypatch)


def test_case_and_punctuation_matter_and_unknown_characters_are_alike(encoder, embed):
    a, b, c, d, e = embed(encoder, [Sentence(t) for t in ("dog", "Dog", "dog.", "doé", "do犬")])
    assert len({tuple(x.tolist()) for x in (a, b, c, d)}) == 4
    assert torch.equal(d, e)


def test_dropout_acts_in_training_only(vocab, sentences, embed):
    encoder = CharRNN(vocab, char_dim=5, dim=8, dropout=0.5)
    assert not torch.equal(embed(encoder, sentences), embed(encoder, sentences))
    encoder.eval()
    assert torch.equal(embed(encoder, sentences), embed(encoder, sentences))


def test_words_are_dropped_in_training_only(vocab, sentences, embed):
    encoder = CharRNN(vocab, char_dim=5, dim=8, word_dropout=0.5)
    assert not torch.equal(embed(encoder, sentences), embed(encoder, sentences))
    encoder.eval()
    assert torch.equal(embed(encoder, sentences), embed(encoder, sentences))


def test_unknown_words_have_no_known_character(encoder):
    known, unknown = encoder.unknown(Sentence("Ein café, 犬 zxqy !"))
    assert (known, unknown) == (["ein", "café", "zxqy"], ["犬"])
    assert encoder.unknown(Sentence("犬が走る")) == ([], ["犬が走る"])
    assert encoder.unknown(Sentence("?!")) == ([], [])


def test_forget_bias_starts_at_1_and_odd_dim_is_refused(vocab):
    encoder = CharRNN(vocab, char_dim=5, dim=8, cell="lstm", pooling="max")
    bias = encoder.onward.bias_ih_l0 + encoder.onward.bias_hh_l0
    assert bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 8
    with pytest.raises(UserError, match="even dim, not 9"):
        CharRNN(vocab, char_dim=5, dim=9)


def test_batch_has_padded_ids_and_lengths(vocab):
    encoder = CharRNN(vocab, char_dim=5, dim=8, pooling="max")
    batch = encoder.collate(encoder.prepare([Sentence("aB"), Sentence(""), Sentence("é")]))
    a, b = (vocab.words.index(c) for c in "aB")
    assert batch.ids.tolist() == [[a, b], [EOS, PAD], [UNK, PAD]]
    assert vocab.words == (*SPECIAL, *string.printable)
    assert encoder.needs == {"chars"}
