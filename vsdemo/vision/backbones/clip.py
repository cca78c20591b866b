"""open_clip's models: their image towers as backbones, and the whole model for `models.clip`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Self, cast

import open_clip
import torch
from open_clip.transform import PreprocessCfg
from PIL.Image import Resampling
from torch import Tensor, nn
from torch.func import functional_call

from vsdemo.vision.backbones.families import CONFIG, LOCAL
from vsdemo.vision.backbones.network import Network
from vsdemo.vision.crops import InputSpec, Square

# `functional_call` swaps the tensors of the model itself while it runs, so no other thread may
# read them then.
_swapping = Lock()


@dataclass(frozen=True)
class ClipModel:
    """A model of open_clip.

    Attributes:
        model: The model, both towers, in evaluation mode.
        tokenizer: Texts -> ids, (N, context length).
        preprocess: open_clip's settings for preprocessing photos.
    """

    model: Any
    tokenizer: Any
    preprocess: PreprocessCfg

    @property
    def context_length(self) -> int:
        """Tokens of a text that are read, with those at its start and end."""
        return int(self.tokenizer.context_length)

    def encode_text(self, ids: Tensor) -> Tensor:
        """Embed ids (B, L): (B, D).

        In CLIP's own text tower each token sees only those before it, so the padding after the
        longest text is left out; a short sentence then takes at most a fifth of the time.
        """
        model, length = self.model, ids.shape[1]
        is_causal = isinstance(model, open_clip.CLIP) and model.attn_mask is not None
        if is_causal and model.text_pool_type == "argmax":  # at the end token, the largest id
            length = int(ids.argmax(dim=1).max()) + 1
        with _swapping:
            if length == ids.shape[1]:
                return cast(Tensor, model.encode_text(ids))
            first = {
                "clip.positional_embedding": model.positional_embedding[:length],
                "clip.attn_mask": model.attn_mask[:length, :length],
            }
            inputs = (ids[:, :length],)
            return cast(
                Tensor, functional_call(_TextTower(model), first, inputs, tie_weights=False)
            )

    @torch.inference_mode()
    def token_weights(self, ids: Tensor) -> tuple[list[str], Tensor] | None:
        """Return the tokens of a text and how much each contributes to its embedding, (T,), sum 1.

        The attentions of all layers, averaged over heads, are multiplied; half of each layer's
        output is its input (Abnar & Zuidema 2020, attention rollout):

            R = prod_l (A_l + I) / 2

        The row of the end token is returned, without the start and end tokens themselves. None for
        a text tower that is not CLIP's own.

        Args:
            ids: Ids of one text, (1, context length).
        """
        if not isinstance(self.model, open_clip.CLIP) or self.model.text_pool_type != "argmax":
            return None
        model: Any = self.model
        end = int(ids.argmax(dim=1))
        ids = ids[:, : end + 1]
        mask = None if model.attn_mask is None else model.attn_mask[: end + 1, : end + 1]
        x = model.token_embedding(ids) + model.positional_embedding[: end + 1]  # (1, T, D)
        x = x if model.transformer.batch_first else x.transpose(0, 1)
        rollout = torch.eye(end + 1, device=x.device)
        with _swapping:
            for block in model.transformer.resblocks:
                y = block.ln_1(x)
                weights = block.attn(y, y, y, need_weights=True, attn_mask=mask)[1][0]  # (T, T)
                rollout = (weights + torch.eye(end + 1, device=x.device)) / 2 @ rollout
                x = block(x, attn_mask=mask)
        shares = rollout[end, 1:end].float().cpu()
        tokens = [self.tokenizer.decode([number]) for number in ids[0, 1:end].tolist()]
        return tokens, shares / shares.sum().clamp(min=1e-12)


class _TextTower(nn.Module):
    """The text tower of a model as a module, for `functional_call`."""

    def __init__(self, clip: Any) -> None:
        super().__init__()
        self.clip = clip

    def forward(self, ids: Tensor) -> Any:
        return self.clip.encode_text(ids)


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
            own=Square(clip.preprocess.resize_mode),
            fill=clip.preprocess.fill_color,
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
