"""Features and captions of photos in tar files, in the format of WebDataset.

    features.json    what the features describe, and the number of files of each split
    train/0.tar      0000000.features.npy, 0000000.json, 0000001.features.npy, ...

The .json of a photo has its name, the hash of its content and its captions. The files are not
compressed, so the features of any photo are read from their place when they are needed, and only
names, captions and places are in memory.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vsdemo.core import checksums, json_files
from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic, write_text

if TYPE_CHECKING:  # keeps `vsdemo --help` fast
    import torch
    from torch import Tensor

ABOUT = "features.json"
FORMAT = 1
FEATURES, RECORD = ".features.npy", ".json"  # suffixes of a photo's entries
MOST_CAPTIONS = 1_000_000  # bytes of a record
MOST_FILES = 1_000_000  # of a split
PART = 256  # photos read at a time when all are read
AGAIN = "write the folder again with `python -m vsdemo data shards`"


@dataclass(frozen=True)
class About:
    """What the files of a folder hold.

    Args:
        dataset: Name of the data set.
        backbone: Name of the image network.
        crops: Its views or regions of a photo.
        networks: Identifies the weights of all networks involved.
        content: Hash of the photos and captions.
        files: The number of tar files of each split.
    """

    dataset: str
    backbone: str
    crops: str
    networks: str
    content: str
    files: dict[str, int]
    format: int = FORMAT

    @classmethod
    def read(cls, folder: Path) -> About:
        """Read features.json.

        Raises:
            UserError: It is missing or damaged.
        """
        try:
            about = cls(**json_files.read(folder / ABOUT))
            texts = (about.dataset, about.backbone, about.crops, about.networks, about.content)
            counts = {*about.files.values()}
            valid = about.format == FORMAT and all(isinstance(text, str) for text in texts)
            valid &= all(isinstance(n, int) and 0 < n <= MOST_FILES for n in counts)
            valid &= not any(set(split) & {"/", "\\", "."} for split in about.files)
        except (TypeError, AttributeError):
            valid = False
        if not valid:
            raise UserError(f"{folder / ABOUT} is missing or damaged; {AGAIN}.")
        return about

    def write(self, folder: Path) -> None:
        """Write features.json."""
        write_text(folder / ABOUT, json.dumps(asdict(self), indent=1) + "\n")


class Record(NamedTuple):
    """A photo: its name, the hash of its content and its captions."""

    photo: str
    key: str
    captions: tuple[str, ...]


def write_file(path: Path, start: int, records: Sequence[Record], features: np.ndarray) -> None:
    """Write the features of N photos to a tar file, in half precision if that loses nothing.

    Args:
        path: The file.
        start: The number of the first photo; entries are named by these numbers.
        records: The records of the photos.
        features: (N, F), or (N, K, F) for regions, float32 or float16.

    Raises:
        UserError: Features are not finite.
        OSError: The disk is full or the folder is read-only.
    """
    if len(features) and not np.isfinite(features).all():
        photo = next(r for r, row in zip(records, features, strict=True) if not _is_finite(row))
        raise UserError(f"The features of {photo.photo} are not finite; compute them again.")
    with np.errstate(over="ignore"):
        half = features.astype(np.float16)
    stored = half if np.array_equal(half.astype(np.float32), features) else features
    with (
        atomic(path) as temporary,
        tarfile.open(temporary, "w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for number, (record, row) in enumerate(zip(records, stored, strict=True), start):
            content = io.BytesIO()
            np.save(content, row)
            text = json.dumps(record._asdict(), ensure_ascii=False).encode()
            for suffix, data in ((FEATURES, content.getvalue()), (RECORD, text)):
                entry = tarfile.TarInfo(f"{number:07}{suffix}")
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))


def _is_finite(row: np.ndarray) -> bool:
    return bool(np.isfinite(row).all())


@dataclass(frozen=True, eq=False)
class _File:
    """What is in a tar file.

    Args:
        path: The file.
        names: Names of the photos' entries.
        records: The records of the photos.
        offsets: Where their features begin, (N,).
        size: Bytes of a photo's features, with their header.
        header: The header, the same for all photos.
        type: Type of the numbers.
        shape: (F,), or (K, F) for regions.
    """

    path: Path
    names: tuple[str, ...]
    records: tuple[Record, ...]
    offsets: np.ndarray
    size: int
    header: bytes
    type: np.dtype[Any]
    shape: tuple[int, ...]

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Return the features of photos, (N, ...), by their numbers in the file.

        Raises:
            UserError: The file has changed since the folder was opened, or features are not finite.
        """
        result = np.empty((len(numbers), *self.shape), np.float32)
        try:
            with self.path.open("rb") as file:
                for row, number in enumerate(numbers):
                    entry = os.pread(file.fileno(), self.size, int(self.offsets[number]))
                    if len(entry) < self.size or not entry.startswith(self.header):
                        raise _damaged(self.path, f"{self.names[number]} has other features")
                    values = np.frombuffer(entry, self.type, offset=len(self.header))
                    result[row] = values.reshape(self.shape)
                    if not _is_finite(result[row]):
                        raise _damaged(self.path, f"{self.names[number]} is not finite")
        except OSError as error:
            raise UserError(f"{self.path} cannot be read ({error.strerror}).") from None
        return result


def _damaged(path: Path, why: str) -> UserError:
    return UserError(f"{path} is damaged ({why}); copy it again, or {AGAIN}.")


@lru_cache(maxsize=MOST_FILES)
def _index(path: Path, version: tuple[int, int, int]) -> _File:
    """Return what is in a tar file; an unchanged one is read once.

    Raises:
        UserError: The file is damaged.
    """
    del version  # only part of the key
    try:
        return _read_index(path)
    except (tarfile.TarError, EOFError, ValueError, TypeError, LookupError) as error:
        raise _damaged(path, str(error)) from None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}).") from None


def _read_index(path: Path) -> _File:
    """Read a tar file's headers and records. Raises an error that says what is wrong with it."""
    records: dict[str, Record] = {}
    places: dict[str, tuple[int, int]] = {}  # offset and size
    with tarfile.open(path, "r:") as archive:
        for member in archive:
            if not member.isreg() or member.issparse():
                continue
            name, _, suffix = member.name.partition(".")
            if name in (places if f".{suffix}" == FEATURES else records):
                raise ValueError(f"{member.name} is in it twice")
            if f".{suffix}" == FEATURES:
                places[name] = member.offset_data, member.size
            elif f".{suffix}" == RECORD:
                records[name] = _read_record(archive, member)
        end = archive.offset
    if unpaired := sorted(records.keys() ^ places.keys()):
        raise ValueError(f"{unpaired[0]} lacks its features or its record")
    with path.open("rb") as file:
        file.seek(end)
        if file.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            raise ValueError("it is cut short")
        offset, size = next(iter(places.values()), (0, 0))
        file.seek(offset)
        header, kind, shape = _read_header(file.read(size))
    if any(other != size for _, other in places.values()):
        raise ValueError("features have different sizes")
    return _File(
        path,
        names=tuple(places),
        records=tuple(records[name] for name in places),
        offsets=np.array([offset for offset, _ in places.values()]),
        size=size,
        header=header,
        type=kind,
        shape=shape,
    )


def _read_record(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Record:
    """Read a record. Raises ValueError or TypeError if it is malformed."""
    content = archive.extractfile(member)
    if content is None or member.size > MOST_CAPTIONS:
        raise ValueError(f"{member.name} is too large")
    values = json_files.parse(content.read())
    record = Record(values["photo"], values["key"], tuple(values["captions"]))
    if not all(isinstance(text, str) for text in (record.photo, record.key, *record.captions)):
        raise ValueError(f"{member.name} is malformed")
    return record


def _read_header(entry: bytes) -> tuple[bytes, np.dtype[Any], tuple[int, ...]]:
    """Return the header of an .npy file, and the type and shape that it declares.

    Raises:
        ValueError: It is malformed, or the numbers cannot be features.
    """
    content = io.BytesIO(entry)
    if np.lib.format.read_magic(content) != (1, 0):
        raise ValueError("its .npy files have another version")
    declared = np.lib.format.read_array_header_1_0(content)
    shape: tuple[int, ...] = declared[0]
    is_fortran, kind = declared[1:]
    header = entry[: content.tell()]
    if kind not in (np.float16, np.float32) or is_fortran or len(shape) not in (1, 2):
        raise ValueError("its .npy files hold no features")
    if len(header) + kind.itemsize * int(np.prod(shape)) != len(entry):
        raise ValueError("its .npy files are cut short")
    return header, kind, shape


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """The features of P photos in tar files, read when they are needed.

    Args:
        folder: Folder of the files.
        about: What the files hold.
    """

    folder: Path
    about: About
    _files: tuple[_File, ...] = field(repr=False)
    _file: np.ndarray = field(repr=False)  # (P,) number of each photo's file
    _number: np.ndarray = field(repr=False)  # (P,) number of each photo in its file

    @classmethod
    def open(cls, folder: Path, splits: Sequence[str]) -> tuple[StoredFeatures, list[Record]]:
        """Return the features of the photos of some splits, and the records of the photos.

        Raises:
            UserError: A file is missing or damaged, or a photo is in two of a split's files.
        """
        about = About.read(folder)
        files: list[_File] = []
        for split in splits:
            of_split = [_open(folder / split / f"{n}.tar") for n in range(about.files[split])]
            _require_different(of_split)
            files += of_split
        for file in files:
            if file.shape != files[0].shape:
                raise _damaged(file.path, f"its features are not those of {files[0].path.name}")
        sizes = [len(file.names) for file in files]
        features = cls(
            folder,
            about,
            tuple(files),
            np.repeat(np.arange(len(files)), sizes),
            np.concatenate([np.arange(size) for size in sizes]),
        )
        return features, [record for file in files for record in file.records]

    def __len__(self) -> int:
        """Return P."""
        return len(self._file)

    @property
    def shape(self) -> torch.Size:
        """(P, F), or (P, K, F) for regions."""
        import torch

        return torch.Size((len(self), *self._files[0].shape))

    def __getitem__(self, rows: Tensor) -> Tensor:
        """Read the features of N photos by number, (N,): float32, (N, ...), on the same device.

        Raises:
            UserError: A file is damaged, missing or has changed, or features are not finite.
        """
        import torch

        numbers = rows.cpu().numpy()
        result = np.empty((len(numbers), *self.shape[1:]), np.float32)
        files = self._file[numbers]
        for file in np.unique(files):
            places = np.flatnonzero(files == file)
            result[places] = self._files[file].rows(self._number[numbers[places]])
        return torch.from_numpy(result).to(rows.device)

    def all(self) -> Tensor:
        """Read the features of all photos, (P, ...)."""
        import torch

        return self[torch.arange(len(self))]

    def parts(self) -> Iterator[Tensor]:
        """Yield the numbers of all photos in parts, so that little memory is needed."""
        import torch

        yield from torch.arange(len(self)).split(PART)

    def only(self, rows: Sequence[int]) -> StoredFeatures:
        """Return the features of some photos."""
        chosen = np.array(rows, np.int64)
        return replace(self, _file=self._file[chosen], _number=self._number[chosen])

    def content(self) -> Iterator[bytes]:
        """Yield what identifies the files; all of them are read."""
        for file in self._files:
            yield checksums.sha256(file.path).encode()
        yield self._file.tobytes()
        yield self._number.tobytes()

    def require(self, backbone: str, crops: str) -> None:
        """Raise UserError if the features are not of this image network and these crops."""
        own = self.about
        if (own.backbone, own.crops) != (backbone, crops):
            raise UserError(
                f"{self.folder} has features of {own.backbone} ({own.crops}), not of {backbone} "
                f"({crops}); train with --set backbone={own.backbone} --set crops={own.crops}."
            )


def is_whole(path: Path) -> bool:
    """Return whether a tar file is there, with all its entries."""
    try:
        _open(path)
    except UserError:
        return False
    return True


def _open(path: Path) -> _File:
    try:
        version = checksums.file_version(path)
    except OSError:
        raise UserError(f"{path} is missing; copy it again, or {AGAIN}.") from None
    return _index(path, version)


def _require_different(files: Sequence[_File]) -> None:
    """Raise UserError if a photo is in two files."""
    file_of: dict[str, Path] = {}
    for file in files:
        for name in file.names:
            if other := file_of.get(name):
                raise UserError(
                    f"{file.path} has the photo {name} of {other}; copy both again, or {AGAIN}."
                )
            file_of[name] = file.path
