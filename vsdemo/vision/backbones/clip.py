"""open_clip's image towers as backbones."""

from __future__ import annotations

from pathlib import Path

import open_clip
import torch
from PIL.Image import Resampling
from torch import Tensor, nn


class Clip(nn.Module):
    """The image tower of a CLIP model: pixels -> joint embedding, last spatial map."""

    resampling = Resampling.BICUBIC

    def __init__(self, name: str, path: Path | None) -> None:
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
        self.short = self.size = size if isinstance(size, int) else size[0]
        self.mean_std = self.visual.image_mean, self.visual.image_std

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        pooler = getattr(self.visual, "attn_pool", None)  # its norm does not fit the tokens
        found = self.visual.forward_intermediates(
            pixels, indices=1, normalize_intermediates=pooler is None
        )
        return found["image_features"], found["image_intermediates"][0]
