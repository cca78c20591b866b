"""DenseNet-169 with random weights, and a finder over it, in a folder of models."""

from pathlib import Path

import torch
import torchvision
from safetensors.torch import save_file
from torch import nn

from vsdemo.core import tensors
from vsdemo.vision.backbones import find_weights
from vsdemo.vision.backbones.families import BASE, BASE_HASH
from vsdemo.vision.backbones.finder import BoxHead, Finder
from vsdemo.vision.backbones.network import load_network

DENSENET = "torchvision/densenet169"


def write_densenet(models: Path) -> None:
    """Write random weights of DenseNet-169, whose norms keep the signal alive."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = torchvision.models.densenet169(weights=None)
        for norm in net.modules():
            if isinstance(norm, nn.BatchNorm2d):
                norm.momentum = 1
        with torch.no_grad():
            net(torch.randn(4, 3, 96, 96))
    state = {key: value.half().contiguous() for key, value in net.state_dict().items()}
    models.mkdir(parents=True, exist_ok=True)
    save_file(state, models / "densenet169_random.safetensors")


def write_finder(path: Path) -> None:
    """Write a finder with a random head over the DenseNet-169 of VSDEMO_DATA."""
    weights = find_weights(DENSENET)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Finder(load_network(weights))
        head = BoxHead()
        nn.init.normal_(head.out.weight, std=0.5)
    state = {f"head.{name}": value for name, value in head.state_dict().items()}
    state |= {f"principal.{k}": v for k, v in network.principal.state_dict().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors.write(path, tensors.to_half(state), {BASE: weights.name, BASE_HASH: weights.hash})
