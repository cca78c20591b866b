"""Networks whose end is tuned: trained further together with a model, in small steps.

A checkpoint holds only the difference to the frozen network, with 4 bits a weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from vsdemo.core import four_bits, tensors
from vsdemo.vision.backbones.families import BASE, BASE_HASH
from vsdemo.vision.backbones.network import Network, base_weights, load_network
from vsdemo.vision.backbones.weights import Weights
from vsdemo.vision.crops import LARGE_SIDE
from vsdemo.vision.regions import covered

POWER = 3  # of the second generalized mean
SMALLEST_AREA = 1e-9  # of a box that is not missing
SMALLEST_POWER = 1e-30  # of a mean whose root has a finite gradient


class Tuned(Network):
    """A network with a tuned end: pixels (B, 3, H, W) to a vector (B, 2 C) and a map.

    The vector has two generalized means of the last map (B, C, h, w), see `pool`, averaged with
    those of the mirror image of what the end reads.

    Attributes:
        stem: The part that stays frozen.
        end: The part that is tuned.

    Args:
        base: The network before it is tuned.

    Raises:
        UserError: The network has no end that can be tuned.
    """

    precision = torch.float32  # half of a DenseNet's features are too small for half precision

    def __init__(self, base: Network) -> None:
        super().__init__()
        self.spec = replace(base.spec, size=LARGE_SIDE)
        self.stem, self.end = base.split()

    @classmethod
    def load(cls, name: str, path: Path | None) -> Self:
        """Build a network as it was tuned with a model.

        Args:
            name: Name of the checkpoint, or its whole path.
            path: File of the differences.

        Raises:
            UserError: The weights of the frozen network are missing, or not those of the training.
        """
        with safe_open(path, "pt") as file:
            weights = base_weights(path, file.metadata())
            differences = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        network = cls(load_network(weights))
        network.end.load_state_dict(add(network.end.state_dict(), differences))
        return network

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the vector and the last map."""
        spatial, mirrored = both_sides(self.end, self.stem(pixels))
        return mean_vector(spatial, mirrored), spatial

    def split(self) -> tuple[nn.Module, nn.Module]:
        """Return both parts."""
        return self.stem, self.end


def both_sides(end: nn.Module, stems: Tensor) -> tuple[Tensor, Tensor]:
    """Return the last maps of photos and of their mirror images, (B, C, h, w) each.

    Args:
        end: The end of a network.
        stems: What it reads, (B, S, h', w').
    """
    maps, mirrored = end(torch.cat([stems, mirror(stems)])).chunk(2)
    return maps, mirrored


def mirror(maps: Tensor) -> Tensor:
    """Return the mirror images of maps, (..., w)."""
    return maps.flip(-1)


def mean_vector(*maps: Tensor) -> Tensor:
    """Return the mean of the vectors of one or more maps of the same photos, (B, 2 C)."""
    return torch.stack([pool(spatial) for spatial in maps]).mean(0)


def pool(spatial: Tensor) -> Tensor:
    """Return two generalized means over the places of a map: (B, C, h, w) -> (B, 2 C).

    They are (mean max(0, x)^p)^(1/p), with p = 1, the plain mean, and p = POWER, which is closer to
    the maximum (Radenovic et al., "Fine-tuning CNN image retrieval with no human annotation", 2018,
    equation 4).
    """
    values = spatial.float().relu()
    return torch.cat([values.mean((2, 3)), _root((values**POWER).mean((2, 3)))], 1)


def pool_regions(spatial: Tensor, boxes: Tensor) -> Tensor:
    """Return the generalized means of maps over boxes; a place counts by how much of it is covered.

    Args:
        spatial: Maps (B, C, h, w).
        boxes: (B, K, 4), as fractions; zeros for missing ones.

    Returns:
        (B, K, 2 C).
    """
    height, width = spatial.shape[2:]
    down = covered(boxes[..., 1], boxes[..., 3], height)  # (B, K, h)
    across = covered(boxes[..., 0], boxes[..., 2], width)  # (B, K, w)
    shares = down[..., :, None] * across[..., None, :]  # (B, K, h, w)
    shares = shares / shares.sum((2, 3), keepdim=True).clamp(min=SMALLEST_AREA)
    values = spatial.float().relu()
    mean, mean_power = (
        torch.einsum("bchw,bkhw->bkc", x, shares.to(x)).float() for x in (values, values**POWER)
    )
    return torch.cat([mean, _root(mean_power)], -1)


def _root(mean_power: Tensor) -> Tensor:
    """Return the POWER-th root; its gradient at 0 is 0."""
    return mean_power.clamp(min=SMALLEST_POWER) ** (1 / POWER)


def to_bytes(base: Weights, end: nn.Module, state: Mapping[str, Tensor]) -> bytes:
    """Return the content of a file that says how a tuned end differs from the frozen one.

    Args:
        base: Weights of the frozen network.
        end: Its end.
        state: The weights of the tuned one.
    """
    return tensors.to_bytes(
        subtract(state, end.state_dict()), {BASE: base.name, BASE_HASH: base.hash}
    )


def is_changed(path: Path) -> bool:
    """Return whether a tuned end differs from the frozen one; the best epoch may come before."""
    return any(bool(weights.any()) for weights in four_bits.decode(load_file(path)).values())


def subtract(tuned: Mapping[str, Tensor], frozen: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the differences between weights of the same names, those of matrices in 4 bits."""
    return four_bits.encode(
        {
            name: tuned[name].cpu().float() - weights.cpu().float()
            for name, weights in frozen.items()
        }
    )


def add(frozen: Mapping[str, Tensor], differences: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights that `subtract` had, up to rounding."""
    decoded = four_bits.decode(differences)
    return {name: weights + decoded[name].to(weights) for name, weights in frozen.items()}
