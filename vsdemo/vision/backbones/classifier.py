"""torchvision's classifiers as backbones."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import torchvision
from PIL.Image import Resampling
from torch import Tensor, nn

from vsdemo.core.errors import UserError
from vsdemo.vision.backbones.weights import read

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


class Classifier(nn.Module):
    """A torchvision network without its classifier: pixels -> vector, last spatial map."""

    size, short, resampling, mean_std = 224, 256, Resampling.BILINEAR, IMAGENET
    large = 384  # the side of a photo whose regions are wanted

    def __init__(self, name: str, path: Path) -> None:
        super().__init__()
        if name not in torchvision.models.list_models(module=torchvision.models):
            raise UserError(f"torchvision has no image network {name!r}.")
        self.net = net = torchvision.models.get_model(name, weights=None)
        spatial = getattr(net, "features", None) or getattr(net, "layer4", None)
        linear = [n for n, m in net.named_modules() if isinstance(m, nn.Linear)]
        if spatial is None or not linear or isinstance(net, torchvision.models.SwinTransformer):
            raise UserError(f"torchvision/{name} has no spatial map; use a convolutional network.")
        net.set_submodule(linear[-1], nn.Identity())
        self._load(path)
        if name.startswith("densenet"):  # its last ReLU stands outside of `features`
            net.features = spatial = nn.Sequential(spatial, nn.ReLU())
        self._kept = threading.local()  # threads share the network, not the map of their photos
        spatial.register_forward_hook(self._keep)

    def _load(self, path: Path) -> None:
        own = self.net.state_dict().keys()
        # Older DenseNet files name their layers norm.1 and conv.2; torchvision now norm1, conv2.
        named = {
            k if k in own else re.sub(r"(norm|conv)\.([12])", r"\1\2", k): t
            for k, t in read(path).items()
        }
        missing, _ = self.net.load_state_dict(named, strict=False)
        if missing := [k for k in missing if not k.endswith("num_batches_tracked")]:
            raise RuntimeError(f"{len(missing)} tensors are missing, such as {missing[0]}")

    def _keep(self, module: nn.Module, inputs: tuple[Tensor], output: Tensor) -> None:
        self._kept.map = output

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        vector = self.net(pixels)
        return vector, self._kept.map
