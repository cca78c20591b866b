"""Several encoders as one: their mean, and their embeddings side by side."""

import pytest
import torch
from torch.nn.functional import normalize

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders import Encoder
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.chars import CharRNN
from vsdemo.encoders.heads import Head
from vsdemo.encoders.several import MeanEncoder, SideBySide


class Scale(Encoder):
    """Multiplies features by a factor."""

    needs = frozenset({"vector"})
    dim = 2

    def __init__(self, factor: float):
        super().__init__()
        self.factor = factor

    def prepare(self, items):
        return list(items)

    def collate(self, prepared):
        return torch.stack(list(prepared))

    def forward(self, batch):
        return Embeddings(self.factor * batch)


@pytest.mark.parametrize("unit", [False, True])
def test_embedding_is_the_mean_of_the_members(unit):
    x = torch.tensor([[3.0, 4.0], [0.0, 1.0]])
    mean = MeanEncoder([Scale(1.0), Scale(3.0)], unit=unit)
    expected = normalize(x) if unit else 2 * x
    torch.testing.assert_close(mean(mean.collate(mean.prepare(x))).x, expected)
    assert mean.needs == {"vector"}
    assert mean.dim == 2


def test_characters_are_weighed_if_every_member_does(vocab):
    characters = Vocab.build([], needs=frozenset({"chars"}))
    members = [CharRNN(characters, char_dim=5, dim=8) for _ in range(2)]
    mean = MeanEncoder(members, unit=True).eval()
    assert mean.weighs_characters
    sentence = Sentence("a dog")
    expected = (members[0].character_weights(sentence) + members[1].character_weights(sentence)) / 2
    torch.testing.assert_close(mean.character_weights(sentence), expected)
    words = BagOfWords(vocab, word_dim=6, dim=8)
    assert not MeanEncoder([members[0], words], unit=True).weighs_characters


def test_embeddings_stand_side_by_side(vocab):
    sentences = [Sentence("a dog"), Sentence("zebra"), Sentence("a red dog runs")]
    members = [BagOfWords(vocab, word_dim=6, dim=dim).eval() for dim in (8, 5)]
    both = SideBySide(members).eval()
    x = both(both.collate(both.prepare(sentences))).x
    parts = [m(m.collate(m.prepare(sentences))).x for m in members]
    assert torch.equal(x, torch.cat(parts, dim=1))
    assert both.dim == 13
    assert both.needs == {"words"}
    assert both.unknown(sentences[1]) == members[0].unknown(sentences[1])
    scaled = SideBySide(members, head=Head()).eval()
    torch.testing.assert_close(scaled(scaled.collate(scaled.prepare(sentences))).x, x / 2**0.5)


def test_members_that_read_the_same_tensors_can_share_them(vocab):
    members = [BagOfWords(vocab, word_dim=6, dim=8).eval() for _ in range(2)]
    both = MeanEncoder(members, unit=False).eval()
    assert both.inputs == ("ids", "lengths")
    batch = members[0].collate(members[0].prepare([Sentence("a dog"), Sentence("a red dog runs")]))
    expected = (members[0](batch).x + members[1](batch).x) / 2
    torch.testing.assert_close(both(both.batch_of(*batch)).x, expected)
    assert both.vocab == vocab


def test_members_with_different_vocabularies_cannot_share_ids(vocab):
    other = Vocab.build([Sentence("a zebra")])
    members = [BagOfWords(v, word_dim=6, dim=8) for v in (vocab, other)]
    assert MeanEncoder(members, unit=False).inputs == ()
