"""Scaling of features: small ones count, and older checkpoints compute what they did."""

import pytest
import torch
from torch import nn

from vsdemo.encoders.standardize import EARLIER_EPS, LIMIT, Standardize


@pytest.fixture
def features():
    """Features of 64 photos whose sizes differ by a factor of 10,000, (64, 3)."""
    torch.manual_seed(0)
    return torch.rand(64, 3) * torch.tensor([1e-5, 1e-3, 1e-1])


def trained(layer, features):
    layer.train()
    for _ in range(100):
        layer(features)
    return layer.eval()


def test_small_features_are_scaled_like_large_ones(features):
    layer = Standardize(3)
    in_training = layer(features)
    torch.testing.assert_close(in_training.mean(0), torch.zeros(3), atol=1e-3, rtol=0)
    torch.testing.assert_close(in_training.std(0), torch.ones(3), atol=0.02, rtol=0)
    afterwards = trained(layer, features)(features)
    torch.testing.assert_close(afterwards.std(0), torch.ones(3), atol=0.02, rtol=0)


def test_a_feature_that_was_constant_in_training_stays_bounded(features):
    features[:, 0] = 0
    layer = trained(Standardize(3), features)
    assert layer(torch.full((1, 3), 0.5)).abs().max() == LIMIT


def test_an_older_checkpoint_scales_as_before(features):
    older = trained(nn.BatchNorm1d(3, affine=False), features)
    assert older.eps == EARLIER_EPS
    layer = Standardize(3).eval()
    layer.load_state_dict(older.state_dict())
    torch.testing.assert_close(layer(features), older(features), rtol=1e-4, atol=1e-5)


def test_a_layer_survives_saving_and_loading(features):
    layer = trained(Standardize(3), features)
    again = Standardize(3).eval()
    again.load_state_dict({**layer.state_dict()})
    assert torch.equal(again(features), layer(features))


def test_parts_of_a_batch_are_scaled_as_one(features):
    layer = Standardize(3).train()
    whole = Standardize(3).train()(features)
    layer.observe(features)
    parts = torch.cat([layer(part) for part in features.split(20)])
    torch.testing.assert_close(parts, whole, rtol=1e-4, atol=1e-4)
