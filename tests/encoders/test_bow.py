import torch
from torch.nn.functional import normalize

from vsdemo.core.sentences import Sentence
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.heads import Head


@torch.no_grad()
def test_embedding_is_a_linear_layer_of_the_mean_word_vector(vocab, sentences, embed):
    encoder = BagOfWords(vocab, word_dim=6, dim=8, head=Head(nonnegative=True))
    for sentence, x in zip(sentences, embed(encoder, sentences), strict=True):
        vectors = torch.stack([encoder.table.weight[i] for i in vocab.encode(sentence.text)])
        layer = encoder.linear.weight @ vectors.mean(0) + encoder.linear.bias
        torch.testing.assert_close(x, normalize(layer, dim=0).abs())


@torch.no_grad()
def test_word_order_does_not_matter(vocab, embed):
    encoder = BagOfWords(vocab, word_dim=6, dim=8)
    x = embed(encoder, [Sentence("a red dog runs"), Sentence("runs dog a red")])
    torch.testing.assert_close(x[0], x[1])
