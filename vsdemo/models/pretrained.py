"""Models that come with their weights, such as CLIP, as checkpoints.

`clip:NAME` (see `vsdemo.vision.backbones.families.ClipFamily`) becomes a checkpoint folder below
VSDEMO_HOME. It names the weights and their hash; the weights stay where they are.
"""

from __future__ import annotations

import re
from dataclasses import replace
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
PRESET = "clip"


def folder_of(name: str) -> Path:
    """Return the checkpoint of `clip:NAME`, which is made if it is missing.

    Args:
        name: NAME.

    Raises:
        UserError: There is no such model of open_clip, or its weights are not available.
    """
    backbone = f"{CLIP}{name}"
    spec = _spec(backbone, dataset="")
    folder = _folder(backbone)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not _is_of(folder, spec):
            write(folder, backbone)
    return folder


def _folder(backbone: str) -> Path:
    """Return the folder of a checkpoint, whose name is that of the model in the app."""
    hub = f"{CLIP}{HUB}"
    if backbone.startswith(hub):
        return home() / FOLDER / backbone.removeprefix(hub)
    return home() / FOLDER / re.sub(r"[^\w.-]+", "-", backbone)


def write(folder: Path, backbone: str, dataset: str = "") -> None:
    """Write the files of a checkpoint; the weights stay where they are.

    Args:
        folder: The checkpoint. It may be the folder of the weights.
        backbone: `clip:NAME`.
        dataset: What the model was trained on, if that is a data set of vsdemo.

    Raises:
        UserError: As `folder_of`.
    """
    spec, vocab = _spec(backbone, dataset), Vocab(())
    model = models.build(spec.model, spec.config, vocab, features=0)
    checkpoint.save(folder, replace(spec, features=model.text.dim), vocab, model.state_dict())


def _spec(backbone: str, dataset: str) -> Spec:
    """Return the content of config.json, except the length of features."""
    name, default = models.preset(PRESET)
    config = default.model_copy(update={"backbone": backbone})
    cache = FeatureCache(backbone, config.crops)
    return Spec(name, PRESET, dataset, config, backbone_hash=cache.hash, features=0)


def known() -> list[Path]:
    """Return the checkpoints that `folder_of` has made and whose weights are still there."""
    folders = sorted(path.parent for path in (home() / FOLDER).rglob("config.json"))
    return [f for f in folders if is_available(checkpoint.read_spec(f).config.backbone)]


def make_fetched(download: Download) -> None:
    """Make the checkpoint of a model that was fetched; do nothing for other downloads.

    Raises:
        UserError: The model cannot be loaded.
    """
    if download.repository:
        folder_of(f"{HUB}{download.repository}")


def fetched_folder(download: Download) -> Path:
    """Return where `make_fetched` makes the checkpoint of a model on the Hugging Face Hub."""
    return _folder(f"{CLIP}{HUB}{download.repository}")


def _is_of(folder: Path, spec: Spec) -> bool:
    """Return whether a checkpoint is of the same weights."""
    try:
        stored = checkpoint.read_spec(folder)
    except UserError:
        return False
    return (stored.config, stored.backbone_hash) == (spec.config, spec.backbone_hash)
