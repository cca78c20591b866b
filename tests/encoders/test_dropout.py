"""Dropout of words agrees with a loop over them; rates before and after the first phase."""

import pytest
import torch

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import PAD, Vocab
from vsdemo.encoders.chars import CharRNN
from vsdemo.encoders.dropout import LateDropout, WordDropout

TEXTS = ("A dog.", "Two dogs run on green grass", "", "!", "a\u2009b", " Red,  red; RED? ")


@pytest.fixture
def batch():
    encoder = CharRNN(Vocab.build([], needs=frozenset({"chars"})), char_dim=5, dim=8)
    return encoder.vocab, encoder.collate(encoder.prepare([Sentence(t) for t in TEXTS]))


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.9, 1.0])
def test_words_are_dropped_with_the_space_before_them(batch, rate):
    vocab, words = batch
    torch.manual_seed(3)
    draws = torch.rand(words.ids.shape) >= rate
    expected = []
    for text, keep in zip(TEXTS, draws.tolist(), strict=True):
        parts = text.split(" ")
        kept = "".join(" " * (i > 0) + w for i, w in enumerate(parts) if keep[i])
        expected.append(vocab.encode_characters(kept or text))
    torch.manual_seed(3)
    result = WordDropout(rate, vocab.encode_characters(" ")[0])(words)
    assert result.lengths.tolist() == [len(e) for e in expected]
    assert result.ids.shape[1] == max(result.lengths)
    for row, e in zip(result.ids.tolist(), expected, strict=True):
        assert row == e + [PAD] * (result.ids.shape[1] - len(e))


def test_words_are_dropped_in_the_late_phase_of_training_only(batch):
    vocab, words = batch
    dropout = WordDropout(0.9, vocab.encode_characters(" ")[0])
    assert dropout(words).lengths.sum() < words.lengths.sum()
    dropout.is_late = False
    assert dropout(words) is words
    dropout.is_late = True
    assert dropout.eval()(words) is words


def test_rates_of_the_early_and_the_late_phase():
    dropout, x = LateDropout(early=0.2, late=0.6), torch.ones(10_000)
    assert (dropout(x) == 0).float().mean() == pytest.approx(0.6, abs=0.03)
    assert dropout(x).mean() == pytest.approx(1, abs=0.05)
    dropout.is_late = False
    assert (dropout(x) == 0).float().mean() == pytest.approx(0.2, abs=0.03)
    assert torch.equal(dropout.eval()(x), x)
