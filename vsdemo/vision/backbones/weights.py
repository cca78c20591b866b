"""Files of weights: finding, reading and hashing them."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from vsdemo.core.checksums import sha256
from vsdemo.core.errors import UserError
from vsdemo.core.paths import data_root
from vsdemo.data.downloads.download import download

if TYPE_CHECKING:
    from torchvision.models import WeightsEnum

MEBIBYTE, ROUNDING = 2**20, 0.001  # torchvision states sizes in MiB with three digits
BROKEN = (  # what failed downloads and damaged files raise
    OSError,
    RuntimeError,
    EOFError,
    HTTPException,
    SafetensorError,
    pickle.UnpicklingError,
)


@dataclass(frozen=True)
class Weights:
    """The weights of a network.

    Attributes:
        name: Name of the network.
        path: The file; None for random weights, for tests.
        hash: First 16 hexadecimal digits of the file's SHA-256.
    """

    name: str
    path: Path | None
    hash: str


def read(path: Path) -> dict[str, Tensor]:
    """Read a .safetensors file, or one written by `torch.save`, as float32."""
    if path.suffix == ".safetensors":
        state = load_file(path)
    else:
        state = torch.load(path, map_location="cpu", weights_only=True)
    return {name: tensor.float() for name, tensor in state.items()}


def content_hash(path: Path) -> str:
    """Return the first 16 hexadecimal digits of a file's SHA-256; an unchanged file is read once.

    Raises:
        OSError: The file cannot be read.
    """
    return sha256(path)[:16]


def reason_of(error: Exception) -> str:
    """Return what went wrong in at most 200 characters on one line."""
    text = " ".join(str(error).split()).rstrip(".")
    return text[:200] or type(error).__name__


def misfit(weights: Weights, error: Exception) -> UserError:
    """Return the error for weights that cannot be loaded."""
    file = weights.path.name if weights.path else "(random)"
    return UserError(
        f"The weights {file} do not fit {weights.name} or are damaged ({reason_of(error)}); "
        "get that file again."
    )


def local_file(name: str, tag: str = "[^_]*") -> Path | None:
    """Return <name>_<tag>.safetensors in the models/ folder of VSDEMO_DATA, None if missing.

    Args:
        name: What the file name starts with.
        tag: Regular expression. By default a tag has no underscore, so that
            vgg11_bn_imagenet.safetensors is not a file of vgg11.
    """
    root = data_root()
    if root is None:
        return None
    pattern = re.compile(rf"{re.escape(name)}_{tag}\.safetensors")
    files = sorted((root / "models").glob("*.safetensors"))
    return next((file for file in files if pattern.fullmatch(file.name)), None)


def hub_folder() -> Path:
    """Return the folder into which torch downloads weights."""
    return Path(torch.hub.get_dir()) / "checkpoints"


def hub_file(weights: WeightsEnum) -> Path:
    """Return a file of torchvision's weights in torch's cache.

    It is downloaded if it is missing or incomplete.

    Raises:
        OSError: It cannot be downloaded, or is not the expected one.
    """
    path: Path = hub_folder() / weights.url.rpartition("/")[2]
    digest = path.stem.rpartition("-")[2]  # the first digits of its SHA-256
    if path.exists() and not sha256(path).startswith(digest):
        path.unlink()
    if not path.exists():
        size = int((weights.meta["_file_size"] + ROUNDING) * MEBIBYTE)
        try:
            download(weights.url, path, lambda done, total: None, Event(), limit=size)
        except UserError as error:
            raise OSError(str(error)) from None
        if not sha256(path).startswith(digest):
            path.unlink()
            raise OSError(f"{weights.url} is not the expected file")
    return path
