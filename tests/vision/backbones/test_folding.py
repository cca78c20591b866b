"""Folded norms: the same vectors and maps by fewer layers."""

import pytest
import torch
import torchvision
from torch import nn

from vsdemo.core.images import open_photo
from vsdemo.data import datasets
from vsdemo.vision.backbones import find_weights
from vsdemo.vision.backbones.folding import fold_norms
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.backbones.pocket import Pocket

# One of each kind of block, and the norms that stay.
STAYING = {
    "densenet121": 62,
    "efficientnet_b0": 0,
    "efficientnet_v2_s": 0,
    "mobilenet_v2": 0,
    "mobilenet_v3_small": 0,
    "resnet18": 0,
    "resnet50": 0,
    "vgg11_bn": 0,
}


def norms(net: nn.Module) -> list[nn.BatchNorm2d]:
    return [module for module in net.modules() if isinstance(module, nn.BatchNorm2d)]


@pytest.mark.parametrize("name", STAYING)
def test_a_folded_network_computes_the_same(name):
    """In double precision, as deep networks with random weights magnify rounding."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = torchvision.models.get_model(name, weights=None).double()
        photos = torch.randn(4, 3, 64, 64, dtype=torch.float64)
        for norm in norms(net):
            norm.momentum = 1
            nn.init.normal_(norm.weight, mean=1, std=0.2)
            nn.init.normal_(norm.bias, std=0.2)
    with torch.no_grad():
        net(photos)  # the statistics of the norms
        net.eval()
        expected = net(photos)
        fold_norms(net)
        torch.testing.assert_close(net(photos), expected, rtol=1e-6, atol=1e-6)
    assert len(norms(net)) == STAYING[name]


def test_folding_pocket_changes_features_by_less_than_their_rounding(float32):
    """So features that were cached before stay valid, and VERSION need not be raised."""
    weights = find_weights("pocket")
    folded, plain = Backbone(weights), Backbone(weights)
    plain.net = Pocket(weights.path).eval()
    assert len(norms(plain.net)) == 94
    assert len(norms(folded.net)) == 48  # those that come before their convolution stay
    photos = [open_photo(path) for path in datasets.load("storybook", "test", limit=8).photos]
    views = torch.stack([folded.views(photo, "whole") for photo in photos])
    boxes = torch.tensor([[0, 0, 1, 1], [0.2, 0.3, 0.6, 0.8]]).expand(len(views), 2, 4)
    features, expected = (
        [network.encode(views), network.encode_regions(views[:, 0], boxes)]
        for network in (folded, plain)
    )
    half = torch.finfo(torch.float16)
    rounding = {"rtol": half.eps / 2, "atol": half.tiny * half.eps / 2}
    torch.testing.assert_close(features, expected, **rounding)
