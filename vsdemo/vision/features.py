"""Photo features on disk: computed once for each photo's content, backbone and crops or regions."""

from __future__ import annotations

import hashlib
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from PIL import Image
from safetensors import SafetensorError, safe_open
from torch import Tensor
from tqdm import tqdm

from vsdemo.core import tensors
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.paths import home
from vsdemo.core.progress import Progress
from vsdemo.vision import regions
from vsdemo.vision.backbones import CROPS, Weights, find_weights
from vsdemo.vision.proposals import Proposals
from vsdemo.vision.regions import REGIONS

if TYPE_CHECKING:
    from vsdemo.vision.backbones.network import Backbone

SHARD = 256  # photos a file, and so the most that a killed run computes again
LOOKED_AT = 1024  # pixels of a photo's long side, where regions are looked for
BATCH_VIEWS = 20  # views through the network at a time: more are slower on a CPU
VERSION = 1  # to be raised when views or features are computed in another way
VECTOR, MAP = "vector", "map"
FEATURES, BOXES = "features", "boxes"  # tensors of a file


@cache
def load_backbone(weights: Weights) -> Backbone:
    """The network, built once a process."""
    from vsdemo.vision.backbones.network import Backbone  # torchvision takes seconds to import

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
    """Features of one backbone and one choice of crops or regions, below VSDEMO_HOME/features.

    `vector`: the L2-normalised mean over the crops, (D,), or that of each region, (K, D), zeros
    where a photo has fewer. `map`: the last spatial map of the centre view, (C, h, w), each place
    L2-normalised. All are kept in half precision.
    """

    def __init__(self, backbone: str, crops: str = "center") -> None:
        if crops not in (*CROPS, *REGIONS):
            raise UserError(f"crops is one of {', '.join((*CROPS, *REGIONS))}, not {crops!r}.")
        self.weights, self.crops = find_weights(backbone), crops
        self._proposals = Proposals(crops) if crops in REGIONS else None
        finder = f"-{self._proposals.version}" if crops == "detector" else ""
        self.hash = f"{self.weights.hash}{finder}"  # of all networks
        slug = backbone.replace("/", "--")
        self.folder = home() / "features" / f"{slug}-{self.weights.hash}-v{VERSION}"

    def get(
        self, photos: Sequence[Path], kind: str = VECTOR, progress: Progress | None = None
    ) -> Tensor:
        """The features of photos, computing what is missing, float32: (N, D), (N, K, D) of regions
        or (N, C, h, w) of maps.

        Shows a progress bar in the terminal, or calls `progress`. Raises UnreadablePhotos, when
        all others are stored, and UserError for weights that cannot be had.
        """
        return self._rows(photos, kind, FEATURES, progress)

    def boxes(self, photos: Sequence[Path]) -> Tensor:
        """The regions' boxes, (N, K, 4), in shares of each photo; zeros where it has fewer. Those
        of views are the whole frame, (N, 1, 4). Errors as `get`."""
        if self._proposals is None:
            return torch.tensor(regions.FRAME).expand(len(photos), 1, 4)
        found = self._rows(photos, VECTOR, BOXES)
        regions.check(found, f"the features in {self.folder}")
        return found

    def _rows(
        self, photos: Sequence[Path], kind: str, tensor: str, progress: Progress | None = None
    ) -> Tensor:
        with ThreadPoolExecutor() as pool:
            keys = list(pool.map(photo_key, photos))
        known = self.known(kind)
        pairs = list(zip(keys, photos, strict=True))
        missing: dict[str, Path] = {}
        for key, path in pairs:
            if key not in known:
                missing.setdefault(key, path)  # of doubles the first
        if missing:
            if broken := self._compute(missing, kind, progress):
                raise UnreadablePhotos({p: broken[k] for k, p in pairs if k in broken})
            known = self.known(kind)
        rows_of: dict[Path, list[int]] = defaultdict(list)
        for row, key in enumerate(keys):
            rows_of[known[key][0]].append(row)
        found = None
        for shard, rows in rows_of.items():
            part = self._read(shard, tensor)[[known[keys[row]][1] for row in rows]].float()
            found = part.new_empty(len(keys), *part.shape[1:]) if found is None else found
            found[rows] = part
        return found

    def encode(self, photo: Image.Image) -> Tensor:
        """The vector of one photo in memory, (D,), or those of its regions, (K, D), through the
        same rounding as stored ones."""
        return self.encode_regions(photo)[0]

    def encode_regions(self, photo: Image.Image) -> tuple[Tensor, Tensor]:
        """`encode`, and the boxes (K, 4) of the regions, of views the whole frame (1, 4)."""
        network = load_backbone(self.weights)
        views = network.views(photo, self.crops)[None]
        made = self._made(network, views, VECTOR, [self._looked_at(photo)], [None])
        boxes = made.get(BOXES, torch.tensor([[regions.FRAME]]))
        return made[FEATURES][0].float(), boxes[0]

    def _looked_at(self, photo: Image.Image) -> Image.Image | None:
        """The photo for `Proposals`, small, as many large ones fill the memory; else None."""
        if self._proposals is None:
            return None
        small = photo.copy()
        small.thumbnail((LOOKED_AT, LOOKED_AT))
        return small

    def known(self, kind: str = VECTOR) -> dict[str, tuple[Path, int]]:
        """Where each photo's features are; a damaged file counts as missing."""
        wanted = {FEATURES, BOXES} if self._proposals and kind == VECTOR else {FEATURES}
        found = {}
        for shard in sorted((self.folder / self._kind(kind)).glob("*.safetensors")):
            try:
                with safe_open(shard, "pt") as file:
                    keys = file.metadata()["keys"].split() if wanted <= {*file.keys()} else ()
            except (SafetensorError, OSError, TypeError, KeyError):
                continue
            found.update({key: (shard, row) for row, key in enumerate(keys)})
        return found

    def _kind(self, kind: str) -> str:
        if kind == MAP:
            return kind
        version = f"-{self._proposals.version}" if self._proposals else ""
        return f"{kind}-{self.crops}{version}"

    @staticmethod
    def _read(shard: Path, tensor: str) -> Tensor:
        with safe_open(shard, "pt") as file:
            return file.get_tensor(tensor)

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
                for names, photos, views in self._batches(network, part, kind, broken):
                    paths = [part[name] for name in names]
                    done.append(self._made(network, views, kind, photos, paths))
                    stored += names
                    bar.update(len(names))
                    if progress:
                        progress(start + len(stored), len(keys))
                if stored:
                    name = f"{uuid.uuid4().hex}.safetensors"
                    file = self.folder / self._kind(kind) / name
                    whole = {name: torch.cat([d[name] for d in done]) for name in done[0]}
                    tensors.write(file, whole, {"keys": " ".join(stored)})
        return broken

    def _batches(
        self, network: Backbone, photos: dict[str, Path], kind: str, broken: dict[str, str]
    ) -> Iterator[tuple[list[str], list[Image.Image | None], Tensor]]:
        """(keys, photos, views (B, V, 3, H, W)) of those that open; the others go to `broken`.

        Decoding and network take turns: side by side they fight for the cores of a CPU.
        """
        crops = "center" if kind == MAP else self.crops
        size = max(1, BATCH_VIEWS // CROPS.get(crops, 1))

        def opened(key: str) -> tuple[Image.Image | None, Tensor] | None:
            try:
                photo = open_photo(photos[key])
            except UserError as error:
                broken[key] = str(error)
                return None
            return self._looked_at(photo), network.views(photo, crops)

        keys = list(photos)
        with ThreadPoolExecutor() as pool:
            for start in range(0, len(keys), size):
                batch = keys[start : start + size]
                pairs = zip(batch, pool.map(opened, batch), strict=True)
                readable = {key: found for key, found in pairs if found is not None}
                if readable:
                    pictures, views = zip(*readable.values(), strict=True)
                    yield list(readable), list(pictures), torch.stack(views)

    def _made(
        self,
        network: Backbone,
        views: Tensor,
        kind: str,
        photos: Sequence[Image.Image | None],
        paths: Sequence[Path | None],
    ) -> dict[str, Tensor]:
        """The tensors to keep of views (B, V, 3, H, W), in half precision."""
        if kind == MAP:
            _, maps = network(views[:, 0])
            return {FEATURES: torch.nn.functional.normalize(maps, dim=1).half().cpu()}
        if self._proposals is None:
            return {FEATURES: network.encode(views).half().cpu()}
        boxes = self._proposals.find(photos, paths)  # (B, K, 4)
        regions.check(boxes, self.crops)
        found = network.encode_regions(views[:, 0], boxes)
        return {FEATURES: found.half().cpu(), BOXES: boxes}
