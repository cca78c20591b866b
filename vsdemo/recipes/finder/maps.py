"""What the frozen network sees in the photos of a training, computed once and kept on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor
from tqdm import tqdm

from vsdemo.core import json_files, tensors
from vsdemo.core.cores import thread_pool
from vsdemo.core.device import autocast, device
from vsdemo.core.images import open_photo
from vsdemo.core.paths import write_text
from vsdemo.vision.backbones.finder import FINE, LAST, PLACES, PRINCIPAL, Finder, Maps
from vsdemo.vision.crops import CROPS

BATCH = 16  # photos through the network at a time
SAMPLE = 160  # photos from which the principal components are computed
EVERY = 4  # places of their maps that are taken, one in so many
PRINCIPAL_FILE, DONE = "principal.safetensors", "done.json"


class PhotoMaps:
    """The maps of photos, in half precision, in two files of a folder.

    Args:
        folder: Where they are.
        photos: Files of the N photos.
    """

    def __init__(self, folder: Path, photos: Sequence[Path]) -> None:
        self.folder, self.photos = folder, photos
        folder.mkdir(parents=True, exist_ok=True)
        count = len(photos)
        self.fine = _open(folder / "fine.npy", (count, PRINCIPAL, PLACES, PLACES))
        self.last = _open(folder / "last.npy", (count, LAST, PLACES // 2, PLACES // 2))

    def __getitem__(self, rows: np.ndarray) -> Maps:
        """Return the maps of some photos, in single precision."""
        fine, last = (torch.from_numpy(x[rows]).float() for x in (self.fine, self.last))
        return Maps(fine, last)

    def compute(self, network: Finder) -> None:
        """Compute missing maps, showing progress. An interrupted run continues where it was.

        Args:
            network: Its projection on principal components is set, the same in all runs.

        Raises:
            UserError: A photo cannot be read.
        """
        file = self.folder / PRINCIPAL_FILE
        if not file.is_file():
            tensors.write(file, principal_components(network, self.photos))
        network.principal.load_state_dict(load_file(file))
        done = self._done()
        with tqdm(total=len(self.photos), initial=done, desc="maps", unit="photo") as bar:
            for pixels in read_pixels(network, self.photos[done:]):
                with torch.no_grad(), autocast():
                    maps = network.maps(pixels.to(device()))
                rows = slice(done, done + len(pixels))
                self.fine[rows], self.last[rows] = (x.half().cpu().numpy() for x in maps)
                done += len(pixels)
                if done == len(self.photos) or done // BATCH % BATCH == 0:
                    self.fine.flush()
                    self.last.flush()
                    write_text(self.folder / DONE, f"{done}\n")
                bar.update(len(pixels))

    def _done(self) -> int:
        file = self.folder / DONE
        return int(json_files.load(file)) if file.is_file() else 0


def _open(path: Path, shape: tuple[int, ...]) -> np.memmap:
    if path.is_file():
        return np.lib.format.open_memmap(path, "r+")
    return np.lib.format.open_memmap(path, "w+", np.float16, shape)


def read_pixels(network: Finder, photos: Sequence[Path]) -> Iterator[Tensor]:
    """Yield the normalised pixels of whole photos in batches, (B, 3, SIDE, SIDE)."""
    spec = network.spec
    mean, std = (torch.tensor(x)[:, None, None] for x in (spec.mean, spec.std))
    cut = CROPS["found"].cut
    with thread_pool() as pool:
        for start in range(0, len(photos), BATCH):
            part = photos[start : start + BATCH]
            views = list(pool.map(lambda path: cut(open_photo(path), spec), part))
            pixels = torch.from_numpy(np.concatenate(views)).float() / 255
            yield ((pixels - mean) / std).contiguous(memory_format=torch.channels_last)


@torch.no_grad()
def principal_components(network: Finder, photos: Sequence[Path]) -> dict[str, Tensor]:
    """Return the weights of the projection of the finer map on its principal components.

    They are those of the places of SAMPLE photos, spread evenly.
    """
    step = max(1, len(photos) // SAMPLE)
    places = []
    for pixels in read_pixels(network, photos[::step][:SAMPLE]):
        with autocast():
            fine = network.first(pixels.to(device()))
        places.append(fine.float().cpu().permute(0, 2, 3, 1).flatten(0, 2)[::EVERY])
    sample = torch.cat(places).double()
    mean = sample.mean(0)
    _, vectors = torch.linalg.eigh(torch.cov((sample - mean).T))  # ascending
    weight = vectors[:, -PRINCIPAL:].flip(1).T  # (PRINCIPAL, FINE)
    assert weight.shape[1] == FINE
    return {"weight": weight.float()[..., None, None], "bias": -(weight @ mean).float()}
