"""Retrieval data sets of CLIP_benchmark: photos with captions in tar files, as in WebDataset.

    dataset_type.txt     "retrieval"
    test/nshards.txt     the number of tar files
    test/0.tar           s0000000.jpg, s0000000.txt (one caption per line), s0000001.jpg, ...

The splits are train, val or valid (dev) and test. Photos are read from files everywhere else, so a
split is unpacked once, below VSDEMO_HOME.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.checksums import sha256
from vsdemo.core.errors import UserError
from vsdemo.core.paths import home
from vsdemo.data.datasets.base import Dataset
from vsdemo.data.datasets.karpathy import KarpathyFile

FOLDERS = {"train": ("train",), "dev": ("val", "valid"), "test": ("test",)}
COUNT = "nshards.txt"
PHOTOS, CAPTIONS = (".webp", ".png", ".jpg", ".jpeg"), ".txt"
VERSION = "1"  # of the unpacked files; to be raised when they change


class WebDataset(Dataset):
    """The data set in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Return whether a folder has this format."""
        return any(folder.glob(f"*/{COUNT}"))

    def read(self, split: str) -> CaptionSet:
        """Return a split, unpacked.

        Raises:
            UserError: There is no such split, or a tar file is missing, damaged or without
                captions.
        """
        self._check_type()
        names = [name for key in FOLDERS for name in FOLDERS[key] if split in (key, "all")]
        folders = [self.folder / name for name in names if (self.folder / name / COUNT).exists()]
        if not folders:
            raise UserError(f"{self.folder} has no split {split!r}, {names[0]}/{COUNT}.")
        parts = [_read(_shards(folder)) for folder in folders]
        starts = [sum(len(part.photos) for part in parts[:i]) for i in range(len(parts))]
        return CaptionSet(
            str(self.folder),
            split,
            photos=tuple(photo for part in parts for photo in part.photos),
            captions=tuple(caption for part in parts for caption in part.captions),
            photo_of=tuple(
                start + photo
                for start, part in zip(starts, parts, strict=True)
                for photo in part.photo_of
            ),
        )

    def _check_type(self) -> None:
        file = self.folder / "dataset_type.txt"
        kind = file.read_text("utf-8", "replace").strip().lower() if file.exists() else "retrieval"
        if kind != "retrieval":
            raise UserError(
                f"{self.folder} is a data set for {kind[:40]}; give one for retrieval, with "
                "captions."
            )


def _shards(folder: Path) -> list[Path]:
    """Return the tar files of a split.

    Raises:
        UserError: One is missing, or their number is unknown.
    """
    text = (folder / COUNT).read_text("utf-8", "replace").strip()
    if not (text.isdecimal() and 0 < int(text) < 1_000_000):
        raise UserError(f"{folder / COUNT} must be the number of tar files, not {text[:40]!r}.")
    shards = [folder / f"{number}.tar" for number in range(int(text))]
    if missing := [shard for shard in shards if not shard.is_file()]:
        raise UserError(f"{missing[0]} is missing; download it, or correct {COUNT}.")
    return shards


def _read(shards: Sequence[Path]) -> CaptionSet:
    """Return the photos and captions of tar files, unpacked if that was not done before."""
    root = home() / "webdataset"
    try:
        content = " ".join([VERSION, *map(sha256, shards)])
        folder = root / hashlib.sha256(content.encode()).hexdigest()[:32]
        if not folder.exists():
            _unpack(shards, folder)
    except OSError as error:
        raise UserError(
            f"{shards[0].parent} cannot be unpacked into {root} ({error.strerror or error}); make "
            "room there, or set VSDEMO_HOME."
        ) from None
    return KarpathyFile(folder / "captions.json").read("all")


def _unpack(shards: Sequence[Path], folder: Path) -> None:
    """Write the photos of tar files and a captions.json, completely or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=".") as temporary:
        unfinished = Path(temporary, "photos")
        unfinished.mkdir()
        images: list[dict[str, Any]] = []
        for shard in shards:
            images += _unpack_shard(shard, unfinished, len(images))
        (unfinished / "captions.json").write_text(json.dumps({"images": images}), "utf-8")
        if not folder.exists():  # another process may have been faster
            unfinished.rename(folder)


def _unpack_shard(shard: Path, folder: Path, start: int) -> list[dict[str, Any]]:
    """Write the photos of a tar file, and return their records in the Karpathy format.

    The files are named by numbers, so that no name in the archive leads out of the folder.

    Args:
        shard: The tar file.
        folder: Where to write.
        start: The first number.
    """
    photos: dict[str, str] = {}  # key -> name of its file
    captions: dict[str, list[str]] = {}
    try:
        for key, suffix, content in _members(shard):
            if suffix == CAPTIONS:
                lines = content.read().decode("utf-8").splitlines()
                captions[key] = [line.strip() for line in lines if line.strip()]
            elif key in photos:
                raise tarfile.ReadError(f"there are two photos {key[:80]!r}")
            else:
                photos[key] = f"{start + len(photos):07}{suffix}"
                with (folder / photos[key]).open("wb") as file:
                    shutil.copyfileobj(content, file)
    except (tarfile.TarError, EOFError, UnicodeDecodeError) as error:
        raise UserError(f"{shard} is damaged ({error}); download it again.") from None
    if unpaired := sorted(photos.keys() ^ captions.keys()):
        raise UserError(
            f"{unpaired[0][:80]!r} in {shard} lacks its photo or its captions (.txt); a data set "
            "for retrieval has both."
        )
    return [
        {"filename": name, "split": "all", "sentences": [{"raw": text} for text in captions[key]]}
        for key, name in photos.items()
    ]


def _members(shard: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield key, suffix and open content of the photos and captions in a tar file."""
    with tarfile.open(shard, "r:") as archive:
        for member in archive:
            suffix = PurePosixPath(member.name).suffix.lower()
            # The holes of a sparse file would make it larger than the archive.
            if member.isreg() and not member.issparse() and suffix in (*PHOTOS, CAPTIONS):
                yield member.name[: -len(suffix)], suffix, archive.extractfile(member)
