"""torchvision's classifiers as backbones."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any, Self

from PIL.Image import Resampling
from torch import Tensor, nn
from torchvision import models
from torchvision.models.densenet import _Transition

from vsdemo.core.errors import UserError
from vsdemo.vision.backbones.folding import fold_norms
from vsdemo.vision.backbones.network import Network
from vsdemo.vision.backbones.weights import read
from vsdemo.vision.crops import IMAGENET_MEAN, IMAGENET_STD, InputSpec

LAST_STAGES = ("features", "layer4")  # names of the module whose output is the last map


class Classifier(Network):
    """A torchvision network without its last linear layer.

    The vector is what that layer would read (B, D), the map that of the last stage (B, C, h, w).

    Args:
        name: Name of the network in `torchvision.models`.
        path: File of weights.

    Raises:
        UserError: If there is no such network, or it has no spatial map or no linear layer.
    """

    spec = InputSpec(
        size=224,
        short=256,
        region_size=384,
        resampling=Resampling.BILINEAR,
        mean=IMAGENET_MEAN,
        std=IMAGENET_STD,
    )

    def __init__(self, name: str, path: Path) -> None:
        super().__init__()
        if name not in models.list_models(module=models):
            raise UserError(f"torchvision has no image network {name!r}; use densenet169.")
        net: Any = models.get_model(name, weights=None)
        modules = dict(net.named_children())
        last_stage = next((modules[n] for n in LAST_STAGES if n in modules), None)
        linear = [n for n, module in net.named_modules() if isinstance(module, nn.Linear)]
        # Swin Transformers have `features` too, but with the channels last.
        if last_stage is None or not linear or isinstance(net, models.SwinTransformer):
            raise UserError(f"torchvision/{name} has no spatial map; use a convolutional network.")
        net.set_submodule(linear[-1], nn.Identity())
        self.net = net
        self._load_weights(path)
        fold_norms(net.eval())
        if isinstance(net, models.DenseNet):  # its last ReLU is not part of `features`
            _pool_before_convolutions(net)
            net.features = last_stage = nn.Sequential(last_stage, nn.ReLU())
        self._local = threading.local()  # threads share the network, but not the map
        last_stage.register_forward_hook(self._keep)

    @classmethod
    def load(cls, name: str, path: Path | None) -> Self:
        """Build the network and load its weights."""
        if path is None:
            raise UserError(f"torchvision/{name} needs a file of weights.")
        return cls(name, path)

    def _load_weights(self, path: Path) -> None:
        """Load a file. Raises RuntimeError if tensors are missing."""
        own = self.net.state_dict().keys()
        state = {}
        for name, tensor in read(path).items():
            # Older DenseNet files name their layers norm.1 and conv.2 instead of norm1 and conv2.
            renamed = name if name in own else re.sub(r"(norm|conv)\.([12])", r"\1\2", name)
            state[renamed] = tensor
        missing, _ = self.net.load_state_dict(state, strict=False)
        missing = [name for name in missing if not name.endswith("num_batches_tracked")]
        if missing:
            raise RuntimeError(f"{len(missing)} tensors are missing, such as {missing[0]}")

    def _keep(self, module: nn.Module, inputs: tuple[Tensor], output: Tensor) -> None:
        self._local.map = output

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the vector (B, D) and the map (B, C, h, w) of pixels (B, 3, H, W)."""
        vector = self.net(pixels)
        return vector, self._local.map

    def split(self) -> tuple[nn.Module, nn.Module]:
        """Split a DenseNet or a ResNet before its last block of layers."""
        if isinstance(self.net, models.DenseNet):
            *first, block, norm = self.net.features[0].children()
            return nn.Sequential(*first), nn.Sequential(block, norm, nn.ReLU())
        if isinstance(self.net, models.ResNet):
            *first, block, _, _ = self.net.children()  # pooling and classifier are last
            return nn.Sequential(*first), block
        return super().split()


def _pool_before_convolutions(net: models.DenseNet) -> None:
    """Let the transitions between blocks pool before they convolve.

    The result is the same, as a 1x1 convolution is linear, but it takes a quarter of the work.
    """
    for module in net.modules():
        if isinstance(module, _Transition):
            conv = module.conv
            del module.conv
            module.conv = conv  # now the last
