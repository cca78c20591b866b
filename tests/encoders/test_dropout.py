"""Dropout of words against a loop over them, and when it begins."""

import pytest
import torch

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import PAD, Vocab
from vsdemo.encoders.chars import CharRNN
from vsdemo.encoders.dropout import LateDropout, WordDropout

TEXTS = ("A dog.", "Two dogs run on green grass", "", "!", "a\u2009b", " Red,  red; RED? ")


@pytest.fixture
def batch():
    tower = CharRNN(Vocab.build([], needs=frozenset({"chars"})), char_dim=5, dim=8)
    return tower.vocab, tower.collate(tower.prepare([Sentence(t) for t in TEXTS]))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
def test_words_are_left_out_with_the_space_before_them(batch, share):
    vocab, words = batch
    torch.manual_seed(3)
    drawn = torch.rand(words.ids.shape) >= share
    expected = []
    for text, keep in zip(TEXTS, drawn.tolist(), strict=True):
        parts = text.split(" ")
        kept = "".join(" " * (i > 0) + w for i, w in enumerate(parts) if keep[i])
        expected.append(vocab.encode_characters(kept or text))
    torch.manual_seed(3)
    found = WordDropout(share, vocab.encode_characters(" ")[0])(words)
    assert found.lengths.tolist() == [len(e) for e in expected]
    assert found.ids.shape[1] == max(found.lengths)
    for row, e in zip(found.ids.tolist(), expected, strict=True):
        assert row == e + [PAD] * (found.ids.shape[1] - len(e))


def test_words_are_left_out_in_training_and_once_it_has_begun(batch):
    vocab, words = batch
    dropout = WordDropout(0.9, vocab.encode_characters(" ")[0])
    assert dropout(words).lengths.sum() < words.lengths.sum()
    dropout.is_late = False
    assert dropout(words) is words
    dropout.is_late = True
    assert dropout.eval()(words) is words


def test_numbers_are_set_to_0_early_and_late():
    dropout, x = LateDropout(0.2, 0.6), torch.ones(10_000)
    assert (dropout(x) == 0).float().mean() == pytest.approx(0.6, abs=0.03)
    assert dropout(x).mean() == pytest.approx(1, abs=0.05)
    dropout.is_late = False
    assert (dropout(x) == 0).float().mean() == pytest.approx(0.2, abs=0.03)
    assert torch.equal(dropout.eval()(x), x)
