"""The teacher's view of the crops that the student sees (Beyer et al. 2022).

The student imitates only what captions speak about: the directions of the teacher's map that the
image encoder of checkpoints/flickr8k/gru reads. Runs of 6 epochs of an earlier Pocket, a residual
network, were worse at retrieval if they imitated the directions of greatest variance instead: dev
rsum 103 against 112 on Flickr8k, 284 against 299 on Storybook, by linear regression.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from vsdemo.core import tensors
from vsdemo.core.errors import UserError
from vsdemo.core.paths import checkpoints_root
from vsdemo.models import checkpoint
from vsdemo.recipes.pocket import pruning
from vsdemo.recipes.pocket.batches import Batch
from vsdemo.vision.backbones import find_weights, load_backbone

TEACHER = "torchvision/densenet169"
COMPONENTS = 384  # principal components of the teacher's maps
RELEVANT = 192  # directions that the student imitates
READER = ("flickr8k", "gru")  # a checkpoint that uses the teacher's features
BASIS = "components.safetensors"
PRUNED_FOR = 1024  # crops that the first weights are fitted to


class Teacher:
    """DenseNet-169, and what captions speak about in its map.

    Attributes:
        deviations: The standard deviation of each of the K directions over cells, and over the
            means of crops, (2, K).

    Args:
        sample: Crops (B, 3, s, s) from 0 to 1, of which the directions are computed.
        folder: Where the directions and targets are kept.
        keep: Whether targets are kept, since each crop is seen more than once.
    """

    def __init__(self, sample: Iterable[Tensor], folder: Path, *, keep: bool) -> None:
        self.net = load_backbone(find_weights(TEACHER))
        self.folder, self.keep = folder, keep
        if not (folder / BASIS).exists():
            tensors.write(folder / BASIS, directions(torch.cat([*map(self._map, sample)])))
        basis = load_file(folder / BASIS)
        self.mean, self.directions = (basis[k].to(self.net.mean) for k in ("mean", "directions"))
        self.deviations = basis["deviations"]

    def _map(self, pixels: Tensor) -> Tensor:
        return self.net(pixels * 255)[1]

    def prune(self, crops: Iterable[Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Return the first weights of Pocket, and of the layer that imitates the teacher.

        Args:
            crops: Crops (B, 3, s, s) from 0 to 1, as Pocket sees them.
        """
        files = [self.folder / f"{part}.safetensors" for part in ("pocket", "imitation")]
        if not all(file.exists() for file in files):
            densenet: Any = self.net.net
            pixels = torch.cat([*crops])[:PRUNED_FOR].to(self.net.mean)
            pixels = (pixels - self.net.mean) / self.net.std
            pruned = pruning.prune(densenet.net.features[0], pixels, self.mean, self.directions)
            for file, part in zip(files, pruned, strict=True):
                tensors.write(file, part.state_dict())
        pocket, imitation = map(load_file, files)
        return pocket, imitation

    def targets(self, batch: Batch) -> Tensor:
        """Return what the teacher sees in the crops of a batch, (B, K, s / 32, s / 32)."""
        file = self.folder / f"{batch.name}.safetensors"
        if self.keep and file.exists():
            return load_file(file)["targets"].to(self.net.mean)
        cells = self._map(batch.pixels) - self.mean[:, None, None]
        targets = torch.einsum("bchw,ck->bkhw", cells, self.directions).half()
        if self.keep:
            tensors.write(file, {"targets": targets})
        return targets.to(self.net.mean)  # the same numbers as when they are read


def check_files() -> None:
    """Check that the teacher and the checkpoint READER, which uses its features, are available.

    Raises:
        UserError: If not.
    """
    find_weights(TEACHER)
    backbone = checkpoint.read_spec(checkpoints_root().joinpath(*READER)).config.backbone
    if backbone != TEACHER:
        raise UserError(f"{'/'.join(READER)} uses {backbone}; Pocket's teacher is {TEACHER}.")


def directions(maps: Tensor) -> dict[str, Tensor]:
    """Return the directions in the cells of maps along which READER's image encoder varies most.

    That encoder is a linear layer.

    Args:
        maps: The teacher's maps, (N, C, h, w).

    Returns:
        `mean`, the mean cell (C,); `directions`, (C, RELEVANT); and `deviations`, the standard
        deviations of cells and of means along them, (2, RELEVANT), in units of the largest one.
    """
    cells = maps.permute(0, 2, 3, 1).flatten(0, 2)  # (N h w, C)
    mean = cells.mean(0)
    covariance = (cells - mean).T @ (cells - mean) / len(cells)
    values, vectors = torch.linalg.eigh(covariance)
    order = values.argsort(descending=True)[:COMPONENTS]
    own, deviation = vectors[:, order].cpu(), values[order].clamp(min=0).sqrt().cpu()
    model = checkpoint.load(checkpoints_root().joinpath(*READER))[0]
    assert model.image is not None
    encoder: Any = model.image.cpu()
    scale = (encoder.standardize.running_var + encoder.standardize.eps).sqrt()
    read = encoder.linear.weight.detach() / scale @ own  # (D, COMPONENTS)
    left, size, _ = torch.linalg.svd(read * deviation, full_matrices=False)
    relevant = own @ read.T @ left[:, :RELEVANT] / size[0]  # (C, RELEVANT)
    of_means = (maps.mean((2, 3)).cpu() - mean.cpu()) @ relevant  # (N, RELEVANT)
    deviations = torch.stack([size[:RELEVANT] / size[0], of_means.std(0)])
    return {"mean": mean.cpu(), "directions": relevant, "deviations": deviations}
