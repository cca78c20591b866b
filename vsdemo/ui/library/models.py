"""Checkpoints to choose from, the best for what is shown first."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.models import checkpoint
from vsdemo.training.jobs import jobs
from vsdemo.vision.backbones import is_available
from vsdemo.vision.crops import CROPS

Merit = tuple[bool, bool, int, int, float]


def here() -> list[Path]:
    """The checkpoints that ship, and those of runs that somebody keeps."""
    return [*checkpoint.shipped(), *(run.folder for run in jobs.list_runs() if run.kept)]


def of_concepts() -> list[Path]:
    """Checkpoints that know concepts in place of photos, the largest space first."""
    specs = {f: checkpoint.read_spec(f) for f in here() if not _sees(f)}
    found = [f for f, spec in specs.items() if "concepts" in spec.config.needs]
    return sorted(found, key=lambda f: -specs[f].config.dim)


def _sees(folder: Path) -> bool:
    """Whether a checkpoint has learnt from photos; a damaged one is told of where it is used."""
    with suppress(UserError):
        return bool(checkpoint.read_spec(folder).features)
    return True


def by_merit(dataset: str | None) -> dict[str, Path]:
    """Checkpoints of photos by their folder's name, or by two names where one is not enough.

    First come those that were trained on `dataset`, then those whose image network is here, then
    the larger sets of photos, as `data.DATASETS` lists them; then those that look at a photo once
    and not ten times, so that nobody waits minutes for the first search; then the better rsum on
    dev, which says little from one set to another.
    """
    folders = [f for f in here() if _sees(f)]
    folders.sort(key=lambda f: _merit(f, dataset), reverse=True)
    names = [f.name for f in folders]
    return {f.name if names.count(f.name) == 1 else f"{f.parent.name} {f.name}": f for f in folders}


def knows_photos(folder: Path) -> bool:
    """Whether a checkpoint has seen photos, and not drawings alone."""
    return not datasets.is_generated(checkpoint.read_spec(folder).dataset)


def _merit(folder: Path, dataset: str | None) -> Merit:
    known = list(datasets.DATASETS)
    try:
        figures = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
        spec = checkpoint.read_spec(folder)
        base = datasets.base_name(spec.dataset)
        place = known.index(base) if base in known else len(known)
        here, views = is_available(spec.config.backbone), CROPS[spec.config.crops].views
        return spec.dataset == dataset, here, -place, -views, float(figures["dev"]["rsum"])
    except (UserError, OSError, ValueError, KeyError, TypeError):
        return False, False, -len(known) - 1, 0, 0.0
