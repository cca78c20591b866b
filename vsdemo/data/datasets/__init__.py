"""Data sets of photos by name.

A new data set is a module with a subclass of `Dataset`, and a line in `DATASETS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.paths import AnyPath, data_root
from vsdemo.core.progress import Progress
from vsdemo.data.catalog.catalog import list_catalogs
from vsdemo.data.datasets.base import Dataset, Report
from vsdemo.data.datasets.feature_shards import FeatureShards
from vsdemo.data.datasets.karpathy import KarpathyFile
from vsdemo.data.datasets.own.folder import IndexedFolder, PhotoFolder
from vsdemo.data.datasets.verify import verify
from vsdemo.data.datasets.webdataset import WebDataset

DATASETS = {  # name -> "module:class", imported when used
    "flickr8k": "vsdemo.data.datasets.flickr8k:Flickr8k",
    "pascal1k": "vsdemo.data.datasets.pascal1k:Pascal1k",
    "storybook": "vsdemo.data.datasets.storybook:Storybook",
}


@cache
def _registered(name: str) -> type[Dataset]:
    module, _, attribute = DATASETS[name].partition(":")
    kind: type[Dataset] = getattr(import_module(module), attribute)
    return kind


def karpathy_files() -> dict[str, Path]:
    """Return the files <name>/captions.json and <name>/dataset*.json below VSDEMO_DATA, by name."""
    root = data_root()
    if root is None or not root.is_dir():
        return {}
    patterns = ("*/captions.json", "*/dataset*.json")
    return {p.parent.name: p for pattern in patterns for p in sorted(root.glob(pattern))}


def find(name: AnyPath) -> Dataset:
    """Return a data set.

    Args:
        name: A name in `DATASETS`, with the name of other splits such as `pascal1k:3`;
            a name in `karpathy_files()`; the name of an index; or the path of such a file, of a
            folder of photos, with captions or without, of one in CLIP_benchmark's format, or of
            features in tar files.

    Raises:
        UserError: There is no such data set.
    """
    name = str(name)
    if name in DATASETS:
        return _registered(name)()
    if variant := _variant(name):
        return variant
    files = karpathy_files()
    if name in files:
        return KarpathyFile(files[name])
    indexes = list_catalogs()
    if name in indexes:
        return IndexedFolder(name)
    path = _existing_path(name)
    if path and path.suffix == ".json":
        return KarpathyFile(path)
    if path and path.is_dir():
        path = path.absolute()
        if FeatureShards.is_in(path):
            return FeatureShards(path)
        return WebDataset(path) if WebDataset.is_in(path) else PhotoFolder(path)
    kinds = {known: _registered(known).variants for known in DATASETS}
    variants = [f"{known}:{variants}" for known, variants in kinds.items() if variants]
    valid = ", ".join(sorted({*DATASETS, *variants, *files, *indexes}))
    raise UserError(
        f"There is no data set {name!r}; use one of {valid}, a captions.json or a folder of photos."
    )


def full_name(name: AnyPath) -> str:
    """Return the name of a data set that is valid in any working directory."""
    name = str(name)
    if name in {*DATASETS, *karpathy_files(), *list_catalogs()} or base_name(name) != name:
        return name
    path = _existing_path(name)
    return str(path.absolute()) if path else name


def load(name: AnyPath, split: str, progress: Progress | None = None, limit: int = 0) -> CaptionSet:
    """Return a split of a data set.

    Args:
        name: As `find` takes it.
        split: One of `splits(name)`.
        progress: Called while photos are generated, or their content is read.
        limit: Only the first photos; 0 for all.

    Raises:
        UserError: The data set or the split does not exist, or files are missing or malformed.
    """
    return _with_split(name, split).load(split, progress, limit)


def photos(name: AnyPath, split: str) -> Sequence[Path]:
    """Return the photos of a split, which need not have been generated yet.

    Raises:
        UserError: As for `load`.
    """
    return _with_split(name, split).photos(split)


def _with_split(name: AnyPath, split: str) -> Dataset:
    dataset = find(name)
    if split not in dataset.splits:
        raise UserError(f"There is no split {split!r}; use one of {', '.join(dataset.splits)}.")
    return dataset


def splits(name: AnyPath) -> tuple[str, ...]:
    """Return the splits of a data set; the last one, `all`, contains the photos of the others."""
    return find(name).splits


def base_name(name: str) -> str:
    """Return the name without that of its splits: `pascal1k` for `pascal1k:3`."""
    return name.partition(":")[0] if _variant(name) else name


def _variant(name: str) -> Dataset | None:
    """Return a registered data set with other splits; None if the name is another one."""
    base, _, variant = name.partition(":")
    return _registered(base).variant(variant) if base in DATASETS else None


def is_generated(name: str) -> bool:
    """Return whether vsdemo makes the photos itself, so that they are always available."""
    return name in DATASETS and _registered(name).generated


def _existing_path(name: str) -> Path | None:
    try:
        path = Path(name).expanduser()
        return path if name and path.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long, unknown user, null byte
        return None


def check(name: AnyPath) -> Report:
    """Check a data set: its own counts, photos that do not decode, photos in two splits.

    Raises:
        UserError: The data set does not exist or has no photos.
    """
    dataset = find(name)
    facts, problems = dataset.check()
    if not dataset.has_photos:
        return Report(facts, problems)
    loaded: dict[str, CaptionSet] = {}
    for split in dataset.splits:
        try:
            loaded[split] = dataset.load(split)
        except UserError as error:
            if split == "all":
                raise
            problems.append(str(error))
    report = verify(loaded)
    return Report(facts + report.facts, [*dict.fromkeys(problems + report.problems)])
