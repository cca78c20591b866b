"""Facts that hold for every encoder of words, with all options."""

from itertools import product

import pytest
import torch

from tests.support.half_precision import assert_half_precision_stays_close
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import EOS, PAD, UNK
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.gru import POOLINGS, WordGRU
from vsdemo.encoders.heads import Head

ENCODERS = {
    "bow": lambda vocab, nonnegative: BagOfWords(
        vocab, word_dim=6, dim=8, head=Head(nonnegative=nonnegative)
    ),
    **{
        f"gru-{pooling}-{'both' if both else 'one'}": (
            lambda vocab, nonnegative, p=pooling, b=both: WordGRU(
                vocab,
                word_dim=6,
                dim=8,
                pooling=p,
                bidirectional=b,
                head=Head(nonnegative=nonnegative),
            )
        )
        for pooling, both in product(POOLINGS, (False, True))
    },
}


@pytest.fixture(params=ENCODERS)
def encoder(request, vocab):
    return ENCODERS[request.param](vocab, nonnegative=False).eval()


@torch.no_grad()
def test_embedding_does_not_depend_on_the_batch(encoder, sentences, embed):
    alone = torch.cat([embed(encoder, [s]) for s in sentences])
    torch.testing.assert_close(embed(encoder, sentences), alone, atol=1e-6, rtol=0)
    order = torch.tensor([4, 0, 5, 2, 1, 3])
    shuffled = embed(encoder, [sentences[i] for i in order])
    torch.testing.assert_close(shuffled, alone[order], atol=1e-6, rtol=0)
    assert torch.pdist(alone).min() > 1e-3  # nor are they all the same


@torch.no_grad()
def test_padding_ids_do_not_matter(encoder, sentences):
    batch = encoder.collate(encoder.prepare(sentences))
    dirty = batch.ids.masked_fill(batch.ids == PAD, 5)
    assert (dirty != batch.ids).any()
    torch.testing.assert_close(encoder(batch._replace(ids=dirty)).x, encoder(batch).x)


@torch.no_grad()
def test_unknown_words_share_one_vector(encoder, embed):
    zebra, yak, dog = embed(encoder, [Sentence(f"a {w} runs") for w in ("zebra", "yak", "dog")])
    assert torch.equal(zebra, yak)
    assert not torch.allclose(zebra, dog)


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("nonnegative", [False, True])
def test_rows_have_unit_length_and_the_right_sign(vocab, sentences, embed, name, nonnegative):
    x = embed(ENCODERS[name](vocab, nonnegative=nonnegative), sentences)
    assert x.shape == (len(sentences), 8)
    torch.testing.assert_close(x.norm(dim=1), torch.ones(len(sentences)))
    assert bool((x >= 0).all()) == nonnegative


def test_every_parameter_but_the_padding_gets_a_gradient(encoder, sentences, embed):
    embed(encoder, sentences)[:, 0].sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad.abs().sum() > 0, name
    used = {i for s in sentences for i in encoder.vocab.encode(s.text)}
    learned = set(encoder.table.weight.grad.abs().sum(1).nonzero().flatten().tolist())
    assert learned <= used
    if getattr(encoder, "pooling", None) != "max":  # a word may have no maximum
        assert learned == used
    assert (encoder.table.weight[PAD] == 0).all()


@torch.no_grad()
def test_half_precision_stays_close(encoder, sentences, embed, monkeypatch):
    assert_half_precision_stays_close(encoder, sentences, embed, monkeypatch)


def test_dropout_acts_in_training_only(vocab, sentences, embed):
    for encoder in (
        BagOfWords(vocab, word_dim=6, dim=8, dropout=0.5),
        WordGRU(vocab, word_dim=6, dim=8, dropout=0.5),
    ):
        assert not torch.equal(embed(encoder, sentences), embed(encoder, sentences))
        encoder.eval()
        assert torch.equal(embed(encoder, sentences), embed(encoder, sentences))


def test_batch_has_padded_ids_and_lengths(vocab, encoder):
    batch = encoder.collate(encoder.prepare([Sentence("a"), Sentence("zebra a")]))
    a = vocab.words.index("a")
    assert batch.ids.tolist() == [[a, EOS, PAD], [UNK, a, EOS]]
    assert batch.lengths.tolist() == [2, 3]
    assert batch.mask[..., 0].tolist() == [[True, True, False], [True, True, True]]
    assert encoder.needs == {"words"}
    assert encoder.dim == 8
