"""Turn downloaded files into a folder of photos or texts, or into the weights of a network.

A result appears under its name only when it is complete.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
import zlib
from pathlib import Path, PurePosixPath
from threading import Event
from zipfile import BadZipFile, ZipFile, ZipInfo, is_zipfile

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.paths import atomic
from vsdemo.core.progress import StageProgress
from vsdemo.data.downloads.download import STOPPED, format_size

STAGE = "Unpacking"
SLACK = 1.25  # stated sizes are rounded
PRECISION = 4  # bytes downloaded per byte kept, at most; includes the classifier
BAD_ZIP = (BadZipFile, EOFError, zlib.error, RuntimeError)  # the last one: encrypted or unsupported


class TooLarge(Exception):
    """Raised for an archive that unpacks to more than it should."""


def partial_folder(folder: Path) -> Path:
    """Return the folder that is filled before it is renamed to `folder`."""
    return folder.with_name(f".{folder.name}.part")


def unpack_archive(
    file: Path, folder: Path, progress: StageProgress, cancel: Event, size: int
) -> None:
    """Unpack the photos and texts of a zip into one folder, resuming an interrupted call.

    Only the last part of a member's path is used, and only if it is a plain name, so nothing is
    written outside the folder. Links are left out.

    Args:
        file: The zip.
        folder: The folder to create.
        progress: Called with the unpacked bytes.
        cancel: Set it to stop.
        size: Approximate bytes of the unpacked data.

    Raises:
        UserError: The zip is damaged, or unpacks to far more than `size`; it is deleted.
        Cancelled: `cancel` is set.
        OSError: A file cannot be written.
    """
    partial = partial_folder(folder)
    partial.mkdir(parents=True, exist_ok=True)
    try:
        with ZipFile(file) as archive:
            _unpack_members(archive, partial, progress, cancel, size)
    except (*BAD_ZIP, TooLarge) as error:
        file.unlink()
        shutil.rmtree(partial)
        problem = "was damaged"
        if isinstance(error, TooLarge):
            problem = f"unpacks to more than the expected {format_size(size)}"
        raise UserError(
            f"The archive {file.name} {problem} and has been deleted; fetch it again."
        ) from None
    partial.replace(folder)


def _unpack_members(
    archive: ZipFile, folder: Path, progress: StageProgress, cancel: Event, size: int
) -> None:
    members = {name: m for m in archive.infolist() if (name := _plain_name(m))}
    if not members:
        raise BadZipFile
    current = folder / ".part"
    # No more than this is written: a member ends at the size that it states.
    done, total = 0, sum(member.file_size for member in members.values())
    if total > SLACK * size:
        raise TooLarge
    for name, member in members.items():
        if cancel.is_set():
            raise Cancelled(STOPPED)
        if not (folder / name).exists():
            with archive.open(member) as source, current.open("wb") as target:
                shutil.copyfileobj(source, target)
            current.replace(folder / name)
        done += member.file_size
        progress(STAGE, done, total)
    current.unlink(missing_ok=True)


def _plain_name(member: ZipInfo) -> str | None:
    """Return the name that a member is unpacked to; None if it is left out."""
    if stat.S_ISLNK(member.external_attr >> 16):
        return None
    path = PurePosixPath(member.filename)
    is_plain = re.fullmatch(r"\w[\w.-]*\.(jpg|txt)", path.name)
    return path.name if is_plain and "__MACOSX" not in path.parts else None


def convert_weights(
    file: Path,
    target: Path,
    progress: StageProgress,
    cancel: Event,
    size: int,
    *,
    sha256: str = "",
) -> None:
    """Convert a network's .pth to .safetensors without the classifier.

    The tensors are in half precision and have torchvision's present names. The included
    checkpoints were trained on exactly these bytes.

    Args:
        file: The .pth.
        target: The .safetensors to create.
        progress: Not called, because the conversion is fast.
        cancel: Not used, as for `progress`.
        size: Approximate bytes of the .safetensors.
        sha256: Checksum of the .safetensors; empty if it is not known.

    Raises:
        UserError: The file is damaged, or not the expected one; it is deleted.
        OSError: The target cannot be written.
    """
    import torch

    from vsdemo.core import tensors

    try:
        _check_packed(file, PRECISION * size)
        state = {
            re.sub(r"(norm|conv)\.([12])", r"\1\2", name): tensor.half().contiguous()
            for name, tensor in torch.load(file, "cpu", weights_only=True).items()
            if name.startswith("features.")
        }
    except Exception as error:  # damaged pickles raise all kinds of errors
        file.unlink()
        raise UserError(
            f"The weights {file.name} were damaged ({type(error).__name__}) and have been deleted; "
            "fetch them again."
        ) from None
    norms = [name.removesuffix("running_mean") for name in state if name.endswith("running_mean")]
    state |= {f"{norm}num_batches_tracked": torch.tensor(0) for norm in norms}
    content = tensors.to_bytes(state)
    if sha256 and hashlib.sha256(content).hexdigest() != sha256:
        file.unlink()
        raise UserError(
            f"The weights {file.name} are not the expected ones and have been deleted; fetch them "
            "again."
        )
    with atomic(target) as temporary:
        temporary.write_bytes(content)


def _check_packed(file: Path, limit: int) -> None:
    """Raise TooLarge if a file of weights, which is a zip since torch 1.6, unpacks to too much."""
    if is_zipfile(file):
        with ZipFile(file) as archive:
            if sum(member.file_size for member in archive.infolist()) > limit:
                raise TooLarge
