"""Checkpoints to choose from, the best for a data set first."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.models import checkpoint, checkpoint_names, pretrained
from vsdemo.models import get as model_named
from vsdemo.training.jobs import jobs
from vsdemo.vision import features
from vsdemo.vision.backbones import is_available
from vsdemo.vision.crops import CROPS

SortKey = tuple[bool, bool, int, int, float]


def available() -> list[Path]:
    """Return the checkpoints that ship, those of runs that are kept, and models of open_clip."""
    runs = (run.folder for run in jobs.list_runs() if run.kept)
    return [*checkpoint.shipped(), *runs, *pretrained.known()]


def concept_models() -> list[Path]:
    """Return the checkpoints that embed concepts without photos, the largest space first."""
    specs = {
        folder: checkpoint.read_spec(folder) for folder in available() if not _uses_photos(folder)
    }
    folders = [f for f, spec in specs.items() if spec.config.material == "concept_pairs"]
    return sorted(folders, key=lambda folder: -specs[folder].config.dim)


def teachers() -> list[str]:
    """Return the names of the shipped checkpoints of photos whose image network is available."""
    names = []
    for name, folder in checkpoint_names.shipped().items():
        with suppress(UserError):
            spec = checkpoint.read_spec(folder)
            if spec.features and features.is_available(spec.config.backbone, spec.config.crops):
                names.append(name)
    return names


def _uses_photos(folder: Path) -> bool:
    """Whether a checkpoint has an image encoder; also true for a damaged one.

    A damaged one stays in the list, so that its problem is reported where it is used.
    """
    with suppress(UserError):
        return bool(checkpoint.read_spec(folder).features)
    return True


def rank_models(dataset: str | None) -> dict[str, Path]:
    """Return the checkpoints of photos by name, the most useful for a data set first.

    Checkpoints that were trained on `dataset` come first, then those whose image network is
    available, then models of open_clip, which have seen the most, then those of larger data sets
    (in the order of `datasets.DATASETS`), then those that look at a photo once instead of ten
    times, so that the first search does not take minutes, then those with the better rsum on dev. A
    name is that of the folder, with its parent's if several folders have the same one.
    """
    folders = [folder for folder in available() if _uses_photos(folder)]
    folders.sort(key=lambda folder: _sort_key(folder, dataset), reverse=True)
    names = [folder.name for folder in folders]
    return {
        folder.name if names.count(folder.name) == 1 else f"{folder.parent.name} {folder.name}": (
            folder
        )
        for folder in folders
    }


def has_seen_photos(folder: Path) -> bool:
    """Whether a checkpoint was trained on photos, and not only on drawings."""
    return not datasets.is_generated(checkpoint.read_spec(folder).dataset)


def _sort_key(folder: Path, dataset: str | None) -> SortKey:
    known = list(datasets.DATASETS)
    try:
        spec = checkpoint.read_spec(folder)
        base = datasets.base_name(spec.dataset)
        position = known.index(base) if base in known else len(known)
        views = CROPS[spec.config.crops].views
        if not spec.dataset:
            return False, is_available(spec.config.backbone), 1, -views, 0.0
        metrics = checkpoint.read_metrics(folder)
        return (
            spec.dataset == dataset,
            is_available(spec.config.backbone),
            -position,
            -views,
            float(metrics["dev"]["rsum"]),
        )
    except (ValueError, KeyError, TypeError):
        return False, False, -len(known) - 1, 0, 0.0


def paper_of(folder: Path) -> str:
    """Return authors and year of the paper of a checkpoint's model; empty without one."""
    spec = checkpoint.read_spec(folder)
    model = model_named((spec.members[0] if spec.members else spec).model)
    return " ".join(str(part) for part in (model.paper, model.year) if part)
