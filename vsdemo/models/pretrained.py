"""Models that come with their weights, such as CLIP, as checkpoints.

`clip:NAME` (see `vsdemo.vision.backbones.families.ClipFamily`) becomes a checkpoint folder below
VSDEMO_HOME. It names the weights and their hash; the weights stay where they are.
"""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock

from vsdemo import models
from vsdemo.core.paths import home
from vsdemo.data.text.vocab import Vocab
from vsdemo.models import checkpoint
from vsdemo.models.checkpoint import Spec
from vsdemo.vision.backbones import CLIP
from vsdemo.vision.features import FeatureCache


def folder_of(name: str | Path) -> Path:
    """Return the checkpoint that a name means: a folder, or `clip:NAME`.

    Raises:
        UserError: There is no such model of open_clip, or its weights are not available.
    """
    text = str(name)
    if not text.startswith(CLIP):
        return Path(name)
    _, default = models.preset("clip")
    config = default.model_copy(update={"backbone": text})
    cache = FeatureCache(config.backbone, config.crops)
    slug = "--".join(part for part in text.removeprefix(CLIP).split("/") if part)
    folder = home() / "clip" / f"{slug}-{cache.hash}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "config.json").is_file():
            vocab = Vocab(())
            model = models.build("clip", config, vocab, features=0)
            spec = Spec(
                model="clip",
                preset="clip",
                dataset="",
                config=config,
                backbone_hash=cache.hash,
                features=model.text.dim,
            )
            checkpoint.save_whole(folder, spec, vocab, model.state_dict())
    return folder
