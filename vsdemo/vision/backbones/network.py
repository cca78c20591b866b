"""A frozen network with what stands before it (views, normalisation) and after it (the mean)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor, nn
from torchvision.ops import roi_align
from torchvision.transforms import v2

from vsdemo.core.device import autocast, device
from vsdemo.vision.backbones.classifier import Classifier
from vsdemo.vision.backbones.pocket import Pocket
from vsdemo.vision.backbones.weights import BROKEN, Weights, misfit
from vsdemo.vision.regions import REGIONS

BINS = 3  # of a region, in each direction, whose mean is taken


def _network(weights: Weights) -> nn.Module:
    kind, _, rest = weights.backbone.partition("/")
    if kind == "pocket":
        return Pocket(weights.path)
    if kind == "torchvision" and weights.path:
        return Classifier(rest, weights.path)
    from vsdemo.vision.backbones.clip import Clip  # takes seconds to import

    return Clip(rest, weights.path)


class Backbone(nn.Module):
    """A frozen network. `forward`: pixels (B, 3, H, W), uint8 -> vector (B, D), map (B, C, h, w).

    The vector is what the network's classifier reads (its pooled last map; fc7 for VGG; the
    joint embedding for CLIP), the map its last spatial one. Neither is normalised.
    """

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.name, self.hash = weights.backbone, weights.hash
        try:
            self.net = _network(weights)
        except BROKEN as error:
            raise misfit(weights, error) from None
        self.size = self.net.size
        self.normalize = v2.Normalize(*self.net.mean_std)
        self.requires_grad_(False).eval().to(device(), memory_format=torch.channels_last)

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        vector, spatial = self._run(self.net, pixels)
        return vector.float(), spatial.float()

    @torch.no_grad()
    def _run(self, part: Callable[[Tensor], Any], pixels: Tensor) -> Any:
        pixels = self.normalize(pixels.to(device()).float() / 255)
        with autocast():
            return part(pixels.contiguous(memory_format=torch.channels_last))

    def views(self, photo: Image.Image, crops: str) -> Tensor:
        """The photo's views (V, 3, size, size), uint8: the short side is scaled to 256 (for
        CLIP, to the network's size), then the centre, the centre and its mirror image, or the
        four corners, the centre and their mirror images are cut out (Vendrov 2016, 4.2). `whole`
        squeezes all of it into one square, so that nothing at the sides is lost; for regions
        that square is larger, so that their map has more places."""
        if crops == "whole" or crops in REGIONS:
            side = self.size if crops == "whole" else getattr(self.net, "large", self.size)
            photo = photo.resize((side, side), self.net.resampling)
            return v2.functional.pil_to_tensor(photo)[None]
        short = self.net.short
        width, height = photo.size
        scale = short / min(width, height)
        photo = photo.resize(
            (max(short, round(width * scale)), max(short, round(height * scale))),
            self.net.resampling,
        )
        image = v2.functional.pil_to_tensor(photo)
        if crops == "ten":
            views = torch.stack(v2.functional.ten_crop(image, [self.size, self.size]))
        else:
            views = v2.functional.center_crop(image, [self.size, self.size])[None]
            if crops == "mirror":
                views = torch.cat([views, views.flip(-1)])
        return views

    def encode(self, views: Tensor) -> Tensor:
        """Views of photos (N, V, 3, H, W) -> L2-normalised means of their vectors, (N, D).

        Each vector goes through a ReLU before the mean, as in the papers' code; those of CLIP,
        which has negative coordinates, do not.
        """
        vector, _ = self(views.flatten(0, 1))
        if not self.name.startswith("open_clip/"):
            vector = vector.relu()
        return F.normalize(vector.unflatten(0, views.shape[:2]).mean(1), dim=-1)

    def encode_regions(self, views: Tensor, boxes: Tensor) -> Tensor:
        """Whole photos (N, 3, H, W), boxes (N, K, 4) in shares -> L2-normalised means of the map
        within each box, (N, K, C); zeros for a box of zeros. The map is the last one or, where the
        network has it, a finer one."""
        fine = getattr(self.net, "fine", lambda pixels: self.net(pixels)[1])
        maps = self._run(fine, views).float()
        height, width = maps.shape[2:]
        places = boxes.to(maps) * maps.new_tensor([width, height, width, height])
        found = roi_align(maps, list(places), BINS, aligned=True)  # (N * K, C, BINS, BINS)
        real = (boxes != 0).any(-1, keepdim=True).to(maps)
        return F.normalize(found.mean((2, 3)).unflatten(0, boxes.shape[:2]), dim=-1) * real
