"""Hubs: how similar items are to items of the other kind in general."""

import math

import pytest
import torch
from torch import nn

from vsdemo.encoders import hubness
from vsdemo.encoders.heads import Head
from vsdemo.encoders.hubness import SHARPNESS, HubHead, append_hubs, hub_head
from vsdemo.encoders.image import LinearImage

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


def test_few_directions_are_enough(monkeypatch):
    """For a bank that varies in two directions only."""
    monkeypatch.setattr(hubness, "RANK", 2)
    bank = torch.randn(9, 2, generator=torch.Generator().manual_seed(1)) @ vectors(2, 2)
    head = HubHead(Head(), DIM, 9).eval()
    head.measure(bank, bank)
    assert head.bank.shape == (9, 2)
    x = vectors(3, 3)
    expected = torch.tensor([by_loops(y, bank.tolist()) for y in x.tolist()])
    torch.testing.assert_close(head(x)[:, -1] + head.mean, expected)


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
        head.measure(vectors(5, 1), vectors(7, 2))
        torch.testing.assert_close(head(x), expected)


def test_an_encoder_with_hubs_has_one_more_dimension():
    encoder = LinearImage(3, DIM).eval()
    assert hub_head(encoder) is None
    append_hubs(encoder, 5)
    assert encoder.dim == DIM + 1
    assert encoder(torch.ones(2, 3)).x.shape == (2, DIM + 1)
    assert hub_head(encoder) is encoder.head
