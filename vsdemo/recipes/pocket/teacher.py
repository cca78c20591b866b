"""The teacher's last spatial map of each whole photo.

A map is computed once, and the target of a crop is cut out of it (`crops.crop_maps`), so the
teacher need not see every crop of every epoch. The student imitates only what captions speak about:
the directions that the image encoder of checkpoints/flickr8k/gru reads. Runs of 6 epochs that
imitated the directions of greatest variance instead were worse at retrieval: dev rsum 103 against
112 on Flickr8k, 284 against 299 on Storybook, by linear regression.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor
from tqdm import tqdm

from vsdemo.core import tensors
from vsdemo.core.errors import UserError
from vsdemo.core.paths import checkpoints_root
from vsdemo.models import checkpoint
from vsdemo.vision.backbones import find_weights, load_backbone

TEACHER = "torchvision/densenet169"
COMPONENTS = 384  # principal components of the teacher's maps
RELEVANT = 192  # components after `project`
READER = ("flickr8k", "gru")  # a checkpoint that uses the teacher's features
GRID = 10  # a map has GRID x GRID cells, whatever the shape of its photo
BASIS_PHOTOS = 640  # photos that the components are computed from
SHARD = 256  # photos per file, the most that are computed again after a kill
BATCH = 8
SHAPES = {"wide": (256, 352), "square": (288, 288), "tall": (352, 256)}  # height, width
WIDE = 1.15  # a larger ratio of the sides makes a photo wide or tall
CHUNK = 500  # photos that are projected at a time


def input_shape(photo: Tensor) -> tuple[int, int]:
    """Return the one of SHAPES that suits a photo (3, h, w)."""
    height, width = photo.shape[1:]
    if width > WIDE * height:
        return SHAPES["wide"]
    return SHAPES["tall"] if height > WIDE * width else SHAPES["square"]


def compute_maps(photos: Sequence[Tensor]) -> Tensor:
    """Return the teacher's map of each photo (3, h, w), (N, C, GRID, GRID)."""
    teacher = load_backbone(find_weights(TEACHER))
    shapes = [input_shape(photo) for photo in photos]
    maps: dict[int, Tensor] = {}
    for shape in set(shapes):
        numbers = [i for i, own in enumerate(shapes) if own == shape]
        for start in range(0, len(numbers), BATCH):
            part = numbers[start : start + BATCH]
            pixels = [
                F.interpolate(photos[i][None].float(), shape, mode="bilinear", antialias=True)
                for i in part
            ]
            _, spatial = teacher(torch.cat(pixels))
            spatial = F.interpolate(spatial, (GRID, GRID), mode="bilinear", align_corners=False)
            maps |= {i: one.cpu() for i, one in zip(part, spatial, strict=True)}
    return torch.stack([maps[i] for i in range(len(photos))])


def principal_components(maps: Tensor) -> dict[str, Tensor]:
    """Return the principal components of the cells of maps (N, C, h, w).

    Returns:
        `mean`, the mean cell (C,); `directions`, (C, COMPONENTS); and `deviation`, the standard
        deviation along each direction, (COMPONENTS,).
    """
    cells = maps.permute(0, 2, 3, 1).flatten(0, 2)  # (N h w, C)
    mean = cells.mean(0)
    covariance = (cells - mean).T @ (cells - mean) / len(cells)
    values, directions = torch.linalg.eigh(covariance)
    order = values.argsort(descending=True)[:COMPONENTS]
    return {"mean": mean, "directions": directions[:, order], "deviation": values[order].sqrt()}


def cached_maps(photos: Sequence[Tensor], folder: Path) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the components of all photos' maps, and the basis they are in.

    Both are cached in `folder` under a hash of the photos.

    Returns:
        The components (N, COMPONENTS, GRID, GRID), in half precision, and `principal_components`.
    """
    digest = hashlib.sha256()
    for photo in photos:
        digest.update(photo.numpy().tobytes())
    folder = folder / digest.hexdigest()[:16]
    basis_file = folder / "components.safetensors"
    if not basis_file.exists():
        generator = torch.Generator().manual_seed(0)
        sample = torch.randperm(len(photos), generator=generator)[:BASIS_PHOTOS].tolist()
        basis = principal_components(compute_maps([photos[i] for i in sample]))
        tensors.write(basis_file, basis)
    basis = load_file(basis_file)
    shards = []
    for start in tqdm(range(0, len(photos), SHARD), desc="teacher", unit="shard"):
        file = folder / f"{start:06}.safetensors"
        if not file.exists():
            maps = compute_maps(photos[start : start + SHARD]) - basis["mean"][:, None, None]
            components = torch.einsum("nchw,ck->nkhw", maps, basis["directions"])
            tensors.write(file, {"maps": components.half()})
        shards.append(load_file(file)["maps"])
    return torch.cat(shards), basis


def check_reader() -> None:
    """Check that the checkpoint READER exists and uses the teacher's features.

    Raises:
        UserError: If not.
    """
    backbone = checkpoint.read_spec(checkpoints_root().joinpath(*READER)).config.backbone
    if backbone != TEACHER:
        raise UserError(f"{'/'.join(READER)} uses {backbone}; Pocket's teacher is {TEACHER}.")


def project(maps: Tensor, basis: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Project maps on the principal components of the output of READER's image encoder per cell.

    That encoder is a linear layer.

    Args:
        maps: Components (N, COMPONENTS, h, w) from `cached_maps`.
        basis: Their basis from `cached_maps`.

    Returns:
        Components (N, RELEVANT, h, w), in half precision, and their deviations (RELEVANT,).
    """
    model = checkpoint.load(checkpoints_root().joinpath(*READER))[0]
    encoder: Any = model.image.cpu() if model.image else None
    scale = (encoder.standardize.running_var + encoder.standardize.eps).sqrt()
    weight = encoder.linear.weight.detach() / scale
    read = weight @ basis["directions"]  # (D, COMPONENTS)
    left, deviation, _ = torch.linalg.svd(read * basis["deviation"], full_matrices=False)
    rotation = left[:, :RELEVANT].T @ read / deviation[0]
    parts = [
        torch.einsum("nkhw,rk->nrhw", part.float(), rotation).half() for part in maps.split(CHUNK)
    ]
    return torch.cat(parts), deviation[:RELEVANT] / deviation[0]
