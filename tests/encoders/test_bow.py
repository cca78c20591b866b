import pytest
import torch
from torch.nn.functional import normalize

from vsdemo.core.sentences import Sentence
from vsdemo.encoders.bow import BagOfWords, DeepSet
from vsdemo.encoders.heads import Head


@torch.no_grad()
def test_embedding_is_a_linear_layer_of_the_mean_word_vector(vocab, sentences, embed):
    encoder = BagOfWords(vocab, word_dim=6, dim=8, head=Head(nonnegative=True))
    for sentence, x in zip(sentences, embed(encoder, sentences), strict=True):
        vectors = torch.stack([encoder.table.weight[i] for i in vocab.encode(sentence.text)])
        layer = encoder.linear.weight @ vectors.mean(0) + encoder.linear.bias
        torch.testing.assert_close(x, normalize(layer, dim=0).abs())


@torch.no_grad()
def test_deep_set_is_its_equation(vocab, sentences, embed):
    encoder = DeepSet(vocab, word_dim=6, dim=8)
    for sentence, x in zip(sentences, embed(encoder, sentences), strict=True):
        words = [encoder.table.weight[i] for i in vocab.encode(sentence.text)]
        a, b = encoder.hidden.weight, encoder.hidden.bias
        hidden = torch.stack([(a @ word + b).clamp(min=0) for word in words])
        layer = encoder.linear(hidden.mean(0) + hidden.max(0).values)
        torch.testing.assert_close(x, normalize(layer, dim=0))


@pytest.mark.parametrize("kind", [BagOfWords, DeepSet])
@torch.no_grad()
def test_word_order_does_not_matter(kind, vocab, embed):
    encoder = kind(vocab, word_dim=6, dim=8)
    x = embed(encoder, [Sentence("a red dog runs"), Sentence("runs dog a red")])
    torch.testing.assert_close(x[0], x[1])
