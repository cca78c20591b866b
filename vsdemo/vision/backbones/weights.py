"""Files of weights: finding, reading and hashing them."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from vsdemo.core.checksums import sha256
from vsdemo.core.errors import UserError
from vsdemo.core.paths import data_root

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


def misfit(weights: Weights, error: Exception) -> UserError:
    """Return the error for weights that cannot be loaded."""
    file = weights.path.name if weights.path else "(random)"
    reason = " ".join(str(error).split())[:200]
    return UserError(
        f"The weights {file} do not fit {weights.name} or are damaged ({reason}); "
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


def hub_file(url: str) -> Path:
    """Return a file of weights in torch's cache, downloading it if it is missing."""
    torch.hub.load_state_dict_from_url(url, check_hash=True, weights_only=True)
    return hub_folder() / url.rsplit("/", 1)[1]
