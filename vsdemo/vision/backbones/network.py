"""A frozen network with its input (normalisation) and output (means, regions)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor, nn

from vsdemo.core.device import autocast, device
from vsdemo.core.errors import UserError
from vsdemo.vision import backbones
from vsdemo.vision.backbones.families import BASE, BASE_HASH
from vsdemo.vision.backbones.folding import fold_norms
from vsdemo.vision.backbones.weights import BROKEN, Weights, misfit
from vsdemo.vision.crops import CROPS, LARGE_SIDE, InputSpec

BINS = 3  # places of a region in each direction, over which the mean is taken
Result = TypeVar("Result")


class Network(nn.Module):
    """Base class of the image networks of all families.

    Attributes:
        spec: What the network expects its input to be.
        rectified: Whether `Backbone.encode` applies a ReLU to the vectors, as the papers' code
            does. Not for joint embeddings, whose negative coordinates matter.
        precision: What vectors are stored in.
    """

    spec: InputSpec
    rectified = True
    precision = torch.float16

    @classmethod
    def load(cls, name: str, path: Path | None) -> Self:
        """Build a network of the family and load its weights.

        Args:
            name: What follows the family's name and a slash.
            path: File of weights; None for random ones.
        """
        raise NotImplementedError

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the vector (B, D) and the map (B, C, h, w) of pixels (B, 3, H, W)."""
        raise NotImplementedError

    def region_map(self, pixels: Tensor) -> Tensor:
        """Compute the map (B, C, h, w) that regions are cut out of, by default the last one."""
        _, spatial = self(pixels)
        return spatial

    def describe(self, pixels: Tensor, boxes: Tensor) -> Tensor:
        """Describe boxes by the mean of the region map within each.

        Args:
            pixels: (N, 3, H, W).
            boxes: (N, K, 4), as fractions; zeros for a missing box.

        Returns:
            (N, K, C), of length 1.
        """
        return describe_boxes(self.region_map(pixels).float(), boxes)

    def split(self) -> tuple[nn.Module, nn.Module]:
        """Split the network into the part that stays frozen and the end, which can be tuned.

        Returns:
            Pixels (B, 3, H, W) -> (B, S, h, w), and (B, S, h, w) -> the map (B, C, h', w').

        Raises:
            UserError: The network has no such end.
        """
        raise UserError(
            "The end of this image network cannot be tuned; choose pocket or "
            "torchvision/densenet169."
        )

    def find(self, pixels: Tensor) -> list[Tensor]:
        """Find the things in pixels (N, 3, H, W), the most certain first.

        Returns:
            For each photo boxes (K, 4), as fractions.

        Raises:
            TypeError: The network finds no things.
        """
        raise TypeError(f"{type(self).__name__} finds no things")

    def find_and_describe(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Find the things in pixels (N, 3, H, W), and describe them and the whole frame.

        Returns:
            Boxes (N, K, 4), as fractions, zeros for missing ones and the frame last, and vectors
            (N, K, C), those of `describe`.

        Raises:
            UserError: The network finds no things.
        """
        raise UserError("This image network finds no regions; set backbone=finder, or other crops.")

    if TYPE_CHECKING:

        def __call__(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
            """Run `forward`."""


def describe_boxes(maps: Tensor, boxes: Tensor) -> Tensor:
    """Describe boxes by the means of maps within them.

    Args:
        maps: (N, C, h, w).
        boxes: (N, K, 4), as fractions; zeros for a missing box.

    Returns:
        (N, K, C), of length 1.
    """
    from torchvision.ops import roi_align  # takes seconds to import

    height, width = maps.shape[2:]
    places = boxes.to(maps) * maps.new_tensor([width, height, width, height])
    bins: Tensor = roi_align(maps, list(places), BINS, aligned=True)  # (N K, C, BINS, BINS)
    means = torch.unflatten(bins.mean((2, 3)), 0, boxes.shape[:2])  # (N, K, C)
    return F.normalize(means, dim=-1)


class OwnNetwork(Network):
    """Base class of our own networks, whose constructors take the file of weights.

    There is only one network of each class, so it needs no name.
    """

    @classmethod
    def load(cls, name: str, path: Path | None) -> Self:
        """Build the network for inference and load its weights."""
        network = cls(path).eval()
        fold_norms(network)
        return network


def load_network(weights: Weights) -> Network:
    """Build the network of some weights and load them."""
    family, name = backbones.family_of(weights.name)
    module, _, network = family.network.partition(":")
    loaded: Network = getattr(import_module(module), network).load(name, weights.path)
    return loaded


def base_weights(path: Path | None, about: Mapping[str, str]) -> Weights:
    """Return the weights of the network that another one was trained over.

    Args:
        path: File of the other one, for the error message.
        about: The metadata of this file.

    Raises:
        UserError: They are missing, or not those of the training.
    """
    weights = backbones.find_weights(about[BASE])
    if weights.hash != about[BASE_HASH]:
        raise UserError(
            f"{path} was trained over {weights.name} with weights {about[BASE_HASH]}, but the "
            f"available weights are {weights.hash}; put the former into the models/ folder below "
            "VSDEMO_DATA."
        )
    return weights


class Backbone(nn.Module):
    """A frozen network: pixels (B, 3, H, W), uint8, to a vector (B, D) and a map (B, C, h, w).

    The vector is what the network's classifier reads (the pooled last map; fc7 for VGG; the joint
    embedding for CLIP), the map is the last spatial one. Neither is normalised.

    Raises:
        UserError: If the weights are damaged or belong to another network.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.name = weights.name
        self.hash = weights.hash
        try:
            self.net = load_network(weights)
        except BROKEN as error:
            raise misfit(weights, error) from None
        spec = self.net.spec
        self.register_buffer("mean", torch.tensor(spec.mean)[:, None, None], persistent=False)
        self.register_buffer("std", torch.tensor(spec.std)[:, None, None], persistent=False)
        self.requires_grad_(False).eval()
        self.to(device())
        self.to(memory_format=torch.channels_last)

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the vector (B, D) and the map (B, C, h, w), float32."""
        vector, spatial = self._run(self.net, pixels)
        return vector.float(), spatial.float()

    if TYPE_CHECKING:

        def __call__(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
            """Run `forward`."""

    @torch.no_grad()
    def _run(self, part: Callable[[Tensor], Result], pixels: Tensor) -> Result:
        pixels = (pixels.to(device()).float() / 255 - self.mean) / self.std
        with autocast():
            return part(pixels.contiguous(memory_format=torch.channels_last))

    def views(self, photo: Image.Image, crops: str) -> Tensor:
        """Cut the views of `crops` out of an RGB photo: uint8, (V, 3, side, side)."""
        return torch.from_numpy(CROPS[crops].cut(photo, self.net.spec))

    def large_views(self, photo: Image.Image, crops: str) -> Tensor:
        """Cut views with sides of LARGE_SIDE pixels, for `stems`."""
        spec = replace(self.net.spec, size=LARGE_SIDE)
        return torch.from_numpy(CROPS[crops].cut(photo, spec))

    def stems(self, views: Tensor) -> Tensor:
        """Compute what the end of the network reads, see `Network.split`.

        Args:
            views: (N, V, 3, H, W), uint8.

        Returns:
            (N, V, S, h, w).

        Raises:
            UserError: The network has no end that can be tuned.
        """
        stem, _ = self.net.split()
        return torch.unflatten(self._run(stem, views.flatten(0, 1)), 0, views.shape[:2])

    def encode(self, views: Tensor) -> Tensor:
        """Compute the normalised mean vector over the views of each photo.

        Args:
            views: (N, V, 3, H, W), uint8.

        Returns:
            (N, D), of length 1.
        """
        vector, _ = self(views.flatten(0, 1))
        if self.net.rectified:
            vector = vector.relu()
        mean = torch.unflatten(vector, 0, views.shape[:2]).mean(1)
        return F.normalize(mean, dim=-1)

    def encode_regions(self, views: Tensor, boxes: Tensor) -> Tensor:
        """Describe boxes as the network does; see `Network.describe`.

        Args:
            views: Whole photos, (N, 3, H, W), uint8.
            boxes: (N, K, 4), as fractions; zeros for a missing box.

        Returns:
            (N, K, C); zeros for a missing box.
        """
        boxes = boxes.to(device())
        described = self._run(lambda pixels: self.net.describe(pixels, boxes), views).float()
        return described * (boxes != 0).any(-1, keepdim=True)

    def find_and_describe(self, views: Tensor) -> tuple[Tensor, Tensor]:
        """Find and describe things in photos (N, 3, H, W), uint8; see `Network`.

        Returns:
            Boxes (N, K, 4), and vectors (N, K, C); zeros for missing ones.
        """
        boxes, described = self._run(self.net.find_and_describe, views)
        return boxes.float(), described.float() * (boxes != 0).any(-1, keepdim=True)

    def find(self, views: Tensor) -> list[Tensor]:
        """Find things in photos (N, 3, H, W), uint8; see `Network.find`."""
        return self._run(self.net.find, views)
