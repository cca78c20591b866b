"""Hubs: how similar items are to items of the other kind in general."""

import math

import pytest
import torch
from torch import nn

from vsdemo.encoders.heads import Head
from vsdemo.encoders.hubs import SHARPNESS, HubHead, hub_head, with_hubs
from vsdemo.encoders.image import LinearImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import SCORES

DIM = 4


def vectors(count, seed):
    draw = torch.Generator().manual_seed(seed)
    return nn.functional.normalize(torch.randn(count, DIM, generator=draw), dim=-1)


@pytest.fixture
def head():
    return HubHead(Head(), DIM, 5).eval()


def by_loops(x, bank):
    """The similarity of x to the bank, from its equation."""
    powers = [math.exp(SHARPNESS * sum(a * b for a, b in zip(x, y, strict=True))) for y in bank]
    return math.log(sum(powers) / len(powers)) / SHARPNESS


def test_hubs_equal_plain_loops(head):
    bank, same, x = vectors(5, 1), vectors(7, 2), vectors(3, 3)
    head.measure(bank, same)
    mean = sum(by_loops(y, bank.tolist()) for y in same.tolist()) / 7
    expected = [by_loops(y, bank.tolist()) - mean for y in x.tolist()]
    result = head(2 * x)
    torch.testing.assert_close(result[:, :-1], x)
    torch.testing.assert_close(result[:, -1], torch.tensor(expected))


def test_hubs_of_the_sample_are_0_on_average(head):
    same = vectors(7, 2)
    head.measure(vectors(5, 1), same)
    assert head(same)[:, -1].mean().abs() < 1e-6


def test_hubs_are_0_before_they_are_measured(head):
    assert head(vectors(3, 3))[:, -1].tolist() == [0, 0, 0]


def test_hubs_are_0_in_training(head):
    head.measure(vectors(5, 1), vectors(7, 2))
    assert head.train()(vectors(3, 3))[:, -1].tolist() == [0, 0, 0]


def test_hubs_are_in_full_precision(head):
    head.measure(vectors(5, 1), vectors(7, 2))
    x = vectors(3, 3)
    expected = head(x)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(head(x), expected)


def test_no_bank_leaves_an_encoder_as_it_is():
    encoder = with_hubs(LinearImage(3, DIM), 0)
    assert encoder.dim == DIM
    assert hub_head(encoder) is None


def test_an_encoder_with_hubs_has_one_more_dimension():
    encoder = with_hubs(LinearImage(3, DIM), 5).eval()
    assert encoder.dim == DIM + 1
    assert encoder(torch.ones(2, 3)).x.shape == (2, DIM + 1)


def test_a_photo_like_all_sentences_falls_behind_the_right_one():
    """Sentences 1 to 4 are nearest to their own photos; photo 0 is in the middle of them all."""
    sentences = nn.functional.normalize(torch.eye(DIM) + 1, dim=-1)
    middle = torch.ones(1, DIM)
    photos = torch.cat([middle, torch.eye(DIM) + 0.1])
    image = with_hubs(LinearImage(DIM, DIM, layer=nn.Identity()), DIM)
    text = with_hubs(LinearImage(DIM, DIM, layer=nn.Identity()), DIM)
    model = DualEncoder(text, image, SCORES["hub_corrected"]).eval()
    before = model.score(model._encode(text, sentences), model.encode_image(photos))
    assert before.argmax(1).tolist() == [0] * DIM
    head = hub_head(image)
    head.measure(sentences, nn.functional.normalize(photos, dim=-1))
    after = model.score(model._encode(text, sentences), model.encode_image(photos))
    assert after.argmax(1).tolist() == [1, 2, 3, 4]
