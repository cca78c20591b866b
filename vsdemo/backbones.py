"""Frozen image networks: photos in, one vector and one spatial map a photo out.

A backbone is named `torchvision/<name>` or `open_clip/<architecture>/<pretrained>`.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import torch
import torch.nn.functional as F
import torchvision
from PIL import Image
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torchvision.transforms import v2

from vsdemo.device import autocast, device
from vsdemo.paths import data_root
from vsdemo.types import UserError

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CROPS = {"center": 1, "mirror": 2, "ten": 10}  # views a photo
BROKEN = (  # what comes of failed downloads and damaged files
    *(OSError, RuntimeError, EOFError),
    *(HTTPException, SafetensorError, pickle.UnpicklingError),
)


@dataclass(frozen=True)
class Weights:
    """Where a backbone's weights are, and the first 16 hex digits of their SHA-256."""

    backbone: str
    path: Path | None  # None: random weights, for tests
    hash: str


def _local_file(pattern: str, *, unlike: list[str]) -> Path | None:
    """The first file of that pattern below VSDEMO_DATA/models that no longer name claims:
    vgg11_bn_imagenet.safetensors is no file of vgg11."""
    root = data_root()
    files = sorted((root / "models").glob(pattern)) if root else []
    longer = tuple(f"{name}_" for name in unlike)
    return next((f for f in files if not f.name.startswith(longer)), None)


def find_weights(backbone: str) -> Weights:
    """Finds a backbone's weights below VSDEMO_DATA/models, or downloads them.

    Raises UserError for an unknown name and when the weights are neither here nor to be had.
    """
    kind, _, rest = backbone.partition("/")
    try:
        if kind == "torchvision" and rest in (known := _torchvision_names()):
            longer = [n for n in known if n.startswith(rest) and n != rest]
            path = _local_file(f"{rest}_*.safetensors", unlike=longer)
            path = path or _torchvision_download(rest)
        elif kind == "open_clip" and rest.count("/") == 1:
            architecture, tag = rest.split("/")
            _check_architecture(architecture)
            if tag == "random":
                return Weights(backbone, None, "random")
            path = _local_file(f"{architecture}_{tag}.*safetensors", unlike=[])
            path = path or _open_clip_download(architecture, tag)
        else:
            raise UserError(
                f"There is no backbone {backbone!r}; write torchvision/<name> (densenet169, "
                "resnet152, vgg19, ...) or open_clip/<architecture>/<pretrained>."
            )
    except BROKEN as error:
        raise UserError(
            f"The weights of {backbone} could not be downloaded ({type(error).__name__}); put "
            "them as .safetensors into the models/ folder below VSDEMO_DATA."
        ) from None
    return Weights(backbone, path, hashlib.sha256(path.read_bytes()).hexdigest()[:16])


def _torchvision_names() -> list[str]:
    return torchvision.models.list_models(module=torchvision.models)


def _torchvision_download(name: str) -> Path:
    known = torchvision.models.get_model_weights(name).__members__
    if "IMAGENET1K_V1" not in known:
        raise UserError(f"torchvision has no ImageNet weights for {name}; use another network.")
    url = known["IMAGENET1K_V1"].url
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


class _Classifier(nn.Module):
    """A torchvision network without its classifier: pixels -> vector, last spatial map."""

    size, mean_std = 224, IMAGENET

    def __init__(self, name: str, path: Path) -> None:
        super().__init__()
        self.net = net = torchvision.models.get_model(name, weights=None)
        spatial = getattr(net, "features", None) or getattr(net, "layer4", None)
        linear = [n for n, m in net.named_modules() if isinstance(m, nn.Linear)]
        if spatial is None or not linear or isinstance(net, torchvision.models.SwinTransformer):
            raise UserError(f"torchvision/{name} has no spatial map; use a convolutional network.")
        net.set_submodule(linear[-1], nn.Identity())
        self._load(path)
        if name.startswith("densenet"):  # its last ReLU stands outside of `features`
            net.features = spatial = nn.Sequential(spatial, nn.ReLU())
        self._map: Tensor | None = None
        spatial.register_forward_hook(self._keep)

    def _load(self, path: Path) -> None:
        safe = path.suffix == ".safetensors"
        state = load_file(path) if safe else torch.load(path, "cpu", weights_only=True)
        own = self.net.state_dict().keys()
        # Older DenseNet files name their layers norm.1 and conv.2; torchvision now norm1, conv2.
        named = {
            k if k in own else re.sub(r"(norm|conv)\.([12])", r"\1\2", k): t.float()
            for k, t in state.items()
        }
        missing, _ = self.net.load_state_dict(named, strict=False)
        if missing := [k for k in missing if not k.endswith("num_batches_tracked")]:
            raise RuntimeError(f"{len(missing)} tensors are missing, such as {missing[0]}")

    def _keep(self, module: nn.Module, inputs: tuple[Tensor], output: Tensor) -> None:
        self._map = output

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        vector = self.net(pixels)
        assert self._map is not None
        return vector, self._map


class _Clip(nn.Module):
    """The image tower of a CLIP model: pixels -> joint embedding, last spatial map."""

    def __init__(self, name: str, path: Path | None) -> None:
        import open_clip

        super().__init__()
        architecture, tag = name.split("/")
        trained = open_clip.get_pretrained_cfg(architecture, tag)  # {} when random or unlisted
        with torch.random.fork_rng():
            torch.manual_seed(0)
            clip = open_clip.create_model(
                architecture,
                pretrained=path and str(path),
                pretrained_text=False,
                force_quick_gelu=trained.get("quick_gelu", False),
                force_preprocess_cfg=trained,
            )
        self.visual = clip.visual
        size = self.visual.image_size
        self.size = size if isinstance(size, int) else size[0]
        self.mean_std = self.visual.image_mean, self.visual.image_std

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        pooler = getattr(self.visual, "attn_pool", None)  # its norm does not fit the tokens
        found = self.visual.forward_intermediates(
            pixels, indices=1, normalize_intermediates=pooler is None
        )
        return found["image_features"], found["image_intermediates"][0]


class Backbone(nn.Module):
    """A frozen network. `forward`: pixels (B, 3, H, W), uint8 -> vector (B, D), map (B, C, h, w).

    The vector is what the network's classifier reads (its pooled last map; fc7 for VGG; the
    joint embedding for CLIP), the map its last spatial one. Neither is normalised.
    """

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.name, self.hash = weights.backbone, weights.hash
        kind, _, rest = weights.backbone.partition("/")
        try:
            self.net = (_Clip if kind == "open_clip" else _Classifier)(rest, weights.path)
        except BROKEN as error:
            file = weights.path.name if weights.path else "made at random"
            raise UserError(
                f"The weights {file} do not fit {self.name} or are damaged "
                f"({' '.join(str(error).split())[:200]})."
            ) from None
        self.size = self.net.size
        self.normalize = v2.Normalize(*self.net.mean_std)
        self.requires_grad_(False).eval().to(device(), memory_format=torch.channels_last)

    @torch.no_grad()
    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        pixels = self.normalize(pixels.to(device()).float() / 255)
        pixels = pixels.contiguous(memory_format=torch.channels_last)
        with autocast():
            vector, spatial = self.net(pixels)
        return vector.float(), spatial.float()

    def views(self, photo: Image.Image, crops: str) -> Tensor:
        """The photo's views (V, 3, size, size), uint8: the short side is scaled to size * 8/7
        (256 for 224), then the centre, the centre and its mirror image, or the four corners, the
        centre and their mirror images are cut out (Vendrov 2016, section 4.2)."""
        short = round(self.size * 8 / 7)
        width, height = photo.size
        scale = short / min(width, height)
        photo = photo.resize(
            (max(short, round(width * scale)), max(short, round(height * scale))),
            Image.Resampling.BILINEAR,
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
        if self.name.startswith("torchvision/"):
            vector = vector.relu()
        return F.normalize(vector.unflatten(0, views.shape[:2]).mean(1), dim=-1)
