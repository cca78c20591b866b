"""open_clip's image encoders as backbones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import open_clip
import torch
from PIL.Image import Resampling
from torch import Tensor

from vsdemo.vision.backbones.network import Network
from vsdemo.vision.crops import InputSpec


class Clip(Network):
    """The image encoder of a CLIP model (Radford et al. 2021).

    The vector is the joint embedding (B, D), the map that of the last layer (B, C, h, w).

    Args:
        name: <architecture>/<pretrained>.
        path: File of weights; None for those of seed 0.
    """

    rectified = False

    def __init__(self, name: str, path: Path | None) -> None:
        super().__init__()
        architecture, tag = name.split("/")
        settings = open_clip.get_pretrained_cfg(architecture, tag)  # {} if random or unlisted
        with torch.random.fork_rng():
            torch.manual_seed(0)
            clip: Any = open_clip.create_model(
                architecture,
                pretrained=None if path is None else str(path),
                pretrained_text=False,
                force_quick_gelu=settings.get("quick_gelu", False),
                force_preprocess_cfg=settings,
            )
        self.visual: Any = clip.visual
        size = self.visual.image_size
        side = size if isinstance(size, int) else size[0]
        self.spec = InputSpec(
            size=side,
            short=side,
            region_size=side,
            resampling=Resampling.BICUBIC,
            mean=self.visual.image_mean,
            std=self.visual.image_std,
        )
        # The norm before an attention pooler does not fit the tokens of the map.
        self._normalize_map = getattr(self.visual, "attn_pool", None) is None

    @classmethod
    def load(cls, name: str, path: Path | None) -> Self:
        """Build the encoder and load its weights."""
        return cls(name, path)

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the joint embedding (B, D) and the map (B, C, h, w) of pixels (B, 3, H, W)."""
        output = self.visual.forward_intermediates(
            pixels, indices=1, normalize_intermediates=self._normalize_map
        )
        return output["image_features"], output["image_intermediates"][0]
