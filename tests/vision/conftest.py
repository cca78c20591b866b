"""Networks with random weights, made once a session, and folders for weights."""

from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
import torchvision
from safetensors.torch import save_file
from torch import nn

from vsdemo.vision.backbones import network as networks
from vsdemo.vision.backbones.detectors import SSDLITE


def keep_signal(net: nn.Module, pixels: torch.Tensor) -> None:
    """Make sure that a signal does not die out on its way through random layers.

    Norms take the statistics of `pixels`; networks without norms get larger weights.
    """
    norms = [m for m in net.modules() if isinstance(m, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1
    with torch.no_grad():
        if norms:
            net(pixels)
            return
        for module in net.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")


@pytest.fixture(scope="session")
def random_network(tmp_path_factory):
    """Builds a torchvision network and its file in half precision, once for each name."""
    folder = tmp_path_factory.mktemp("networks")
    made: dict[str, tuple[nn.Module, Path]] = {}

    def make(name: str) -> tuple[nn.Module, Path]:
        if name not in made:
            with torch.random.fork_rng():
                torch.manual_seed(0)
                net = torchvision.models.get_model(name, weights=None)
                keep_signal(net, torch.randn(8, 3, 224, 224))
            net.eval().half().float()
            file = folder / f"{name}_random.safetensors"
            save_file({k: t.half().contiguous() for k, t in net.state_dict().items()}, file)
            made[name] = net, file
        return made[name]

    return make


@pytest.fixture(scope="session")
def random_ssdlite(tmp_path_factory):
    """torchvision's SSDlite with random weights, and its file."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = torchvision.models.get_model(SSDLITE, weights=None, weights_backbone=None)
        for norm in net.modules():
            if isinstance(norm, nn.BatchNorm2d):
                norm.momentum = 1
        with torch.no_grad():
            net.head(list(net.backbone(torch.randn(4, 3, 320, 320)).values()))
    file = tmp_path_factory.mktemp("ssdlite") / f"{SSDLITE}_random.safetensors"
    save_file({k: t.contiguous() for k, t in net.state_dict().items()}, file)
    return net.eval(), file


@pytest.fixture
def models_folder(tmp_path, monkeypatch):
    """An empty models/ folder in a VSDEMO_DATA of the test's own."""
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


@pytest.fixture
def float32(monkeypatch):
    """Backbones compute in float32."""
    monkeypatch.setattr(networks, "autocast", nullcontext)
