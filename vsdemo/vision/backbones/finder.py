"""Finder: finds the parts of a photo that people mention, and describes them, in one pass.

A small head of our own, trained by `vsdemo.recipes.finder`, reads two maps of a frozen network and
proposes boxes, whatever they contain, as a region proposal network does (Ren et al., "Faster
R-CNN", NIPS 2015). The network is DenseNet-169, whose last block was tuned with captions
(`vsdemo.vision.backbones.tuned`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Self

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import Tensor, nn
from torchvision.ops import nms

from vsdemo.vision.backbones.network import Network, base_weights, load_network
from vsdemo.vision.backbones.tuned import pool_regions
from vsdemo.vision.crops import MOST_FOUND
from vsdemo.vision.regions import FRAME, LEAST, PLACE

SIDE = 320  # of the square that a whole photo is squeezed into, in pixels
PLACES = SIDE // 16  # of the finer map, in each direction
FINE, LAST = 1280, 1664  # channels of the maps of DenseNet-169
PRINCIPAL = 256  # principal components of the finer map that are read
WIDTH = 128  # channels of the head
GROUPS = 8  # of a group norm
# Width and height of the boxes that the head moves and sizes, one of each at each place.
SHAPES = (
    (0.07, 0.09),
    (0.12, 0.18),
    (0.2, 0.33),
    (0.33, 0.25),
    (0.33, 0.6),
    (0.6, 0.42),
    (0.6, 0.85),
    (0.95, 0.55),
    (0.95, 0.95),
)
CERTAIN_AT_FIRST = -4.0  # bias of the logits before training
MOST_SIZED = 2.0  # logarithm of the factor by which a box is made larger or smaller, at most
OF_EACH_SHAPE = 60  # most certain boxes of each shape that are compared
LENGTH = 32.0  # of what describes a region, so that half precision has enough digits
SAME = 0.65  # intersection over union above which two boxes show the same thing


class Maps(NamedTuple):
    """Maps of N photos.

    Attributes:
        fine: Principal components of what the third block computes, (N, PRINCIPAL, 20, 20).
        last: What the last block computes, rectified, (N, LAST, 10, 10).
    """

    fine: Tensor
    last: Tensor


class Proposed(NamedTuple):
    """Proposed boxes of N photos, one of each shape at each place: A of them.

    Attributes:
        logits: How certain it is that people mention what is in a box, (N, A).
        boxes: (N, A, 4), as fractions; they may reach out of the photo.
    """

    logits: Tensor
    boxes: Tensor


def anchors() -> Tensor:
    """Return the boxes before they are moved and sized, (A, 4), shape by shape."""
    centres = (torch.arange(PLACES) + 0.5) / PLACES
    down, across = torch.meshgrid(centres, centres, indexing="ij")
    places = torch.stack([across, down], -1).flatten(0, 1)  # (places, 2)
    half = torch.tensor(SHAPES)[:, None] / 2  # (shapes, 1, 2)
    boxes: Tensor = torch.cat([places - half, places + half], -1).flatten(0, 1).clamp(0, 1)
    return boxes


class BoxHead(nn.Module):
    """The head: from `Maps` to the boxes that are `Proposed`."""

    anchors: Tensor
    fine_scale: Tensor
    last_scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("anchors", anchors(), persistent=False)
        self.register_buffer("fine_scale", torch.ones(PRINCIPAL, 1, 1))
        self.register_buffer("last_scale", torch.ones(LAST, 1, 1))
        self.last = _layer(LAST, 1)
        self.around = _layer(WIDTH, 3)
        self.whole = nn.Linear(LAST, WIDTH)
        self.fine = nn.Conv2d(PRINCIPAL, WIDTH, 1)
        self.place = nn.Parameter(torch.zeros(WIDTH, PLACES, PLACES))
        self.joined = nn.Sequential(nn.GroupNorm(GROUPS, WIDTH), nn.ReLU())
        self.near = _layer(WIDTH, 3)
        self.far = _layer(WIDTH, 3, dilation=2)
        self.out = nn.Conv2d(WIDTH, len(SHAPES) * 5, 1)
        nn.init.normal_(self.out.weight, std=0.01)
        certain = torch.tensor([CERTAIN_AT_FIRST, 0.0]).repeat_interleave(
            torch.tensor([len(SHAPES), 4 * len(SHAPES)])
        )
        self.out.register_parameter("bias", nn.Parameter(certain))
        self.dropout = nn.Dropout2d(0.1)

    def observe(self, maps: Maps) -> None:
        """Take the standard deviation of each channel from maps of many photos."""
        self.fine_scale.copy_(_deviation(maps.fine))
        self.last_scale.copy_(_deviation(maps.last))

    def forward(self, maps: Maps) -> Proposed:
        """Propose boxes."""
        last, fine = maps.last / self.last_scale, maps.fine / self.fine_scale
        coarse = self.last(self.dropout(last))
        coarse = coarse + self.around(coarse) + self.whole(last.mean((2, 3)))[..., None, None]
        larger = F.interpolate(coarse, size=(PLACES, PLACES), mode="bilinear")
        x = self.joined(self.fine(self.dropout(fine)) + larger + self.place)
        x = x + self.near(x)
        x = x + self.far(x)
        out = self.out(self.dropout(x)).float()  # (N, 5 shapes, 20, 20)
        logits, changes = out.split([len(SHAPES), 4 * len(SHAPES)], 1)
        changes = changes.unflatten(1, (len(SHAPES), 4)).permute(0, 1, 3, 4, 2).flatten(1, 3)
        return Proposed(logits.flatten(1), self._move(changes))

    def _move(self, changes: Tensor) -> Tensor:
        """Move and size the anchors: (N, A, 4) -> (N, A, 4).

        centre + side * change        side * exp(change)
        """
        low, high = self.anchors[:, :2], self.anchors[:, 2:]
        sides = high - low
        centres = (low + high) / 2 + changes[..., :2] * sides
        half = sides * changes[..., 2:].clamp(-MOST_SIZED, MOST_SIZED).exp() / 2
        return torch.cat([centres - half, centres + half], -1)


class Best(NamedTuple):
    """The most certain boxes of a photo, at most K, the most certain first.

    Attributes:
        boxes: (K, 4), within the photo.
        certain: The logarithm of how certain each is, (K,).
    """

    boxes: Tensor
    certain: Tensor


def best_boxes(proposed: Proposed, count: int) -> list[Best]:
    """Return the most certain boxes of each photo that show different things, at most `count`.

    Boxes are clipped to the photo; those outside it are dropped.
    """
    result = []
    for logits, boxes in zip(proposed.logits, proposed.boxes.clamp(0, 1), strict=True):
        certain, places = logits.view(len(SHAPES), -1).topk(OF_EACH_SHAPE)
        rows = places + torch.arange(len(SHAPES), device=places.device)[:, None] * PLACES**2
        chosen, certain = boxes[rows.flatten()], certain.flatten()
        inside = ((chosen[:, 2:] - chosen[:, :2]) > LEAST).all(1)
        chosen, certain = chosen[inside], certain[inside]
        best = nms(chosen, certain, SAME)[:count]
        result.append(Best(chosen[best], F.logsigmoid(certain[best])))
    return result


class Finder(Network):
    """The network: pixels (B, 3, H, W) to the vector and the last map of the one below it.

    Attributes:
        first: What computes the finer map.
        principal: Its projection on principal components.
        end: What computes the last map from the finer one.
        head: Proposes boxes.

    Args:
        base: DenseNet-169, tuned or not.

    Raises:
        UserError: `base` is another network.
    """

    def __init__(self, base: Network) -> None:
        super().__init__()
        self.spec = replace(base.spec, region_size=SIDE)
        stem, end = base.split()
        *first, transition = stem.children()
        self.first, self.end = nn.Sequential(*first), nn.Sequential(transition, end)
        self.principal = nn.Conv2d(FINE, PRINCIPAL, 1)
        self.head = BoxHead()

    @classmethod
    def load(cls, name: str, path: Path | None) -> Self:
        """Build the network with the weights of the projection and of the head.

        Raises:
            UserError: The weights of the network below are missing, or not those of the training.
        """
        with safe_open(path, "pt") as file:
            weights = base_weights(path, file.metadata())
            state = {key: file.get_tensor(key).float() for key in file.keys()}  # noqa: SIM118
        network = cls(load_network(weights)).eval()
        network.principal.load_state_dict(_part(state, "principal."))
        network.head.load_state_dict(_part(state, "head."))
        return network

    def maps(self, pixels: Tensor) -> Maps:
        """Compute the maps of pixels (B, 3, SIDE, SIDE)."""
        fine = self.first(pixels)
        return Maps(self.principal(fine).float(), self.end(fine).float())

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the mean of the last map, and that map."""
        last = self.region_map(pixels)
        return last.mean((2, 3)), last

    def region_map(self, pixels: Tensor) -> Tensor:
        """Compute the last map (B, LAST, h, w)."""
        last: Tensor = self.end(self.first(pixels))
        return last

    def describe(self, pixels: Tensor, boxes: Tensor) -> Tensor:
        """Describe boxes as `find_and_describe` does; it is certain that people mention them."""
        boxes = boxes.to(pixels)
        return torch.cat([_describe(self.region_map(pixels), boxes), F.pad(boxes, (0, 1))], -1)

    def find(self, pixels: Tensor) -> list[Tensor]:
        """Find the parts of photos (B, 3, SIDE, SIDE), the most certain first."""
        return [best.boxes for best in self._find(self.maps(pixels))]

    def _find(self, maps: Maps) -> list[Best]:
        with torch.autocast(maps.last.device.type, enabled=False):  # boxes of bfloat16 are coarse
            return best_boxes(self.head(maps), MOST_FOUND - 1)

    def find_and_describe(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Find the parts of photos (B, 3, SIDE, SIDE), then the frame, and describe them.

        Returns:
            Boxes (B, MOST_FOUND, 4), and vectors (B, MOST_FOUND, 2 LAST + PLACE): the generalized
            means of the last map over a box, of length LENGTH, then `regions.PLACE`.
        """
        maps = self.maps(pixels)
        places = torch.stack([_places(best) for best in self._find(maps)])
        boxes = places[..., :4].contiguous()
        return boxes, torch.cat([_describe(maps.last, boxes), places], -1)


def _describe(last: Tensor, boxes: Tensor) -> Tensor:
    """Return the generalized means of maps (B, LAST, h, w) over boxes (B, K, 4), of one length."""
    return LENGTH * F.normalize(pool_regions(last, boxes), dim=-1)  # (B, K, 2 LAST)


def _places(best: Best) -> Tensor:
    """Return `regions.PLACE` of the regions of a photo, (MOST_FOUND, PLACE), the frame last.

    It is certain that people mention the frame. Missing regions are zeros.
    """
    places = best.boxes.new_zeros(MOST_FOUND, PLACE)
    places[: len(best.boxes)] = torch.cat([best.boxes, best.certain[:, None]], -1)
    places[-1, :4] = places.new_tensor(FRAME)
    return places


def _part(state: dict[str, Tensor], start: str) -> dict[str, Tensor]:
    return {k.removeprefix(start): v for k, v in state.items() if k.startswith(start)}


def _layer(inputs: int, size: int, dilation: int = 1) -> nn.Sequential:
    padding = dilation * (size // 2)
    convolution = nn.Conv2d(inputs, WIDTH, size, padding=padding, dilation=dilation)
    return nn.Sequential(convolution, nn.GroupNorm(GROUPS, WIDTH), nn.ReLU())


def _deviation(maps: Tensor) -> Tensor:
    """Return the standard deviation of each channel of (N, C, h, w), (C, 1, 1)."""
    return maps.std((0, 2, 3)).clamp(min=1e-3)[:, None, None]
