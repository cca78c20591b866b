"""What becomes of fetched files: a folder of photos or texts, or the weights of a network.

What is made appears under its name when it is whole, and not before.
"""

from __future__ import annotations

import re
import shutil
import zlib
from pathlib import Path, PurePosixPath
from threading import Event
from zipfile import BadZipFile, ZipFile, ZipInfo

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.progress import StageProgress
from vsdemo.data.downloads.download import STOPPED

BAD_ZIP = (BadZipFile, EOFError, zlib.error, RuntimeError)  # the last: encrypted, unknown method


def half(folder: Path) -> Path:
    """The folder that is filled before it becomes `folder`."""
    return folder.with_name(f".{folder.name}.part")


def archive(file: Path, folder: Path, progress: StageProgress, cancel: Event) -> None:
    """Unpacks the photos and texts of a zip into one folder, going on where a killed call ended.

    Of a member's path only the last part counts, and only if it is a plain name, so nothing is
    ever written elsewhere. Raises UserError for a damaged zip, which is deleted, Cancelled, and
    OSError.
    """
    half(folder).mkdir(parents=True, exist_ok=True)
    try:
        with ZipFile(file) as zipped:
            _members(zipped, half(folder), progress, cancel)
    except BAD_ZIP:
        file.unlink()
        shutil.rmtree(half(folder))
        raise UserError(
            f"The archive {file.name} was damaged and has been deleted; fetch it again."
        ) from None
    half(folder).replace(folder)


def _members(zipped: ZipFile, folder: Path, progress: StageProgress, cancel: Event) -> None:
    members = {name: m for m in zipped.infolist() if (name := _plain_name(m))}
    if not members:
        raise BadZipFile
    begun = folder / ".part"
    done, total = 0, sum(m.file_size for m in members.values())
    for name, member in members.items():
        if cancel.is_set():
            raise Cancelled(STOPPED)
        if not (folder / name).exists():
            with zipped.open(member) as source, begun.open("wb") as target:
                shutil.copyfileobj(source, target)
            begun.replace(folder / name)
        done += member.file_size
        progress("Unpacking", done, total)
    begun.unlink(missing_ok=True)


def _plain_name(member: ZipInfo) -> str | None:
    """The name a member is unpacked to; None for what is left out."""
    path = PurePosixPath(member.filename)
    wanted = re.fullmatch(r"\w[\w.-]*\.(jpg|txt)", path.name)
    return path.name if wanted and "__MACOSX" not in path.parts else None


def weights(file: Path, target: Path, progress: StageProgress, cancel: Event) -> None:
    """Writes a network's .pth as .safetensors: half precision, names as torchvision has them now,
    no classifier. These are the bytes that the shipped checkpoints were trained on.

    Raises UserError for a damaged file, which is deleted, and OSError.
    """
    import torch

    from vsdemo.core import tensors

    try:
        state = {
            re.sub(r"(norm|conv)\.([12])", r"\1\2", name): tensor.half().contiguous()
            for name, tensor in torch.load(file, "cpu", weights_only=True).items()
            if name.startswith("features.")
        }
    except Exception as error:  # a pickle can fail in any way
        file.unlink()
        raise UserError(
            f"The weights {file.name} were damaged ({type(error).__name__}) and have been deleted; "
            "fetch them again."
        ) from None
    norms = [name.removesuffix("running_mean") for name in state if name.endswith("running_mean")]
    state |= {f"{norm}num_batches_tracked": torch.tensor(0) for norm in norms}
    tensors.write(target, state)
