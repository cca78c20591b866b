"""Finding a backbone's weights: below VSDEMO_DATA/models, or downloaded once."""

from __future__ import annotations

import hashlib
import pickle
import re
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT, data_root
from vsdemo.data.downloads.fetch import DOWNLOADS

BROKEN = (  # what comes of failed downloads and damaged files
    *(OSError, RuntimeError, EOFError),
    *(HTTPException, SafetensorError, pickle.UnpicklingError),
)
POCKET = ROOT / "checkpoints" / "pocket" / "model.safetensors"
NETWORKS = (  # those to offer; any other of torchvision or open_clip can be named
    "pocket",
    *(f"torchvision/{name}" for name in ("densenet169", "resnet152", "vgg19")),
)
UNKNOWN = (
    "There is no backbone {!r}; write pocket, torchvision/<name> (densenet169, resnet152, vgg19, "
    "...) or open_clip/<architecture>/<pretrained>."
)


@dataclass(frozen=True)
class Weights:
    """Where a backbone's weights are, and the first 16 hex digits of their SHA-256."""

    backbone: str
    path: Path | None  # None: random weights, for tests
    hash: str


def read(path: Path) -> dict[str, Tensor]:
    """The tensors of a .safetensors file, or of one that torch.save wrote, as float32."""
    safe = path.suffix == ".safetensors"
    state = load_file(path) if safe else torch.load(path, "cpu", weights_only=True)
    return {name: tensor.float() for name, tensor in state.items()}


def misfit(weights: Weights, error: Exception) -> UserError:
    """What is said of weights that cannot be loaded."""
    file = weights.path.name if weights.path else "made at random"
    return UserError(
        f"The weights {file} do not fit {weights.backbone} or are damaged "
        f"({' '.join(str(error).split())[:200]}); get that file again."
    )


def local_file(name: str, tag: str = "[^_]*") -> Path | None:
    """<name>_<tag>.safetensors below VSDEMO_DATA/models. No tag holds an underscore, so that
    vgg11_bn_imagenet.safetensors is no file of vgg11."""
    root = data_root()
    wanted = re.compile(rf"{re.escape(name)}_{tag}\.safetensors")
    files = sorted((root / "models").glob("*.safetensors")) if root else []
    return next((f for f in files if wanted.fullmatch(f.name)), None)


def _open_clip_file(architecture: str, tag: str) -> Path | None:
    return local_file(architecture, re.escape(tag) + r"(\..*)?")


def find_weights(backbone: str) -> Weights:
    """Finds a backbone's weights below VSDEMO_DATA/models, or downloads them.

    Raises UserError for an unknown name and when the weights are neither here nor to be had.
    """
    kind, _, rest = backbone.partition("/")
    if backbone == "pocket":
        return Weights(backbone, path := _pocket(), content_hash(path))
    try:
        if kind == "torchvision" and rest:
            path = local_file(rest) or _torchvision_download(rest)
        elif kind == "open_clip" and rest.count("/") == 1:
            architecture, tag = rest.split("/")
            _check_architecture(architecture)
            if tag == "random":
                return Weights(backbone, None, "random")
            path = _open_clip_file(architecture, tag) or _open_clip_download(architecture, tag)
        else:
            raise UserError(UNKNOWN.format(backbone))
    except BROKEN as error:
        raise UserError(
            f"The image network {backbone} is not here and could not be downloaded "
            f"({type(error).__name__}); go online once, or put its weights as .safetensors into "
            "the models/ folder below VSDEMO_DATA."
        ) from None
    return Weights(backbone, path, content_hash(path))


def content_hash(path: Path) -> str:
    """The first 16 hex digits of a file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _pocket() -> Path:
    """The weights that come with the project. Raises UserError where they were deleted."""
    if not POCKET.is_file():
        raise UserError(
            f"The image network pocket is missing: {POCKET}; it comes with vsdemo, so get that "
            "file again (`git restore checkpoints/pocket`)."
        )
    return POCKET


def is_here(backbone: str) -> bool:
    """Whether a backbone's weights are known to be had without a download."""
    kind, _, rest = backbone.partition("/")
    if kind == "torchvision":
        downloaded = Path(torch.hub.get_dir()) / "checkpoints"
        hub = None if rest in DOWNLOADS else next(downloaded.glob(f"{rest}-*.pth"), None)
        return bool(local_file(rest) or hub)
    if kind == "open_clip" and rest.count("/") == 1:
        architecture, tag = rest.split("/")
        return tag == "random" or _open_clip_file(architecture, tag) is not None
    return backbone == "pocket" and POCKET.is_file()


def _torchvision_download(name: str) -> Path:
    import torchvision  # takes seconds

    if name not in torchvision.models.list_models(module=torchvision.models):
        raise UserError(UNKNOWN.format(f"torchvision/{name}"))
    if name in DOWNLOADS:  # checkpoints know the file that `fetch` makes, not the one it downloads
        raise UserError(
            f"The image network torchvision/{name} is not here; whoever runs the app can fetch it "
            f"under More or by `python -m vsdemo fetch {name}`, or put its weights as .safetensors "
            "into the models/ folder below VSDEMO_DATA."
        )
    known = torchvision.models.get_model_weights(name).__members__
    if "IMAGENET1K_V1" not in known:
        raise UserError(f"torchvision has no ImageNet weights for {name}; use another network.")
    return hub_file(known["IMAGENET1K_V1"].url)


def hub_file(url: str) -> Path:
    """A file of weights in torch's own cache, downloaded when it is not there."""
    torch.hub.load_state_dict_from_url(url, check_hash=True, weights_only=True)
    return Path(torch.hub.get_dir()) / "checkpoints" / url.rsplit("/", 1)[1]


def _check_architecture(architecture: str) -> None:
    import open_clip

    if architecture not in open_clip.list_models():
        raise UserError(
            f"open_clip has no architecture {architecture!r}; it has ViT-B-32, RN50 and those "
            "that open_clip.list_models() lists."
        )


def _open_clip_download(architecture: str, tag: str) -> Path:
    import open_clip

    config = open_clip.get_pretrained_cfg(architecture, tag)
    if not config:
        known = ", ".join(open_clip.list_pretrained_tags_by_model(architecture)) or "none"
        raise UserError(f"open_clip has no weights {tag!r} for {architecture!r}; it has: {known}.")
    return Path(open_clip.download_pretrained(config))
