"""Scores that are corrected for hubs."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.image import LinearImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.hubness import bank_sizes, correct_hubs, measure_hubs
from vsdemo.models.scores import SCORES

WORDS = ("dog", "cat", "bird", "horse")
DIM = len(WORDS)
SENTENCES = [Sentence(word) for word in WORDS]
# Photo 0 is more similar to each sentence than the sentence's own photo.
PHOTOS = torch.cat([torch.ones(1, DIM), torch.eye(DIM) + 0.1])


def new_model(size):
    """A model whose vector of a word is its own direction, and a part of all others."""
    vocab = Vocab.build(SENTENCES, 1)
    text = BagOfWords(vocab, word_dim=DIM, dim=DIM, layer=nn.Identity())
    with torch.no_grad():
        text.table.weight.zero_()
        for word, vector in zip(WORDS, torch.eye(DIM) + 1, strict=True):
            text.table.weight[vocab.encode(word)[0]] = vector
    image = LinearImage(DIM, DIM, layer=nn.Identity())
    return correct_hubs(DualEncoder(text, image, SCORES["cosine"]), size).eval()


def first_photos(model):
    return model.score(model.encode_text(SENTENCES), model.encode_image(PHOTOS)).argmax(1).tolist()


@pytest.fixture
def measured():
    model = new_model(DIM)
    measure_hubs(model, SENTENCES, PHOTOS[2:3])
    return model


def test_a_model_without_a_bank_is_left_as_it_is():
    model = new_model(0)
    assert model.score is SCORES["cosine"]
    assert bank_sizes(model) is None
    assert first_photos(model) == [0] * DIM


def test_hubs_change_nothing_before_they_are_measured():
    assert first_photos(new_model(DIM)) == [0] * DIM


def test_a_photo_that_is_like_all_sentences_falls_behind_the_right_ones(measured):
    assert bank_sizes(measured) == (DIM, 1)
    assert first_photos(measured) == [1, 2, 3, 4]


def test_bank_of_each_kind_is_of_the_other_kind(measured):
    torch.testing.assert_close(restored(measured.text.head), F.normalize(PHOTOS[2:3], dim=1))
    sentences = measured.encode_text(SENTENCES).x[:, :-1]
    torch.testing.assert_close(restored(measured.image.head), sentences)


def restored(head):
    """The vectors of a bank, all of whose directions are kept."""
    return head.bank @ head.axes + head.center
