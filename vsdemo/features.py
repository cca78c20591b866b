"""Photo features on disk: computed once for each photo's content, backbone and crops."""

from __future__ import annotations

import hashlib
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from PIL import Image
from safetensors import SafetensorError, safe_open
from torch import Tensor
from tqdm import tqdm

from vsdemo import tensors
from vsdemo.backbones import CROPS, Weights, find_weights
from vsdemo.paths import home
from vsdemo.photos import open_photo
from vsdemo.types import UserError

if TYPE_CHECKING:
    from vsdemo.backbones.network import Backbone

SHARD = 256  # photos a file, and so the most that a killed run computes again
BATCH_VIEWS = 20  # views through the network at a time: more are slower on a CPU
VERSION = 1  # to be raised when views or features are computed in another way
VECTOR, MAP = "vector", "map"

Progress = Callable[[int, int], None]  # photos done, photos in all


@cache
def load_backbone(weights: Weights) -> Backbone:
    """The network, built once a process."""
    from vsdemo.backbones.network import Backbone  # torchvision takes seconds to import

    return Backbone(weights)


class UnreadablePhotos(UserError):
    """Photos that cannot be read, with the reasons; the others' features are stored."""

    def __init__(self, why: dict[Path, str]) -> None:
        self.why = why
        others = len(why) - 1
        more = f" (and {others:,} more photo{'s' * (others > 1)})" if others else ""
        super().__init__(f"{next(iter(why.values()))}{more}")


def photo_key(path: Path) -> str:
    """The key of a photo's content: the first 32 hex digits of its SHA-256.

    Raises UserError when there is no such file.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    except OSError as error:
        raise UserError(f"The photo {path} cannot be read ({error.strerror}).") from None


class FeatureCache:
    """Features of one backbone and one choice of crops, below VSDEMO_HOME/features.

    `vector`: the L2-normalised mean over the crops, (D,). `map`: the last spatial map of the
    centre view, (C, h, w), each place L2-normalised. Both are kept in half precision.
    """

    def __init__(self, backbone: str, crops: str = "center") -> None:
        if crops not in CROPS:
            raise UserError(f"crops is one of {', '.join(CROPS)}, not {crops!r}.")
        self.weights, self.crops = find_weights(backbone), crops
        slug = backbone.replace("/", "--")
        self.folder = home() / "features" / f"{slug}-{self.weights.hash}-v{VERSION}"

    def get(
        self, photos: Sequence[Path], kind: str = VECTOR, progress: Progress | None = None
    ) -> Tensor:
        """The features of photos, computing what is missing: (N, D) or (N, C, h, w), float32.

        Shows a progress bar in the terminal, or calls `progress`. Raises UnreadablePhotos, when
        all others are stored, and UserError for weights that cannot be had.
        """
        with ThreadPoolExecutor() as pool:
            keys = list(pool.map(photo_key, photos))
        known = self._known(kind)
        pairs = list(zip(keys, photos, strict=True))
        missing: dict[str, Path] = {}
        for key, path in pairs:
            if key not in known:
                missing.setdefault(key, path)  # of doubles the first
        if missing:
            if broken := self._compute(missing, kind, progress):
                raise UnreadablePhotos({p: broken[k] for k, p in pairs if k in broken})
            known = self._known(kind)
        rows_of: dict[Path, list[int]] = defaultdict(list)
        for row, key in enumerate(keys):
            rows_of[known[key][0]].append(row)
        parts = [
            self._read(shard)[[known[keys[r]][1] for r in rows_of[shard]]] for shard in rows_of
        ]
        order = torch.tensor([r for rows in rows_of.values() for r in rows]).argsort()
        return torch.cat(parts)[order].float()

    def encode(self, photo: Image.Image) -> Tensor:
        """The vector of one photo in memory, (D,), through the same rounding as a stored one."""
        network = load_backbone(self.weights)
        return network.encode(network.views(photo, self.crops)[None])[0].half().float().cpu()

    def _known(self, kind: str) -> dict[str, tuple[Path, int]]:
        """Where each photo's features are; a damaged file counts as missing."""
        found = {}
        for shard in sorted((self.folder / self._kind(kind)).glob("*.safetensors")):
            try:
                with safe_open(shard, "pt") as file:
                    keys = file.metadata()["keys"].split()
            except (SafetensorError, OSError, TypeError, KeyError):
                continue
            found.update({key: (shard, row) for row, key in enumerate(keys)})
        return found

    def _kind(self, kind: str) -> str:
        return kind if kind == MAP else f"{kind}-{self.crops}"

    @staticmethod
    def _read(shard: Path) -> Tensor:
        with safe_open(shard, "pt") as file:
            return file.get_tensor("features")

    def _compute(
        self, missing: dict[str, Path], kind: str, progress: Progress | None
    ) -> dict[str, str]:
        """Stores features of photos by key; gives the keys of those that do not open, and why."""
        network = load_backbone(self.weights)
        keys = list(missing)
        broken: dict[str, str] = {}
        with tqdm(total=len(keys), desc=f"{self.weights.backbone} {self._kind(kind)}") as bar:
            for start in range(0, len(keys), SHARD):
                part = {k: missing[k] for k in keys[start : start + SHARD]}
                stored: list[str] = []
                done = []
                for names, views in self._batches(network, part, kind, broken):
                    done.append(self._features(network, views, kind).half().cpu())
                    stored += names
                    bar.update(len(names))
                    if progress:
                        progress(start + len(stored), len(keys))
                if stored:
                    name = f"{uuid.uuid4().hex}.safetensors"
                    file = self.folder / self._kind(kind) / name
                    tensors.write(file, {"features": torch.cat(done)}, {"keys": " ".join(stored)})
        return broken

    def _batches(
        self, network: Backbone, photos: dict[str, Path], kind: str, broken: dict[str, str]
    ) -> Iterator[tuple[list[str], Tensor]]:
        """(keys, views (B, V, 3, H, W)) of the photos that open; the others go to `broken`.

        Decoding and network take turns: side by side they fight for the cores of a CPU.
        """
        crops = "center" if kind == MAP else self.crops
        size = max(1, BATCH_VIEWS // CROPS[crops])

        def views(key: str) -> Tensor | None:
            try:
                return network.views(open_photo(photos[key]), crops)
            except UserError as error:
                broken[key] = str(error)
                return None

        keys = list(photos)
        with ThreadPoolExecutor() as pool:
            for start in range(0, len(keys), size):
                batch = keys[start : start + size]
                opened = zip(batch, pool.map(views, batch), strict=True)
                readable = {k: v for k, v in opened if v is not None}
                if readable:
                    yield list(readable), torch.stack(list(readable.values()))

    @staticmethod
    def _features(network: Backbone, views: Tensor, kind: str) -> Tensor:
        if kind == VECTOR:
            return network.encode(views)
        _, maps = network(views[:, 0])
        return torch.nn.functional.normalize(maps, dim=1)
