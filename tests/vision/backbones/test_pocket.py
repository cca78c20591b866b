"""Pocket: our own network, and errors for a missing or damaged file."""

import subprocess
import sys

import pytest
import torch
from safetensors.torch import save_file

from vsdemo.core.paths import ROOT
from vsdemo.vision.backbones import FAMILIES, find_weights, is_available
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.backbones.pocket import FEATURES, GROWTH, STAGES, DenseLayer, Pocket
from vsdemo.vision.backbones.weights import Weights


@pytest.fixture
def pocket_file(tmp_path, monkeypatch):
    """A file of random weights in place of the one in checkpoints/."""
    file = tmp_path / "model.safetensors"
    half = {k: t.half() if t.dim() > 1 else t for k, t in Pocket().state_dict().items()}
    save_file(half, file)
    assert file.stat().st_size <= 10_000_000
    monkeypatch.setattr(FAMILIES["pocket"], "file", file)
    return file


def test_shapes():
    network = Pocket().eval()
    with torch.no_grad():
        for side, places in ((224, 7), (160, 5), (100, 3)):
            vector, spatial = network(torch.rand(2, 3, side, side))
            assert vector.shape == (2, FEATURES)
            assert spatial.shape == (2, FEATURES, places, places)
            torch.testing.assert_close(vector, spatial.mean((2, 3)))
            assert vector.min() >= 0


def test_region_map_joins_both_blocks_place_by_place():
    pocket = Pocket().eval()
    pixels = torch.randn(2, 3, 96, 64)
    with torch.no_grad():
        fine, (_, last) = pocket.region_map(pixels), pocket(pixels)
    assert fine.shape == (2, FEATURES + STAGES[-1].inputs, 6, 4)
    before = fine[:, FEATURES:]
    torch.testing.assert_close(before.norm(dim=1), torch.ones(2, 6, 4))
    assert fine[:, :FEATURES].norm(dim=1).max() < 1.001
    corner = torch.nn.functional.normalize(last[:, :, 0, 0], dim=1)
    torch.testing.assert_close(fine[:, :FEATURES, 0, 0], corner)


def test_a_layer_adds_channels_to_its_input():
    layer = DenseLayer(8, 16).eval()
    x = torch.randn(2, 8, 5, 6)
    before = x.clone()
    with torch.no_grad():
        y = layer(x)
        reduced = layer.reduced_norm(layer.reduce(layer.norm(x).relu()))
        grown = layer.grow(reduced.relu())
    assert y.shape == (2, 8 + GROWTH, 5, 6)
    assert torch.equal(x, before)
    torch.testing.assert_close(y, torch.cat([before, grown], 1))


def test_every_weight_gets_a_gradient():
    network = Pocket()
    network(torch.rand(2, 3, 64, 64))[0].square().sum().backward()
    assert all(p.grad is not None for p in network.parameters())
    assert all(p.grad.abs().sum() > 0 for n, p in network.named_parameters() if "bias" not in n)


def test_weights_are_loaded(pocket_file):
    weights = find_weights("pocket")
    assert weights.path == pocket_file
    assert is_available("pocket")
    vector, spatial = Backbone(weights)(torch.zeros(1, 3, 224, 224, dtype=torch.uint8))
    assert vector.shape == (1, FEATURES)
    assert spatial.shape == (1, FEATURES, 7, 7)


def test_shipped_weights_are_small():
    weights = find_weights("pocket")
    assert weights.path == ROOT / "checkpoints" / "pocket" / "model.safetensors"
    assert weights.path.stat().st_size <= 10_000_000
    vector, spatial = Backbone(weights)(torch.zeros(1, 3, 224, 224, dtype=torch.uint8))
    assert vector.shape == (1, FEATURES)
    assert spatial.shape == (1, FEATURES, 7, 7)


def test_available_weights_need_no_download(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))
    names = ("torchvision/resnet18", "clip:ViT-B-32/openai", "torchvision/", "resnet18", "")
    assert not any(map(is_available, names))
    assert is_available("clip:ViT-B-32/random")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "resnet18_mine.safetensors").touch()
    assert is_available("torchvision/resnet18")
    downloaded = tmp_path / "hub" / "checkpoints" / "resnet50-0676ba61.pth"
    downloaded.parent.mkdir(parents=True)
    downloaded.touch()
    assert is_available("torchvision/resnet50")


def test_weights_can_be_random():
    assert Backbone(Weights("pocket", None, "random")).name == "pocket"


def test_pocket_does_without_torchvision():
    """Which takes seconds to import, and the first photos of a new app would wait for it."""
    code = """
import sys
from PIL import Image
from vsdemo.vision.features import FeatureCache
print(FeatureCache("pocket", "whole").encode([Image.new("RGB", (60, 40))]).shape[1])
print("torchvision" in sys.modules)
"""
    printed = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT)
    assert printed.split() == [str(FEATURES), "False"]
