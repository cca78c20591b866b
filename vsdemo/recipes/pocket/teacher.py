"""What the teacher sees: its last spatial map over each whole photo.

A map is computed once; the target of any crop is cut out of it (`crops.target`), so that the
teacher need not look at every crop of every epoch. Of what the teacher sees, only that is kept
which captions speak of: the directions to which the image tower of checkpoints/flickr8k/gru
listens. (Runs of 6 epochs that imitated its greatest variance instead were worse at retrieval:
dev rsum 103 against 112 on Flickr8k, 284 against 299 on Storybook, by linear regression.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor
from tqdm import tqdm

from vsdemo.core import tensors
from vsdemo.core.errors import UserError
from vsdemo.core.paths import checkpoints_root
from vsdemo.models import checkpoint
from vsdemo.vision.backbones import find_weights
from vsdemo.vision.features import load_backbone

TEACHER = "torchvision/densenet169"
COMPONENTS = 384
RELEVANT = 192  # components after `relevant`
LISTENER = ("flickr8k", "gru")  # a checkpoint over the teacher's features
GRID = 10  # a map has GRID x GRID places, whatever the shape of its photo
FIRST = 640  # photos that the components are found on
SHARD = 256  # photos a file, and so the most that a killed run computes again
BATCH = 8
SHAPES = {"wide": (256, 352), "square": (288, 288), "tall": (352, 256)}  # height, width
SLIM = 1.15  # sides this unlike make a photo wide or tall


def shape_of(photo: Tensor) -> tuple[int, int]:
    """Which of SHAPES suits a photo (3, h, w)."""
    height, width = photo.shape[1:]
    if width > SLIM * height:
        return SHAPES["wide"]
    return SHAPES["tall"] if height > SLIM * width else SHAPES["square"]


def raw_maps(photos: Sequence[Tensor]) -> Tensor:
    """(N, C, GRID, GRID): the teacher's map over each photo."""
    teacher = load_backbone(find_weights(TEACHER))
    shapes = [shape_of(photo) for photo in photos]
    found: list[Tensor | None] = [None] * len(photos)
    for shape in set(shapes):
        numbers = [i for i, own in enumerate(shapes) if own == shape]
        for start in range(0, len(numbers), BATCH):
            part = numbers[start : start + BATCH]
            pixels = [
                F.interpolate(photos[i][None].float(), shape, mode="bilinear", antialias=True)
                for i in part
            ]
            _, maps = teacher(torch.cat(pixels))
            maps = F.interpolate(maps, (GRID, GRID), mode="bilinear", align_corners=False)
            for i, one in zip(part, maps, strict=True):
                found[i] = one.cpu()
    return torch.stack([one for one in found if one is not None])


def components(maps: Tensor) -> dict[str, Tensor]:
    """The mean place (C,) of maps (N, C, h, w), their first principal directions (C, COMPONENTS)
    and the standard deviation along each (COMPONENTS,)."""
    places = maps.permute(0, 2, 3, 1).flatten(0, 2)  # (N h w, C)
    mean = places.mean(0)
    covariance = (places - mean).T @ (places - mean) / len(places)
    values, directions = torch.linalg.eigh(covariance)
    order = values.argsort(descending=True)[:COMPONENTS]
    return {"mean": mean, "directions": directions[:, order], "deviation": values[order].sqrt()}


def look(photos: Sequence[Tensor], folder: Path) -> tuple[Tensor, dict[str, Tensor]]:
    """Maps of all photos (N, COMPONENTS, GRID, GRID), half precision, and their components.

    They are kept in `folder` under a name that stands for these photos, and not computed again.
    """
    known = hashlib.sha256()
    for photo in photos:
        known.update(photo.numpy().tobytes())
    folder = folder / known.hexdigest()[:16]
    basis_file = folder / "components.safetensors"
    if not basis_file.exists():
        draw = torch.Generator().manual_seed(0)
        some = torch.randperm(len(photos), generator=draw)[:FIRST].tolist()
        tensors.write(basis_file, components(raw_maps([photos[i] for i in some])))
    basis = load_file(basis_file)
    shards = []
    for start in tqdm(range(0, len(photos), SHARD), desc="teacher", unit="shard"):
        file = folder / f"{start:06}.safetensors"
        if not file.exists():
            maps = raw_maps(photos[start : start + SHARD]) - basis["mean"][:, None, None]
            turned = torch.einsum("nchw,ck->nkhw", maps, basis["directions"])
            tensors.write(file, {"maps": turned.half()})
        shards.append(load_file(file)["maps"])
    return torch.cat(shards), basis


def check() -> None:
    """Raises UserError when the LISTENER is missing, or is over features of another network."""
    backbone = checkpoint.read_spec(checkpoints_root().joinpath(*LISTENER)).config.backbone
    if backbone != TEACHER:
        raise UserError(f"{'/'.join(LISTENER)} is over {backbone}; Pocket's teacher is {TEACHER}.")


def relevant(maps: Tensor, basis: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Maps (N, COMPONENTS, h, w) as `look` gives them -> (N, RELEVANT, h, w), half precision, and
    the deviation of each component: the principal components of what the LISTENER's image tower,
    a linear layer, makes of each place."""
    tower = checkpoint.load(checkpoints_root().joinpath(*LISTENER))[0].image.cpu()
    scale = (tower.standardize.running_var + tower.standardize.eps).sqrt()
    heard = (tower.linear.weight.detach() / scale) @ basis["directions"]  # (D, COMPONENTS)
    left, deviation, _ = torch.linalg.svd(heard * basis["deviation"], full_matrices=False)
    turn = left[:, :RELEVANT].T @ heard / deviation[0]
    turned = [torch.einsum("nkhw,rk->nrhw", part.float(), turn).half() for part in maps.split(500)]
    return torch.cat(turned), deviation[:RELEVANT] / deviation[0]
