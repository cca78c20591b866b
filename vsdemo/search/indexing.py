"""Indexes a folder of photos: what `vsdemo index` and the app do.

Only files that are new or have changed since the last run are read, in worker processes, while the
networks compute the features of those before them. Photos and features are stored together every
few hundred photos, so that a run that is killed loses no more than these.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from threading import Event

import numpy as np
import torch
from torch import Tensor

from vsdemo.core import cores
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.paths import printable
from vsdemo.core.photo_paths import PhotoPaths
from vsdemo.core.progress import StageProgress
from vsdemo.data import datasets
from vsdemo.data.catalog.catalog import (
    Catalog,
    catalog_of,
    default_name,
    list_catalogs,
    remove_catalog,
)
from vsdemo.data.catalog.examine import PhotoRecord, content_hash
from vsdemo.data.catalog.look import FLAT, look_of
from vsdemo.data.catalog.scan import STOPPED, PhotoFile, Scan, scan
from vsdemo.models import checkpoint, pretrained
from vsdemo.search.examiners import Examined, Task, examine_all
from vsdemo.vision import features
from vsdemo.vision.crops import CROPS
from vsdemo.vision.features import SHARD, FeatureCache

SCANNING, READING, REGIONS = "Listing the folder", "Reading photos", "Looking at regions"
COMPARING = "Reading thumbnails"
FIRST_PART = 32  # photos that are stored first, so that a search can begin
THUMBNAILS = 500  # read at a time

FolderIdentity = tuple[int, int]  # device and inode


class NoPhotos(UserError):
    """Raised for a folder without photos."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"The folder {folder} contains no photos (JPEG, PNG, WebP, HEIC, ...); choose the "
            "folder that they are in, or one above it."
        )


@dataclass(frozen=True)
class IndexSummary:
    """What a run has done.

    Attributes:
        name: Name of the index.
        folder: The folder.
        photos: Readable photos in the index.
        new: Files that were read for the first time.
        changed: Files that were read again because they have changed.
        moved: Files whose name or folder has changed.
        removed: Photos whose files are gone.
        unreadable: Files and subfolders that cannot be read.
        seconds: How long it took.
        problems: Each of these -> why.
    """

    name: str
    folder: str
    photos: int
    new: int
    changed: int
    moved: int
    removed: int
    unreadable: int
    seconds: float
    problems: dict[str, str]

    @property
    def text(self) -> str:
        """What the run has done, in a few words."""
        counts = {
            "new": self.new,
            "changed": self.changed,
            "moved": self.moved,
            "removed": self.removed,
            "unreadable": self.unreadable,
        }
        changes = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        photos = "1 photo" if self.photos == 1 else f"{self.photos:,} photos"
        return f"{photos} ({changes or 'nothing new'})"


def open_catalog(folder: Path, name: str = "") -> Catalog:
    """Return the catalog of a folder, which is created if it does not exist.

    Args:
        folder: The folder.
        name: Name of the catalog; by default that of the folder.

    Raises:
        UserError: There is no such folder, or the name is invalid, belongs to a data set or to
            another folder.
    """
    try:
        is_folder = folder.is_dir()
    except OSError as error:
        raise UserError(
            f"The folder {folder} cannot be read ({error.strerror}); check its permissions."
        ) from None
    if not is_folder:
        raise UserError(f"There is no folder {folder}; if it is on a drive, connect that.")
    name = name or default_name(folder)
    if name in _data_sets():
        raise UserError(f"{name!r} is the name of a data set; choose another name (--name).")
    return Catalog.create(name, folder)


def proposed_name(folder: Path) -> str:
    """Return the name that the index of a folder has, or one that is free."""
    if catalog := catalog_of(folder):
        return catalog.name
    name, taken = default_name(folder), {*list_catalogs(), *_data_sets()}
    numbered = (f"{name[:60]}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def _data_sets() -> set[str]:
    return {*datasets.DATASETS, *datasets.karpathy_files()}


def default_checkpoints() -> list[Path]:
    """Return the checkpoints that a folder is indexed for unless others are named.

    These are all models of open_clip that were fetched or, if there are none, the shipped models
    that were trained on photos and look at each photo once.
    """
    return pretrained.known() or [f for f in checkpoint.shipped() if _is_quick(f)]


def _is_quick(folder: Path) -> bool:
    try:
        spec = checkpoint.read_spec(folder)
        checkpoint.check_photos(spec)
    except UserError:  # it has no image encoder, or is damaged
        return False
    crops = CROPS[spec.config.crops]
    return (
        crops.views == crops.vectors == 1
        and not datasets.is_generated(datasets.base_name(spec.dataset))
        and features.is_available(spec.config.backbone, spec.config.crops)
    )


def feature_caches(checkpoints: Iterable[Path]) -> list[FeatureCache]:
    """Return the caches of the features that some checkpoints need, each once.

    Raises:
        UserError: A checkpoint or its image network is missing.
    """
    caches: dict[tuple[str, str], FeatureCache] = {}
    for folder in checkpoints:
        spec = checkpoint.read_spec(folder)
        checkpoint.check_photos(spec)
        caches[spec.network, spec.config.crops] = checkpoint.feature_cache(spec)
    return list(caches.values())


def index_folder(
    catalog: Catalog,
    caches: Sequence[FeatureCache],
    progress: StageProgress,
    cancel: Event,
) -> IndexSummary:
    """Bring a catalog and the features of its photos up to date.

    Args:
        catalog: The catalog.
        caches: Where the features go.
        progress: Called with a stage, photos done and all of them; 0 while that is unknown.
        cancel: Set it to stop; what is done is kept.

    Raises:
        Cancelled: `cancel` is set.
        UserError: Another process indexes the folder, the folder cannot be read, contains no
            photos or seems to be unmounted, or the disk is full.
    """
    started = time.monotonic()
    try:
        changes = _update(catalog, caches, progress, cancel)
    except NoPhotos:
        remove_catalog(catalog.name)  # its name is free for another folder
        raise
    problems = catalog.problems()
    photos = len(catalog.files()) - len(problems)
    for path, why in changes.unreadable.items():
        problems[path] = f"{Path(path).name} cannot be read ({why})."
    return IndexSummary(
        name=catalog.name,
        folder=str(catalog.folder),
        photos=photos,
        new=len(changes.new),
        changed=len(changes.changed),
        moved=len(changes.moved),
        removed=len(changes.removed),
        unreadable=len(problems),
        seconds=round(time.monotonic() - started, 3),
        problems={printable(path): printable(why) for path, why in problems.items()},
    )


def _update(
    catalog: Catalog, caches: Sequence[FeatureCache], progress: StageProgress, cancel: Event
) -> Changes:
    """Do what `index_folder` does, and return what was different from the last run."""
    with catalog.writing():
        folder = _identity(catalog.folder)
        changes = find_changes(catalog, progress, cancel)
        catalog.move(changes.moved)
        if changes.removed:
            catalog.remove(changes.removed)
        _add_looks(catalog, progress, cancel)
        writers = [FeatureWriter(cache) for cache in caches if cache.has_views]
        lacking = _lacking(catalog, writers, {file.path for file in changes.to_read})
        files = changes.to_read + lacking
        if files:
            _read_files(catalog, files, writers, progress, cancel, folder)
        for cache in caches:
            if not cache.has_views:
                _add_regions(catalog, cache, progress, cancel)
    return changes


@dataclass
class Changes:
    """What is different from the last run.

    Attributes:
        new: Files that were not there.
        changed: Files with another size or time.
        moved: Old path of a photo, and its file now.
        removed: Paths of files that are gone.
        unreadable: Subfolders and files that cannot be listed -> why.
    """

    new: list[PhotoFile] = field(default_factory=list)
    changed: list[PhotoFile] = field(default_factory=list)
    moved: list[tuple[str, PhotoFile]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def to_read(self) -> list[PhotoFile]:
        """The files whose content is not known."""
        return self.new + self.changed


def find_changes(catalog: Catalog, progress: StageProgress, cancel: Event) -> Changes:
    """Compare a folder with its catalog.

    Raises:
        Cancelled: `cancel` is set.
        NoPhotos: The folder contains none, and the catalog has none.
        UserError: The folder cannot be read, or is empty although the catalog has photos.
    """
    known = catalog.files()
    listed = scan(catalog.folder, lambda done, total: progress(SCANNING, done, total), cancel)
    if not listed.files:
        if known:
            raise UserError(
                f"{catalog.folder} is empty, but {len(known):,} photos of it are indexed; connect "
                "its drive. (If all are deleted, delete the index too.)"
            )
        if listed.unreadable:
            path, why = next(iter(listed.unreadable.items()))
            raise UserError(
                f"No photo below {catalog.folder} can be read ({path}: {why}); check the "
                "permissions."
            )
        raise NoPhotos(catalog.folder)
    changes = Changes(unreadable=listed.unreadable)
    added: list[PhotoFile] = []
    for file in listed.files:
        if file.path not in known:
            added.append(file)
        elif known[file.path][0] != file:
            changes.changed.append(file)
    gone = _gone(known, listed)
    changes.moved = _find_moves(catalog.folder, added, {path: known[path] for path in gone})
    old = {path for path, _ in changes.moved}
    new_paths = {file.path for _, file in changes.moved}
    changes.removed = [path for path in gone if path not in old]
    changes.new = [file for file in added if file.path not in new_paths]
    return changes


def _gone(known: Iterable[str], listed: Scan) -> list[str]:
    """Return known paths that are not listed, except those below an unreadable folder."""
    paths = {file.path for file in listed.files}
    hidden = tuple(f"{path}/" for path in listed.unreadable)
    return [path for path in known if path not in paths and not path.startswith(hidden)]


def _find_moves(
    folder: Path, added: Sequence[PhotoFile], gone: dict[str, tuple[PhotoFile, str]]
) -> list[tuple[str, PhotoFile]]:
    """Return old path and file of each added file that has the content of a missing one.

    Only files with the size and time of a missing one are read.
    """
    old_paths: dict[tuple[int, int], list[str]] = {}
    for path, (file, key) in gone.items():
        if key:
            old_paths.setdefault((file.size, file.modified), []).append(path)
    candidates = [file for file in added if (file.size, file.modified) in old_paths]

    def content(file: PhotoFile) -> str:
        try:
            return content_hash(folder / file.path)
        except OSError:
            return ""

    moves = []
    with cores.thread_pool() as pool:
        for file, key in zip(candidates, pool.map(content, candidates), strict=True):
            waiting = old_paths[file.size, file.modified]
            if old := next((path for path in waiting if gone[path][1] == key), None):
                waiting.remove(old)
                moves.append((old, file))
    return moves


class FeatureWriter:
    """Computes and stores the features of photos for one network, in batches.

    Attributes:
        cache: Where the features go.
        known: Content hashes of photos that have features.
    """

    def __init__(self, cache: FeatureCache) -> None:
        self.cache, self.known = cache, {*cache.known()}
        self._keys: list[str] = []
        self._views: list[np.ndarray] = []
        self._vectors: list[Tensor] = []

    def add(self, key: str, views: np.ndarray) -> None:
        """Add a photo with its views, (V, 3, H, W), unless it has features."""
        if key in self.known:
            return
        self.known.add(key)
        self._keys.append(key)
        self._views.append(views)
        if len(self._views) >= self.cache.photos_per_batch:
            self._compute()

    def flush(self) -> None:
        """Store the features of all photos so far.

        Raises:
            UserError: They cannot be written.
        """
        self._compute()
        if self._keys:
            try:
                self.cache.store(self._keys, torch.cat(self._vectors))
            except OSError as error:
                raise UserError(
                    f"The features cannot be written to {self.cache.folder} ({error.strerror}); "
                    "make room there and index again, which continues from there."
                ) from None
        self._keys, self._vectors = [], []

    def _compute(self) -> None:
        if self._views:
            self._vectors.append(self.cache.encode_views(np.stack(self._views)))
            self._views = []


def _add_looks(catalog: Catalog, progress: StageProgress, cancel: Event) -> None:
    """Add the looks of photos that an older version has indexed, from their thumbnails."""
    contents = catalog.without_look()

    def look(content: str) -> int:
        thumbnail = catalog.thumbnail(content)
        return look_of(thumbnail) if thumbnail else FLAT

    with cores.thread_pool() as pool:
        for start in range(0, len(contents), THUMBNAILS):
            part = contents[start : start + THUMBNAILS]
            catalog.add_looks(zip(part, pool.map(look, part), strict=True))
            progress(COMPARING, start + len(part), len(contents))
            if cancel.is_set():
                raise Cancelled(STOPPED)


def _add_regions(
    catalog: Catalog, cache: FeatureCache, progress: StageProgress, cancel: Event
) -> None:
    """Compute the features of the photos' regions, for which each photo is read once more."""
    names, keys = catalog.photos()
    missing = cache.missing(keys)
    photos = PhotoPaths(catalog.folder, tuple(names[number] for number in missing))
    keys = tuple(keys[number] for number in missing)
    for start in range(0, len(photos), SHARD):

        def report(done: int, total: int, start: int = start) -> None:
            progress(REGIONS, start + done, len(photos))
            if cancel.is_set():
                raise Cancelled(STOPPED)

        part = slice(start, start + SHARD)
        cache.get(photos[part], progress=report, keys=keys[part])


def _lacking(
    catalog: Catalog, writers: Sequence[FeatureWriter], being_read: set[str]
) -> list[PhotoFile]:
    """Return indexed files whose features some network lacks, one for each content."""
    files: dict[str, PhotoFile] = {}
    for file, content in catalog.files().values():
        lacks = any(content not in writer.known for writer in writers)
        if content and lacks and file.path not in being_read:
            files.setdefault(content, file)
    return list(files.values())


def _read_files(
    catalog: Catalog,
    files: Sequence[PhotoFile],
    writers: Sequence[FeatureWriter],
    progress: StageProgress,
    cancel: Event,
    folder: FolderIdentity | None,
) -> None:
    task = Task(catalog.folder, tuple(writer.cache.cutter() for writer in writers))
    done = 0
    progress(READING, 0, len(files))
    with closing(examine_all(task, files)) as examined:
        for part in _parts(examined):
            records: list[PhotoRecord] = []
            for record, views in part:
                for writer, of_writer in zip(writers, views, strict=False):  # none if unreadable
                    writer.add(record.content, of_writer)
                records.append(record)
                done += 1
                progress(READING, done, len(files))
                if cancel.is_set():
                    break
            has_problem = any(record.problem for record in records)
            if has_problem and not _is_as_before(catalog.folder, folder):
                raise UserError(
                    f"{catalog.folder} has vanished; connect its drive and index it again, which "
                    "continues from there."
                )
            for writer in writers:
                writer.flush()  # before the photos, so that no photo lacks features
            catalog.write(records)
            if cancel.is_set():
                raise Cancelled(STOPPED)


def _identity(folder: Path) -> FolderIdentity | None:
    """Return what distinguishes a folder from another one at its path; None if there is none."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_as_before(folder: Path, identity: FolderIdentity | None) -> bool:
    """Return whether a folder is still there and not empty; it is empty once its drive is gone."""
    try:
        return _identity(folder) == identity and any(folder.iterdir())
    except OSError:
        return False


def _parts(examined: Generator[Examined, None, None]) -> Iterator[Iterator[Examined]]:
    """Yield the photos that are stored together; each part must be read before the next one."""
    size = FIRST_PART
    for first in examined:
        yield _take(first, examined, size)
        size = SHARD


def _take(first: Examined, rest: Iterator[Examined], count: int) -> Iterator[Examined]:
    yield first
    for _, item in zip(range(count - 1), rest, strict=False):
        yield item
