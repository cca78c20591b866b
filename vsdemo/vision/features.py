"""Photo features on disk, computed once for each photo's content, backbone and crops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor
from tqdm import tqdm

from vsdemo.core import cores, lent_gpu, locks, rates
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.checksums import DamagedFile, sha256
from vsdemo.core.device import device
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.paths import home
from vsdemo.core.progress import Progress
from vsdemo.core.stored_features import StoredFeatures
from vsdemo.vision import backbones, proposals, regions, shards
from vsdemo.vision.backbones import find_weights, load_backbone
from vsdemo.vision.backbones.weights import Weights
from vsdemo.vision.crops import CROPS, REGIONS, ViewCutter
from vsdemo.vision.proposals import PROPOSALS

if TYPE_CHECKING:
    from vsdemo.vision.backbones.network import Backbone

SHARD = 256  # photos per file, the most that an interrupted run computes again
FIRST_SHARD = 32  # photos in the first file of a run, so that these are available soon
GROWTH = 1.25  # features are offered again when there are this many times as many
DETECTION_SIDE = 1024  # pixels of a photo's long side when regions are proposed
BATCH_VIEWS = 16  # views through the network at a time; more are slower on a CPU
GPU_VIEWS = 256  # the same on a GPU
WORTH_LENDING = 20.0  # least seconds of CPU work for which a GPU is borrowed, which takes time
PROBE = 4  # photos, enough to measure how long one takes
LONGEST = 100  # letters of a backbone in the name of a folder
VERSION = 1  # to be raised when views or features are computed in another way
VECTOR, MAP, STEM = "vector", "map", "stem"  # kinds of features
FEATURES, BOXES = "features", "boxes"  # tensors of a file


def encode_views(weights: Weights, kind: str, views: Tensor, boxes: Tensor | None) -> Tensor:
    """Compute the features of views on the CPU: vectors in the network's precision, others in half.

    Args:
        weights: Weights of the backbone.
        kind: `VECTOR`, `MAP` or `STEM`.
        views: (B, V, 3, H, W), uint8.
        boxes: (B, K, 4), the regions to compute vectors of; None to compute those of the views.

    Returns:
        Vectors (B, D), or (B, K, D) for regions, maps (B, C, h, w), or stems (B, V, S, h, w).
    """
    network = load_backbone(weights).to(device())
    if kind == STEM:
        features = network.stems(views)
    elif kind == MAP:
        _, maps = network(views[:, 0])
        features = F.normalize(maps, dim=1)
    elif boxes is None:
        return network.encode(views).to(network.net.precision).cpu()
    else:
        features = network.encode_regions(views[:, 0], boxes)
    return features.half().cpu()


def find_in_views(weights: Weights, views: Tensor) -> Tensor:
    """Find the regions of views on the CPU, and compute their vectors.

    Args:
        weights: Weights of the backbone.
        views: Whole photos, (B, 3, H, W), uint8.

    Returns:
        (B, K, 4 + D): the box of each region, then its vector.
    """
    network = load_backbone(weights).to(device())
    return torch.cat(network.find_and_describe(views), -1).cpu()


class UnreadablePhotos(UserError):
    """Raised for photos that cannot be read; the features of all others are cached.

    Attributes:
        why: Photo -> reason.
    """

    def __init__(self, why: dict[Path, str]) -> None:
        self.why = why
        others = len(why) - 1
        more = f" (and {others:,} more photo{'s' if others > 1 else ''})" if others else ""
        super().__init__(f"{next(iter(why.values()))}{more}")


def photo_key(path: Path) -> str:
    """Return the key of a photo's content, the first 32 hexadecimal digits of its SHA-256.

    An unchanged file is read once per process.

    Raises:
        UserError: If the file cannot be read.
    """
    try:
        return sha256(path)[:32]
    except OSError as error:
        raise UserError(f"The photo {path} cannot be read ({error.strerror}).") from None


def photo_keys(photos: Sequence[Path], known: Sequence[str] = ()) -> list[str]:
    """Return the `photo_key` of each photo; empty for those that cannot be read.

    Args:
        photos: Files.
        known: As `keys` of `FeatureCache.get`.
    """
    result = list(known) or [""] * len(photos)

    def complete(part: Sequence[int]) -> None:
        for number in part:
            with suppress(UserError):
                result[number] = photo_key(photos[number])

    rest = [number for number, key in enumerate(result) if not key]
    parts = [rest[start : start + SHARD] for start in range(0, len(rest), SHARD)]
    with cores.thread_pool() as pool:
        list(pool.map(complete, parts))
    return result


def _complete_keys(photos: Sequence[Path], known: Sequence[str]) -> list[str]:
    """Return the `photo_key` of each photo.

    Raises:
        UserError: As `photo_key`.
    """
    keys = photo_keys(photos, known)
    return [key or photo_key(photos[number]) for number, key in enumerate(keys)]


def is_available(backbone: str, crops: str) -> bool:
    """Return whether all networks of some features are known to be available without a download."""
    return backbones.is_available(backbone) and proposals.is_available(crops)


class _Photo(NamedTuple):
    """A photo on its way through the network.

    Attributes:
        path: Its file, None for a photo in memory.
        small: A small copy for the proposals of regions; None for views, and where the backbone
            itself finds the regions.
        views: (V, 3, H, W), uint8.
    """

    path: Path | None
    small: Image.Image | None
    views: Tensor


class _Beginning:
    """The first photos whose features are available while others are being computed.

    Args:
        keys: Keys of all photos, in order.
        rows: Where the features of photos are; `add` adds to it.
        offer: Called with the rows of the first photos, unless these are all or none.
    """

    def __init__(
        self,
        keys: Sequence[str],
        rows: dict[str, shards.Row],
        offer: Callable[[Sequence[shards.Row]], None],
    ) -> None:
        self._keys, self._rows, self._offer = keys, rows, offer
        self._count = self._offered = 0
        self.add({})

    def add(self, rows: dict[str, shards.Row]) -> None:
        """Add the features of more photos."""
        self._rows.update(rows)
        while self._count < len(self._keys) and self._keys[self._count] in self._rows:
            self._count += 1
        has_grown = self._count > self._offered and self._count >= GROWTH * self._offered
        if has_grown and self._count < len(self._keys):
            self._offered = self._count
            self._offer([self._rows[key] for key in self._keys[: self._count]])


class FeatureCache:
    """The features of one backbone and one value of the setting `crops`, in VSDEMO_HOME/features.

    There are three kinds of features, kept in half precision, or in that of the network:

    - `VECTOR`: the L2-normalised mean over the views, (D,), or that of each region, (K, D), zeros
      for a missing region.
    - `MAP`: the last spatial map of the centre view, (C, h, w), L2-normalised at each place.
    - `STEM`: of each view what the end of the network reads, (V, S, h, w), to tune that end.

    Attributes:
        weights: Weights of the backbone.
        crops: Name of the views or regions.
        hash: Identifies all networks involved; part of a checkpoint.
        folder: Where the files are.

    Raises:
        UserError: If the backbone or the crops are unknown or not available.
    """

    def __init__(self, backbone: str, crops: str = "center") -> None:
        if crops not in CROPS:
            raise UserError(f"There are no crops {crops!r}; choose one of {', '.join(CROPS)}.")
        self.weights = find_weights(backbone)
        self.crops = crops
        self.hash = self.weights.hash
        self._proposals = PROPOSALS[crops]() if crops in REGIONS else None
        self._vectors = f"{VECTOR}-{crops}"  # folder of the vectors
        if self._proposals is not None:
            self._vectors += f"-{self._proposals.version}"
            if self._proposals.is_network:
                self.hash += f"-{self._proposals.version}"
        slug = re.sub("[:/]+", "--", backbone)[-LONGEST:]
        self.folder = home() / "features" / f"{slug}-{self.weights.hash}-v{VERSION}"

    def load(self) -> None:
        """Load the backbone now, so that the first photo need not wait for it.

        Raises:
            UserError: If it cannot be loaded.
        """
        load_backbone(self.weights)

    def get(
        self,
        photos: Sequence[Path],
        kind: str = VECTOR,
        progress: Progress | None = None,
        on_partial: Callable[[Tensor], None] | None = None,
        keys: Sequence[str] = (),
    ) -> Tensor:
        """Return the features of photos, computing missing ones.

        Shows a progress bar in the terminal, and calls `progress` if it is given.

        Args:
            photos: Files.
            kind: `VECTOR`, `MAP` or `STEM`.
            progress: Called with (photos done, photos to compute).
            on_partial: Called with the features of the first n photos whenever n has grown by a
                quarter, while others are missing.
            keys: The `photo_key` of each photo, empty where it is unknown, so that their files are
                not read; or none at all.

        Returns:
            float16: vectors (N, D), or (N, K, D) for regions, maps (N, C, h, w), or stems
            (N, V, S, h, w).

        Raises:
            UnreadablePhotos: If photos cannot be read; all others are cached by then.
            UserError: If the backbone cannot be loaded.
        """
        return self._open(FEATURES, photos, kind, progress, on_partial, keys).all()

    def get_readable(
        self,
        captions: CaptionSet,
        progress: Progress | None = None,
        on_partial: Callable[[Tensor], None] | None = None,
        kind: str = VECTOR,
    ) -> tuple[CaptionSet, Tensor, dict[Path, str]]:
        """Return the photos of a set that can be read, their features, and why others cannot.

        Args and errors are those of `open_readable`.
        """
        readable, features, why = self.open_readable(captions, progress, on_partial, kind)
        return readable, features.all(), why

    def open_readable(
        self,
        captions: CaptionSet,
        progress: Progress | None = None,
        on_partial: Callable[[Tensor], None] | None = None,
        kind: str = VECTOR,
    ) -> tuple[CaptionSet, shards.StoredRows | StoredFeatures, dict[Path, str]]:
        """Return the photos of a set that can be read, their features, and why others cannot.

        Unreadable photos are left out only if the photos are somebody's own and some can be read.
        Features that come with the set are not computed. All of them are on disk, and read when
        they are needed.

        Args:
            captions: The photos.
            progress: As for `get`.
            on_partial: As for `get`.
            kind: As for `get`.

        Raises:
            UnreadablePhotos: If photos of another data set cannot be read, or no photo can.
            UserError: If the backbone cannot be loaded, or as `check_stored`.
        """
        if captions.features is not None:
            self.check_stored(captions.features)
            return captions, captions.features, {}
        why: dict[Path, str] = {}
        try:
            features = self._open(
                FEATURES, captions.photos, kind, progress, on_partial, captions.keys
            )
        except UnreadablePhotos as error:
            captions, why = captions.without(error.why), error.why
            if not (captions.is_own and captions.photos):
                raise
            features = self._open(FEATURES, captions.photos, kind, keys=captions.keys)
        return captions, features, why

    def check_stored(self, features: StoredFeatures) -> None:
        """Check that features that come with a data set are those of this cache.

        Raises:
            UserError: They are of other crops, or of other weights of the backbone.
        """
        features.require(self.weights.name, self.crops)
        if features.about.networks != self.hash:
            raise UserError(
                f"{features.folder} has features by weights {features.about.networks} of "
                f"{self.weights.name}, but the available weights are {self.hash}; write the folder "
                "again with `python -m vsdemo data shards`."
            )

    def boxes(self, photos: Sequence[Path]) -> Tensor:
        """Return the boxes of the regions: (N, K, 4) as fractions, zeros for missing ones.

        Views have one, the whole frame. Raises the same errors as `get`.
        """
        if self._proposals is None:
            return torch.tensor(regions.FRAME).expand(len(photos), 1, 4)
        boxes = self._open(BOXES, photos, VECTOR).all().float()
        regions.check(boxes, f"the features in {self.folder}")
        return boxes

    @property
    def has_views(self) -> bool:
        """Whether the features are those of views, and not of regions."""
        return self._proposals is None

    def cutter(self) -> ViewCutter:
        """Return what cuts the views, for another process; only if `has_views`.

        Raises:
            UserError: As `load`.
        """
        return ViewCutter(self.crops, load_backbone(self.weights).net.spec)

    @property
    def photos_per_batch(self) -> int:
        """How many photos go through the network at a time."""
        return self._batch_size(VECTOR, batch_views())

    def encode_views(self, views: np.ndarray) -> Tensor:
        """Compute the vectors (B, D) of views (B, V, 3, H, W), to be stored."""
        return encode_views(self.weights, VECTOR, torch.from_numpy(views), None)

    def store(self, keys: Sequence[str], features: Tensor, kind: str = VECTOR) -> None:
        """Store the features of N photos, as `get` returns them, by `photo_key`."""
        shards.write(self._folder(kind), keys, {FEATURES: features})

    def known(self, kind: str = VECTOR) -> dict[str, shards.Row]:
        """Return where the features of each photo are, by `photo_key`."""
        return shards.find_rows(*self._tensors(kind))

    def missing(self, keys: Sequence[str]) -> list[int]:
        """Return which photos have no cached features, only the first one of each content.

        Args:
            keys: The `photo_keys` of photos.
        """
        known = shards.find_keys(*self._tensors(VECTOR))
        contents: dict[str | int, int] = {}
        for number, key in enumerate(keys):
            if key not in known:
                contents.setdefault(key or number, number)
        return list(contents.values())

    @property
    def seconds_per_photo(self) -> float | None:
        """How long a photo took lately on this machine; None if that was never measured."""
        return rates.seconds_per_item(self._work)

    def measure(self, photos: Sequence[Path]) -> None:
        """Measure `seconds_per_photo` with the first photos, whose features are cached.

        Args:
            photos: Some without cached features, at least PROBE + 1. The first one is not
                measured, as it waits for the network to be loaded.

        Raises:
            UserError: As `get`.
        """
        self.get(photos[:1])
        self.get(photos[1 : PROBE + 1])

    @property
    def _work(self) -> str:
        return f"features {self.weights.name} {self.crops} {device().type}"

    def encode(self, photos: Iterable[Image.Image]) -> Tensor:
        """Compute the vectors of N photos in memory, (N, D), or those of their regions, (N, K, D).

        They are rounded as cached ones are. Only the photos of a batch are in memory at a time if
        `photos` is an iterator.
        """
        return torch.cat([values[FEATURES] for values in self._encode(photos)])

    def encode_regions(
        self, photo: Image.Image, boxes: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute the vectors of a photo's regions, (K, D), and their boxes, (K, 4).

        For views, it is the vector of the photo, (D,), and the whole frame, (1, 4).

        Args:
            photo: The photo.
            boxes: (K - 1, 4), to be described with the frame instead of the photo's own regions.

        Raises:
            UserError: `boxes` are given, but these features are not those of regions.
        """
        if boxes is not None:
            if self.has_views:
                raise UserError("This model looks at whole photos and reads no boxes.")
            network = load_backbone(self.weights)
            every = torch.cat([boxes, torch.tensor([regions.FRAME])])
            views = network.views(photo, self.crops)
            return encode_views(self.weights, VECTOR, views[None], every[None])[0], every
        values = next(self._encode([photo]))
        boxes = values.get(BOXES, torch.tensor([[regions.FRAME]]))
        return values[FEATURES][0], boxes[0]

    def _encode(self, photos: Iterable[Image.Image]) -> Iterator[dict[str, Tensor]]:
        """Yield what `_compute` returns for each batch of photos in memory."""
        network = load_backbone(self.weights)
        size = self._batch_size(VECTOR, batch_views())
        rest = iter(photos)
        while batch := list(islice(rest, size)):
            prepared = [self._prepare(network, photo, path=None, kind=VECTOR) for photo in batch]
            yield self._compute(prepared, VECTOR, run=_run_here)

    def _folder(self, kind: str) -> Path:
        names = {MAP: MAP, VECTOR: self._vectors, STEM: f"{STEM}-{self.crops}"}
        return self.folder / names[kind]

    def _tensors(self, kind: str) -> tuple[Path, frozenset[str]]:
        """Return the folder of the features, and the names of the tensors that a file has."""
        has_boxes = self._proposals is not None and kind == VECTOR
        return self._folder(kind), frozenset({FEATURES, BOXES} if has_boxes else {FEATURES})

    def _open(
        self,
        name: str,
        photos: Sequence[Path],
        kind: str,
        progress: Progress | None = None,
        on_partial: Callable[[Tensor], None] | None = None,
        keys: Sequence[str] = (),
    ) -> shards.StoredRows:
        """Return a tensor of photos; the content of damaged files is computed again.

        Args:
            name: `FEATURES` or `BOXES`.
            photos: As in `get`.
            kind: `VECTOR`, `MAP` or `STEM`.
            progress: As in `get`.
            on_partial: As in `get`.
            keys: As in `get`.

        Raises:
            DamagedFile: A file that was just written is damaged.
        """

        def offer(rows: Sequence[shards.Row]) -> None:
            if on_partial:
                on_partial(shards.StoredRows(rows, name).all())

        older = set(self._folder(kind).glob("*.safetensors"))
        while True:  # with one damaged file fewer each time
            try:
                return shards.StoredRows(self._rows(photos, kind, progress, offer, keys), name)
            except DamagedFile as error:
                if error.path not in older:  # the disk is broken
                    raise
                older.remove(error.path)
                error.path.unlink(missing_ok=True)

    def _rows(
        self,
        photos: Sequence[Path],
        kind: str,
        progress: Progress | None,
        offer: Callable[[Sequence[shards.Row]], None],
        keys: Sequence[str],
    ) -> list[shards.Row]:
        """Return where the features of photos are, after computing missing ones.

        Meanwhile, `offer` is called with the rows of the first photos; see `get`.
        """
        keys = _complete_keys(photos, keys)
        known = self.known(kind)
        missing: dict[str, Path] = {}
        for key, path in zip(keys, photos, strict=True):
            if key not in known:
                missing.setdefault(key, path)  # the first of several copies
        if missing:
            beginning = _Beginning(keys, known, offer)
            seen = {row.file for row in known.values()}
            broken = self._fill(missing, kind, progress, beginning.add, seen)
            if broken:
                pairs = zip(keys, photos, strict=True)
                raise UnreadablePhotos({path: broken[key] for key, path in pairs if key in broken})
        return [known[key] for key in keys]

    def _fill(
        self,
        missing: dict[str, Path],
        kind: str,
        progress: Progress | None,
        add: Callable[[dict[str, shards.Row]], None],
        seen: set[Path],
    ) -> dict[str, str]:
        """Compute and store the features of photos by key.

        Threads and processes that need the same features take turns, file by file, so that each is
        computed once.

        Args:
            missing: Key -> file.
            kind: `VECTOR`, `MAP` or `STEM`.
            progress: As in `get`.
            add: Called with the rows of files that were written.
            seen: Files whose rows are known.

        Returns:
            Key -> reason, for the photos that cannot be read.
        """
        load_backbone(self.weights)  # before any turn
        left, broken = dict(missing), dict[str, str]()
        description = f"{self.weights.name} {self._folder(kind).name}"
        reported = 0
        with tqdm(total=len(missing), desc=description) as bar:

            def report(more: int = 0) -> None:
                nonlocal reported
                reported = done = len(missing) - len(left) + more
                bar.update(done - bar.n)
                if progress:
                    progress(done, len(missing))

            while left:
                with locks.turn(self._folder(kind), wait=report):
                    rows = shards.find_rows(*self._tensors(kind), seen)  # by other processes
                    left = {key: path for key, path in left.items() if key not in rows}
                    if left:
                        start = len(missing) - len(left)
                        rows |= self._fill_part(left, start, kind, broken, report)
                seen.update({row.file for row in rows.values()})
                left = {k: path for k, path in left.items() if k not in rows and k not in broken}
                add(rows)
            if reported < len(missing):  # another process computed the last ones
                report()
        return broken

    def _fill_part(
        self,
        left: dict[str, Path],
        done: int,
        kind: str,
        broken: dict[str, str],
        report: Callable[[int], None],
    ) -> dict[str, shards.Row]:
        """Compute the features of the first of some photos, and store them in one file.

        Args:
            left: Key -> file.
            done: How many are done.
            kind: `VECTOR`, `MAP` or `STEM`.
            broken: Key -> reason; photos that cannot be read are added.
            report: Called with how many of these are done.

        Returns:
            Where the features of each photo are.
        """
        borrows = lent_gpu.is_offered() and self._is_long(len(left))
        run = lent_gpu.run if borrows else _run_here
        size = SHARD if borrows else min(SHARD, max(FIRST_SHARD, done))
        part = dict(islice(left.items(), size))
        watch = rates.Stopwatch()
        stored: list[str] = []
        values: list[dict[str, Tensor]] = []
        views = GPU_VIEWS if borrows else batch_views()
        network = load_backbone(self.weights)
        for batch in self._batches(network, part, kind, broken, views):
            values.append(self._compute(list(batch.values()), kind, run))
            stored += batch
            with watch.paused():
                report(len(stored))
        rows: dict[str, shards.Row] = {}
        if stored:
            joined = {name: torch.cat([v[name] for v in values]) for name in values[0]}
            rows = shards.write(self._folder(kind), stored, joined)
        if kind == VECTOR and not borrows:
            rates.record(self._work, len(part), watch.seconds)
        return rows

    def _is_long(self, photos: int) -> bool:
        """Return whether photos are known to take so long here that a GPU is worth borrowing."""
        seconds = self.seconds_per_photo
        return seconds is not None and photos * seconds >= WORTH_LENDING

    def _batches(
        self,
        network: Backbone,
        photos: dict[str, Path],
        kind: str,
        broken: dict[str, str],
        views: int,
    ) -> Iterator[dict[str, _Photo]]:
        """Yield photos by key in batches for the network; unreadable ones go to `broken`.

        Decoding and network take turns, as they would compete for the cores of a CPU.
        """

        def load(key: str) -> _Photo | None:
            path = photos[key]
            try:
                photo = open_photo(path)
            except UserError as error:
                broken[key] = str(error)
                return None
            return self._prepare(network, photo, path=path, kind=kind)

        keys = list(photos)
        size = self._batch_size(kind, views)
        with cores.thread_pool() as pool:
            for start in range(0, len(keys), size):
                part = keys[start : start + size]
                loaded = zip(part, pool.map(load, part), strict=True)
                batch = {key: photo for key, photo in loaded if photo is not None}
                if batch:
                    yield batch

    def _batch_size(self, kind: str, batch_views: int) -> int:
        """Return how many photos have `batch_views` views."""
        return max(1, batch_views // CROPS[self._read_crops(kind)].views)

    def _read_crops(self, kind: str) -> str:
        """Return the crops that the network reads; maps are always of the centre view."""
        return "center" if kind == MAP else self.crops

    def _prepare(
        self, network: Backbone, photo: Image.Image, *, path: Path | None, kind: str
    ) -> _Photo:
        """Cut the views out of a photo, and shrink it, as many large ones would fill the memory."""
        cut = network.large_views if kind == STEM else network.views
        views = cut(photo, self._read_crops(kind))
        if self._proposals is None or self._proposals.by_backbone:
            return _Photo(path, small=None, views=views)
        small = photo.copy()
        small.thumbnail((DETECTION_SIDE, DETECTION_SIDE))
        return _Photo(path, small, views)

    def _compute(
        self, photos: Sequence[_Photo], kind: str, run: lent_gpu.Lender
    ) -> dict[str, Tensor]:
        """Compute the tensors to store of B photos, (B, ...) each."""
        views = torch.stack([photo.views for photo in photos])  # (B, V, 3, H, W)
        if kind == MAP or self._proposals is None:
            return {FEATURES: run(encode_views, self.weights, kind, views, None)}
        if self._proposals.by_backbone:
            described = run(find_in_views, self.weights, views[:, 0])  # (B, K, 4 + C)
            boxes, features = described[..., :4].contiguous(), described[..., 4:].half()
            regions.check(boxes, self.crops)
        else:
            small = [photo.small for photo in photos if photo.small is not None]
            boxes = self._proposals.find(small, [photo.path for photo in photos])  # (B, K, 4)
            regions.check(boxes, self.crops)
            features = run(encode_views, self.weights, kind, views, boxes)  # (B, K, C)
        return {FEATURES: features, BOXES: boxes}


def _run_here(function: lent_gpu.Function, *args: Any) -> Tensor:
    """Call a function in this process."""
    return function(*args)


def batch_views() -> int:
    """Return how many views go through the network at a time."""
    return BATCH_VIEWS if device().type == "cpu" else GPU_VIEWS
