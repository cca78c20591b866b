"""Models that come with their weights, such as CLIP, as checkpoints.

`clip:NAME` (see `vsdemo.vision.backbones.families.ClipFamily`) becomes a checkpoint folder below
VSDEMO_HOME. It names the weights and their hash; the weights stay where they are.
"""

from __future__ import annotations

import re
from pathlib import Path

from filelock import FileLock

from vsdemo import models
from vsdemo.core.errors import UserError
from vsdemo.core.paths import home
from vsdemo.data.downloads.files import Download
from vsdemo.data.text.vocab import Vocab
from vsdemo.models import checkpoint
from vsdemo.models.checkpoint import Spec
from vsdemo.vision.backbones import CLIP, is_available
from vsdemo.vision.backbones.families import HUB
from vsdemo.vision.features import FeatureCache

FOLDER = "clip"  # below VSDEMO_HOME


def folder_of(name: str) -> Path:
    """Return the checkpoint of `clip:NAME`, which is made if it is not there.

    Args:
        name: NAME.

    Raises:
        UserError: There is no such model of open_clip, or its weights are not available.
    """
    backbone = f"{CLIP}{name}"
    model_name, default = models.preset("clip")
    config = default.model_copy(update={"backbone": backbone})
    cache = FeatureCache(backbone, config.crops)
    folder = home() / FOLDER / re.sub(r"[^\w.-]+", "-", backbone)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not _is_of(folder, backbone, cache.hash):
            vocab = Vocab(())
            model = models.build(model_name, config, vocab, features=0)
            spec = Spec(
                model=model_name,
                preset="clip",
                dataset="",
                config=config,
                backbone_hash=cache.hash,
                features=model.text.dim,
            )
            checkpoint.save_whole(folder, spec, vocab, model.state_dict())
    return folder


def known() -> list[Path]:
    """Return the checkpoints that `folder_of` has made and whose weights are still there."""
    folders = sorted(path.parent for path in (home() / FOLDER).glob("*/config.json"))
    return [f for f in folders if is_available(checkpoint.read_spec(f).config.backbone)]


def make_fetched(download: Download) -> None:
    """Make the checkpoint of a model that was fetched; of anything else, nothing."""
    if download.repository:
        folder_of(f"{HUB}{download.repository}")


def _is_of(folder: Path, backbone: str, weights: str) -> bool:
    """Return whether a checkpoint is of these weights."""
    try:
        spec = checkpoint.read_spec(folder)
    except UserError:
        return False
    return (spec.config.backbone, spec.backbone_hash) == (backbone, weights)
