"""Scaling of features, of which small ones may count as much as large ones."""

import pytest
import torch

from vsdemo.encoders.standardize import EPS, LIMIT, SMALL_EPS, Standardize


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
    layer = Standardize(3, SMALL_EPS)
    in_training = layer(features)
    torch.testing.assert_close(in_training.mean(0), torch.zeros(3), atol=1e-3, rtol=0)
    torch.testing.assert_close(in_training.std(0), torch.ones(3), atol=0.02, rtol=0)
    afterwards = trained(layer, features)(features)
    torch.testing.assert_close(afterwards.std(0), torch.ones(3), atol=0.02, rtol=0)


def test_small_features_stay_small_with_a_larger_eps(features):
    scaled = trained(Standardize(3, EPS), features)(features)
    assert scaled[:, 0].std() < 0.01
    torch.testing.assert_close(scaled[:, 2].std(), torch.tensor(1.0), atol=0.02, rtol=0)


def test_a_feature_that_was_constant_in_training_stays_bounded(features):
    features[:, 0] = 0
    layer = trained(Standardize(3, SMALL_EPS), features)
    assert layer(torch.full((1, 3), 0.5)).abs().max() == LIMIT


def test_a_layer_survives_saving_and_loading(features):
    layer = trained(Standardize(3, SMALL_EPS), features)
    again = Standardize(3, SMALL_EPS).eval()
    again.load_state_dict({**layer.state_dict()})
    assert torch.equal(again(features), layer(features))


def test_parts_of_a_batch_are_scaled_as_one(features):
    layer = Standardize(3, SMALL_EPS).train()
    whole = Standardize(3, SMALL_EPS).train()(features)
    layer.observe(features)
    parts = torch.cat([layer(part) for part in features.split(20)])
    torch.testing.assert_close(parts, whole, rtol=1e-4, atol=1e-4)
