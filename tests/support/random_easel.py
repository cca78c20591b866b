"""Weights of the image network Easel that find things anywhere in a picture."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from vsdemo.vision import backbones
from vsdemo.vision.backbones.easel import Easel


def use(patch: pytest.MonkeyPatch, file: Path) -> None:
    """Write random weights into a file, which takes the place of the one in checkpoints/."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Easel()
    nn.init.constant_(network.centres.bias, 2.0)  # every peak is certain
    file.parent.mkdir(parents=True, exist_ok=True)
    save_file(network.state_dict(), file)
    patch.setattr(backbones.FAMILIES["easel"], "file", file)
