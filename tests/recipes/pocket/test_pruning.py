"""What Pocket starts from: a DenseNet without the parts that matter least."""

import copy
from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torchvision.models import DenseNet

from vsdemo.recipes.pocket import pruning
from vsdemo.vision.backbones import pocket
from vsdemo.vision.backbones.folding import fold_norms
from vsdemo.vision.backbones.pocket import GROWTH, Stage

LAYERS = (2, 3, 2, 2)
BOTTLENECK = GROWTH
WIDTHS = (64, 64, 80, 72)  # of the DenseNet below


@pytest.fixture(scope="module")
def net():
    """Return a small DenseNet whose norms have statistics of their own."""
    torch.manual_seed(0)
    dense = DenseNet(GROWTH, LAYERS, num_init_features=64, bn_size=1)
    for module in dense.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, std=0.3)
            nn.init.normal_(module.running_mean, std=0.3)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    fold_norms(dense.eval().requires_grad_(False))
    return dense.features


@pytest.fixture(scope="module")
def crops():
    return torch.randn(32, 3, 160, 160, generator=torch.Generator().manual_seed(1))


def last_map(net, crops):
    with torch.no_grad():
        return F.relu(net(crops))


def set_sizes(patch, layers, bottleneck, features, widths=WIDTHS):
    stages = tuple(Stage(w, n, bottleneck) for w, n in zip(widths, layers, strict=True))
    for module in (pocket, pruning):
        patch.setattr(module, "STAGES", stages)
        patch.setattr(module, "FEATURES", features)


@pytest.fixture
def basis(net, crops):
    channels = last_map(net, crops).shape[1]
    directions = torch.randn(channels, 5, generator=torch.Generator().manual_seed(2))
    return last_map(net, crops).mean((0, 2, 3)), directions


def test_nothing_is_lost_if_all_parts_stay(net, crops, basis, monkeypatch):
    monkeypatch.setattr(pruning, "RIDGE", 1e-7)
    monkeypatch.setattr(pruning, "autocast", nullcontext)  # bfloat16 is less exact
    channels = last_map(net, crops).shape[1]
    set_sizes(monkeypatch, LAYERS, BOTTLENECK, channels)
    student, _ = pruning.prune(net, crops, *basis)
    with torch.no_grad():
        _, spatial = student.eval()(crops)
    torch.testing.assert_close(spatial, last_map(net, crops), atol=0.05, rtol=0.05)


def test_the_view_is_that_of_the_teacher(net, crops, basis, monkeypatch):
    set_sizes(monkeypatch, LAYERS, BOTTLENECK, last_map(net, crops).shape[1])
    student, view = pruning.prune(net, crops, *basis)
    mean, directions = basis
    with torch.no_grad():
        mine = view(student.eval()(crops)[1])
        cells = last_map(net, crops) - mean[:, None, None]
        theirs = torch.einsum("bchw,ck->bkhw", cells, directions)
    assert (mine - theirs).square().mean() < 0.02 * theirs.square().mean()


def test_a_part_without_effect_is_left_out(net, crops, basis, monkeypatch):
    """The output of a layer of block 2 is zero, and one channel within another layer."""
    changed = copy.deepcopy(net)
    layers = list(changed.denseblock2.children())
    nn.init.zeros_(layers[1].conv2.weight)
    with torch.no_grad():
        layers[0].conv2.weight[:, 7] = 0
    importance = pruning.measure(changed, crops, basis[1])
    assert importance.layers[1, 1] == 0
    assert importance.layers[1, 0] > 0
    assert importance.bottlenecks[1, 0].argmin() == 7
    set_sizes(monkeypatch, (2, 2, 2, 2), BOTTLENECK, 64)
    assert importance.kept_layers(1) == [0, 2]


def test_importance_agrees_with_its_formula(net, crops, basis):
    """With a large bias the last ReLU changes nothing, and the map is linear in the last layer."""
    changed = copy.deepcopy(net)
    nn.init.constant_(changed.norm5.bias, 100.0)
    few = crops[: pruning.CHUNK]
    importance = pruning.measure(changed, few, basis[1])
    with torch.no_grad():
        computed = pruning.outputs(changed, few)
    generator = torch.Generator().manual_seed(0)
    view = torch.einsum("bchw,ck->bkhw", computed.last, basis[1])
    signs = (2 * torch.randint(2, view.shape, generator=generator) - 1).float()
    norm = changed.norm5
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    gradient = torch.einsum("bkhw,ck->bchw", signs, basis[1]) * scale[:, None, None]
    added = computed.layers[3, 1]
    change = (added - added.mean((0, 2, 3), keepdim=True)) * gradient[:, -GROWTH:]
    expected = change.sum((1, 2, 3)).square().sum()
    assert importance.layers[3, 1] == pytest.approx(float(expected), rel=1e-2)


def test_what_is_kept_explains_part_of_new_crops(net, crops, basis, monkeypatch):
    set_sizes(monkeypatch, (2, 2, 1, 2), 24, 64)
    student, view = pruning.prune(net, crops, *basis)
    new = torch.randn(crops.shape, generator=torch.Generator().manual_seed(3))
    mean, directions = basis
    with torch.no_grad():
        mine = view(student.eval()(new)[1])
        cells = last_map(net, new) - mean[:, None, None]
        theirs = torch.einsum("bchw,ck->bkhw", cells, directions)
    assert (mine - theirs).square().mean() < 0.8 * theirs.var((0, 2, 3)).mean()


def test_a_pruned_network_computes_the_same_in_training(net, crops, basis, monkeypatch):
    """The norms have the statistics of the crops."""
    set_sizes(monkeypatch, (2, 2, 1, 2), 24, 64)
    student, _ = pruning.prune(net, crops, *basis)
    with torch.no_grad():
        measured = student.eval()(crops)[0]
        trained = student.train()(crops)[0]
    torch.testing.assert_close(trained, measured, atol=0.05, rtol=0.05)
