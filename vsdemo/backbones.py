"""Frozen image networks: photos in, one vector and one spatial map a photo out.

A backbone is named `torchvision/<name>` or `open_clip/<architecture>/<pretrained>`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
import torchvision
from PIL import Image
from safetensors.torch import load_file
from torch import Tensor, nn
from torchvision.transforms import v2

from vsdemo.device import autocast, device
from vsdemo.paths import data_root
from vsdemo.types import UserError

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CROPS = {"center": 1, "mirror": 2, "ten": 10}  # views a photo


@dataclass(frozen=True)
class Weights:
    """Where a backbone's weights are, and the first 16 hex digits of their SHA-256."""

    backbone: str
    path: Path | None  # None: random weights, for tests
    hash: str


def _local_file(stem: str) -> Path | None:
    root = data_root()
    files = sorted((root / "models").glob(f"{stem}*.safetensors")) if root else []
    return files[0] if files else None


def find_weights(backbone: str) -> Weights:
    """Finds a backbone's weights below VSDEMO_DATA/models, or downloads them.

    Raises UserError for an unknown name and when the weights are neither here nor to be had.
    """
    kind, _, rest = backbone.partition("/")
    try:
        if kind == "torchvision" and rest in torchvision.models.list_models():
            path = _local_file(f"{rest}_") or _torchvision_download(rest)
        elif kind == "open_clip" and rest.count("/") == 1:
            architecture, tag = rest.split("/")
            if tag == "random":
                return Weights(backbone, None, "random")
            path = _local_file(f"{architecture}_{tag}") or _open_clip_download(architecture, tag)
        else:
            raise UserError(
                f"There is no backbone {backbone!r}; write torchvision/<name> (densenet169, "
                "resnet152, vgg19, ...) or open_clip/<architecture>/<pretrained>."
            )
    except (OSError, RuntimeError) as error:
        raise UserError(
            f"The weights of {backbone} could not be downloaded ({type(error).__name__}); put "
            "them as .safetensors into the models/ folder below VSDEMO_DATA."
        ) from None
    return Weights(backbone, path, hashlib.sha256(path.read_bytes()).hexdigest()[:16])


def _torchvision_download(name: str) -> Path:
    weights = torchvision.models.get_model_weights(name)["IMAGENET1K_V1"]
    torch.hub.load_state_dict_from_url(weights.url, check_hash=True, weights_only=True)
    return Path(torch.hub.get_dir()) / "checkpoints" / weights.url.rsplit("/", 1)[1]


def _open_clip_download(architecture: str, tag: str) -> Path:
    import open_clip

    config = open_clip.get_pretrained_cfg(architecture, tag)
    if not config:
        known = ", ".join(open_clip.list_pretrained_tags_by_model(architecture)) or "none"
        raise UserError(f"open_clip has no weights {tag!r} for {architecture!r}; it has: {known}.")
    return Path(open_clip.download_pretrained(config))


class Backbone(nn.Module):
    """A frozen network. `forward`: pixels (B, 3, H, W), uint8 -> vector (B, D), map (B, C, h, w).

    The vector is what the network's classifier reads (its pooled last map; fc7 for VGG; the
    joint embedding for CLIP), the map its last spatial one. Neither is normalised.
    """

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.name, self.hash = weights.backbone, weights.hash
        kind, _, rest = weights.backbone.partition("/")
        build = self._torchvision if kind == "torchvision" else self._open_clip
        self.net, spatial, self.size, normalize = build(rest, weights.path)
        self.normalize = v2.Normalize(*normalize)
        self._map: Tensor | None = None
        spatial.register_forward_hook(self._keep)
        self.requires_grad_(False).eval().to(device(), memory_format=torch.channels_last)

    def _torchvision(self, name: str, path: Path | None) -> tuple[nn.Module, nn.Module, int, tuple]:
        net = torchvision.models.get_model(name, weights=None)
        spatial = getattr(net, "features", None) or getattr(net, "layer4", None)
        if spatial is None:
            raise UserError(f"torchvision/{name} has no spatial map; use a convolutional network.")
        for last, module in reversed(list(net.named_modules())):
            if isinstance(module, nn.Linear):
                net.set_submodule(last, nn.Identity())
                break
        assert path is not None
        state = load_file(path) if path.suffix == ".safetensors" else _load_torch(path)
        # Older DenseNet files name their layers norm.1 and conv.2; torchvision now norm1, conv2.
        state = {re.sub(r"(norm|relu|conv)\.([12])", r"\1\2", k): t for k, t in state.items()}
        wanted = net.state_dict().keys()
        net.load_state_dict({k: t.float() for k, t in state.items() if k in wanted}, strict=False)
        if name.startswith("densenet"):  # its last ReLU stands outside of `features`
            net.features = spatial = nn.Sequential(spatial, nn.ReLU())
        return net, spatial, 224, IMAGENET

    def _open_clip(self, name: str, path: Path | None) -> tuple[nn.Module, nn.Module, int, tuple]:
        import open_clip

        architecture = name.split("/")[0]
        with torch.random.fork_rng():
            torch.manual_seed(0)
            try:
                clip = open_clip.create_model(architecture, pretrained=path and str(path))
            except RuntimeError as error:
                raise UserError(f"open_clip cannot build {architecture!r}: {error}") from None
        visual = clip.visual
        spatial = getattr(visual, "layer4", None) or getattr(visual, "ln_post", None)
        if spatial is None:
            raise UserError(f"open_clip/{architecture} has no spatial map that vsdemo can read.")
        size = visual.image_size if isinstance(visual.image_size, int) else visual.image_size[0]
        return visual, spatial, size, (visual.image_mean, visual.image_std)

    def _keep(self, module: nn.Module, inputs: tuple, output: Tensor) -> None:
        if output.dim() == 3:  # a transformer's tokens, the first is [CLS]
            side = int((output.shape[1] - 1) ** 0.5)
            output = output[:, 1:].transpose(1, 2).unflatten(2, (side, side))
        self._map = output

    @torch.no_grad()
    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        pixels = self.normalize(pixels.to(device()).float() / 255)
        pixels = pixels.contiguous(memory_format=torch.channels_last)
        with autocast():
            vector = self.net(pixels)
        assert self._map is not None
        return vector.float(), self._map.float()

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


def _load_torch(path: Path) -> dict[str, Tensor]:
    return torch.load(path, map_location="cpu", weights_only=True)
