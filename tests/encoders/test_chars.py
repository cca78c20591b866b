"""The towers over characters against plain loops, one sentence and one step at a time."""

import string
from itertools import product

import pytest
import torch

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import EOS, PAD, SPECIAL, UNK, Vocab
from vsdemo.encoders.chars import CELLS, POOLINGS, Attention, CharRNN

TEXTS = ("A dog.", "Two dogs run on green grass", "", "!", "a\u2009b", "Red, red; RED?")
TOWERS = list(product(CELLS, POOLINGS))


@pytest.fixture
def vocab():
    return Vocab.build([], needs=frozenset({"chars"}))


@pytest.fixture
def sentences():
    return [Sentence(t) for t in TEXTS]


@pytest.fixture(params=TOWERS, ids="-".join)
def tower(request, vocab):
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


def plain(tower, text: str):
    """An embedding and the attention's weights, by loops."""
    numbers = [tower.vocab.words.index(c) if c in string.printable else UNK for c in text]
    vectors = [tower.table.weight[i] for i in numbers or [EOS]]
    there, back = run(tower.onward, vectors), run(tower.backward, vectors[::-1])[::-1]
    states = [torch.cat(pair) for pair in zip(there, back, strict=True)]
    if tower.attention is None:
        pooled = torch.stack([max(h[d] for h in states) for d in range(8)])
        return pooled / pooled.norm(), None
    w, v = tower.attention.hidden, tower.attention.out
    e = [(v.weight @ (w.weight @ h + w.bias).tanh() + v.bias).exp() for h in states]
    total = torch.stack(e).sum(0)
    pooled = torch.stack([x / total * h for x, h in zip(e, states, strict=True)]).sum(0)
    return pooled / pooled.norm(), torch.stack([(x / total).mean() for x in e])


@torch.no_grad()
def test_a_batch_is_what_loops_give_for_each_sentence(tower, sentences, embed):
    expected = torch.stack([plain(tower, t)[0] for t in TEXTS])
    torch.testing.assert_close(embed(tower, sentences), expected, atol=1e-5, rtol=0)
    order = torch.tensor([4, 0, 5, 2, 1, 3])
    shuffled = embed(tower, [sentences[i] for i in order])
    torch.testing.assert_close(shuffled, expected[order], atol=1e-5, rtol=0)
    assert torch.pdist(expected).min() > 1e-3


@torch.no_grad()
def test_what_stands_in_the_padding_does_not_matter(tower, sentences):
    batch = tower.collate(tower.prepare(sentences))
    dirty = batch.ids.masked_fill(batch.ids == PAD, 50)
    assert (dirty != batch.ids).any()
    torch.testing.assert_close(tower(batch._replace(ids=dirty)).x, tower(batch).x)


@torch.no_grad()
def test_attention_by_loops_has_no_weight_on_padding():
    states, mask = torch.randn(3, 5, 6), torch.tensor([5, 2, 1])[:, None] > torch.arange(5)
    attention = Attention(6, 4)
    found = attention(states, mask[..., None])
    w, v = attention.hidden, attention.out
    for b, d in product(range(3), range(6)):
        e = [torch.exp(v(w(states[b, t]).tanh())[d]) if mask[b, t] else 0.0 for t in range(5)]
        for t in range(5):
            assert float(found[b, t, d]) == pytest.approx(float(e[t] / sum(e)), abs=1e-6)


@torch.no_grad()
def test_weights_of_characters(tower):
    for text in (*TEXTS, "x" * 200):
        found = tower.train().character_weights(Sentence(text))
        assert tower.training
        assert found.shape == (max(1, len(text)),)
        assert float(found.sum()) == pytest.approx(1, abs=1e-5)
        expected = plain(tower, text)[1]
        if expected is not None:
            torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_weights_without_attention_count_maxima(vocab):
    tower = CharRNN(vocab, char_dim=5, dim=8, pooling="max").eval()
    found = tower.character_weights(Sentence("a dog"))
    states = tower.states(tower.collate(tower.prepare([Sentence("a dog")])))[0]
    assert found.tolist() == [sum(int(i == t) for i in states.argmax(0)) / 8 for t in range(5)]


@pytest.mark.parametrize(("kind", "pooling"), TOWERS)
def test_gradients_in_double_precision(vocab, kind, pooling):
    tower = CharRNN(vocab, char_dim=3, dim=4, cell=kind, pooling=pooling, attention=2).double()
    batch = tower.collate(tower.prepare([Sentence("a dog"), Sentence("hi")]))
    names, weights = zip(*tower.named_parameters(), strict=True)

    def pooled(*values):
        given = dict(zip(names, values, strict=True))
        return torch.func.functional_call(tower, given, (batch,))

    tower.forward = lambda batch: tower.pool(tower.states(batch), batch.mask)
    assert torch.autograd.gradcheck(pooled, weights)


def test_every_parameter_learns(tower, sentences, embed):
    (embed(tower, sentences) * torch.randn(8)).sum().backward()
    for name, parameter in tower.named_parameters():
        if not name.endswith("out.bias"):  # a softmax over steps does not change by it
            assert parameter.grad.abs().sum() > 0, name
    assert (tower.table.weight[PAD] == 0).all()


@torch.no_grad()
def test_half_precision_stays_close(tower, sentences, embed, monkeypatch):
    monkeypatch.setattr("vsdemo.encoders.recurrent.fast_dtype", lambda: torch.bfloat16)
    full = embed(tower, sentences)
    with torch.autocast("cpu", torch.bfloat16):
        half = embed(tower, sentences)
    assert half.dtype == torch.float32
    assert not torch.equal(half, full)
    assert (half * full).sum(1).min() > 0.999


def test_case_and_punctuation_count_and_strange_characters_are_one(tower, embed):
    a, b, c, d, e = embed(tower, [Sentence(t) for t in ("dog", "Dog", "dog.", "doé", "do犬")])
    assert len({tuple(x.tolist()) for x in (a, b, c, d)}) == 4
    assert torch.equal(d, e)


def test_dropout_acts_in_training_only(vocab, sentences, embed):
    tower = CharRNN(vocab, char_dim=5, dim=8, dropout=0.5)
    assert not torch.equal(embed(tower, sentences), embed(tower, sentences))
    tower.eval()
    assert torch.equal(embed(tower, sentences), embed(tower, sentences))


def test_words_are_left_out_in_training_only(vocab, sentences, embed):
    tower = CharRNN(vocab, char_dim=5, dim=8, word_dropout=0.5)
    assert not torch.equal(embed(tower, sentences), embed(tower, sentences))
    tower.eval()
    assert torch.equal(embed(tower, sentences), embed(tower, sentences))


def test_words_that_are_passed_over(tower):
    known, unknown = tower.unknown(Sentence("Ein café, 犬 zxqy !"))
    assert (known, unknown) == (["ein", "café", "zxqy"], ["犬"])
    assert tower.unknown(Sentence("犬が走る")) == ([], ["犬が走る"])
    assert tower.unknown(Sentence("?!")) == ([], [])


def test_forgetting_starts_open_and_an_odd_dim_is_refused(vocab):
    tower = CharRNN(vocab, char_dim=5, dim=8, cell="lstm", pooling="max")
    bias = tower.onward.bias_ih_l0 + tower.onward.bias_hh_l0
    assert bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 8
    with pytest.raises(UserError, match="even dim, not 9"):
        CharRNN(vocab, char_dim=5, dim=9)


def test_a_batch_is_padded_numbers_and_lengths(vocab):
    tower = CharRNN(vocab, char_dim=5, dim=8, pooling="max")
    batch = tower.collate(tower.prepare([Sentence("aB"), Sentence(""), Sentence("é")]))
    a, b = (vocab.words.index(c) for c in "aB")
    assert batch.ids.tolist() == [[a, b], [EOS, PAD], [UNK, PAD]]
    assert vocab.words == (*SPECIAL, *string.printable)
    assert tower.needs == {"chars"}
