"""Tiny models of open_clip on disk, in its own layout."""

import json
from pathlib import Path

import torch
from open_clip.model import CLIP
from safetensors.torch import save_file

PREPROCESS = {
    "mean": [0.5, 0.4, 0.3],
    "std": [0.2, 0.3, 0.4],
    "interpolation": "bilinear",
    "resize_mode": "squash",
}
CONFIG = {
    "embed_dim": 24,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8},
    "text_cfg": {"context_length": 12, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 2},
}


def write_clip(folder: Path, *, preprocess: dict = PREPROCESS, seed: int = 0, **changes) -> Path:
    """Write a model with random weights that plain open_clip can load as local-dir."""
    config = {**CONFIG, **changes}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = CLIP(**config)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    written = {"model_cfg": config, "preprocess_cfg": preprocess}
    (folder / "open_clip_config.json").write_text(json.dumps(written))
    return folder
