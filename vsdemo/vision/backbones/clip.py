"""open_clip's models: their image towers as backbones, and the whole model for `models.clip`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import open_clip
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL.Image import Image, Resampling
from torch import Tensor
from torchvision.transforms import Compose

from vsdemo.vision.backbones.families import CONFIG, LOCAL
from vsdemo.vision.backbones.network import Network
from vsdemo.vision.crops import InputSpec


@dataclass(frozen=True)
class ClipModel:
    """A model of open_clip.

    Attributes:
        model: The model, both towers, in evaluation mode.
        tokenizer: Texts -> ids, (N, context length).
        preprocess: How the model was trained to see photos.
    """

    model: Any
    tokenizer: Any
    preprocess: PreprocessCfg

    @property
    def context_length(self) -> int:
        """Tokens of a text that are read, with those at its start and end."""
        return int(self.tokenizer.context_length)


@lru_cache(maxsize=1)
def load_clip(name: str, path: Path | None) -> ClipModel:
    """Build a model of open_clip and load its weights; the same object for both towers.

    Args:
        name: What follows `clip:`; see `families.ClipFamily`.
        path: File of weights; None for those of seed 0.
    """
    if path is not None and (path.parent / CONFIG).is_file():
        source = f"{LOCAL}{path.parent}"
        model = open_clip.create_model_from_pretrained(source, return_transform=False)
        tokenizer = open_clip.get_tokenizer(source)
    else:
        architecture, tag = name.split("/")
        settings = open_clip.get_pretrained_cfg(architecture, tag)  # {} if random or unlisted
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = open_clip.create_model(
                architecture,
                pretrained=None if path is None else str(path),
                pretrained_text=False,
                force_quick_gelu=settings.get("quick_gelu", False),
                force_preprocess_cfg=settings,
            )
        tokenizer = open_clip.get_tokenizer(architecture)
    preprocess = PreprocessCfg(**open_clip.get_model_preprocess_cfg(model))
    return ClipModel(model.eval().requires_grad_(False), tokenizer, preprocess)


class Clip(Network):
    """The image tower of a CLIP model (Radford et al. 2021).

    The vector is the joint embedding (B, D), the map that of the last layer (B, C, h, w).
    """

    rectified = False
    precision = torch.float32  # so that scores are those of open_clip

    def __init__(self, clip: ClipModel) -> None:
        super().__init__()
        self.visual: Any = clip.model.visual
        size: Any = clip.preprocess.size
        height, width = (size, size) if isinstance(size, int) else size
        if height != width:
            raise RuntimeError(f"it reads {width} x {height} pixels, but photos become squares")
        self.spec = InputSpec(
            size=width,
            short=width,
            region_size=width,
            resampling=Resampling[clip.preprocess.interpolation.upper()],
            mean=_three(clip.preprocess.mean),
            std=_three(clip.preprocess.std),
            prepare=_geometry(clip.preprocess),
        )
        # The norm before an attention pooler does not fit the tokens of the map.
        self._normalize_map = getattr(self.visual, "attn_pool", None) is None

    @classmethod
    def load(cls, name: str, path: Path | None) -> Self:
        """Build the tower and load its weights."""
        return cls(load_clip(name, path))

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the joint embedding (B, D) and the map (B, C, h, w) of pixels (B, 3, H, W)."""
        output = self.visual.forward_intermediates(
            pixels, indices=1, normalize_intermediates=self._normalize_map
        )
        return output["image_features"], output["image_intermediates"][0]


def _three(values: tuple[float, ...]) -> tuple[float, float, float]:
    red, green, blue = values
    return red, green, blue


def _geometry(preprocess: PreprocessCfg) -> Callable[[Image], Image]:
    """Return the first steps of open_clip's transform, which resize and cut a PIL image."""
    *steps, _to_rgb, _to_tensor, _normalize = image_transform_v2(
        preprocess, is_train=False
    ).transforms
    geometry: Callable[[Image], Image] = Compose(steps)  # type: ignore[no-untyped-call]
    return geometry
