"""The downloads by name, and where they are stored.

Nothing is downloaded without a request. An interrupted fetch, even a killed one, is resumed by the
next, even in the middle of a file or of an archive.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from threading import Event

from filelock import FileLock, Timeout

from vsdemo.core.errors import UserError
from vsdemo.core.paths import fetch_root
from vsdemo.core.progress import Progress, StageProgress
from vsdemo.data.downloads.download import bytes_on_disk, download, format_size
from vsdemo.data.downloads.files import Download, RemoteFile
from vsdemo.data.downloads.hub import CONFIG, WEIGHTS, HubModel, hub_file, model_download
from vsdemo.data.downloads.unpack import convert_weights, unpack_archive

STAGE = "Fetching"
FLICKR8K = "https://github.com/jbrownlee/Datasets/releases/download/Flickr8k"
# SHA-256 of the converted weights, which the included checkpoints were trained on.
DENSENET169 = "9a0cf6ef85b421331a0d14a41e6fe7d7e16d2a49b94bd5332528f712de962f25"
CLIP = "laion/CLIP-ViT-B-32-laion2B-s34B-b79K"
PE_CORE_S = "timm/PE-Core-S-16-384"
SIGLIP2 = "timm/ViT-B-16-SigLIP2"
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


class BeingFetched(UserError):
    """Another process is fetching the same download."""


DOWNLOADS = {
    "flickr8k": Download(
        title="Flickr8k",
        about="8,091 photos",
        files=(
            RemoteFile(
                url=f"{FLICKR8K}/Flickr8k_text.zip",
                size=2_340_801,
                digest="md5:bf6c1abcb8e4a833b7f922104de18627",
                destination="flickr8k/Flickr8k_text",
                unpacked_size=12_000_000,
                unpack=unpack_archive,
            ),
            RemoteFile(
                url=f"{FLICKR8K}/Flickr8k_Dataset.zip",
                size=1_115_419_746,
                digest="md5:f18a1e2920de5bd84dae7cf08ec78978",
                destination="flickr8k/Flicker8k_Dataset",
                unpacked_size=1_130_000_000,
                unpack=unpack_archive,
            ),
        ),
        terms="for research and education only",
    ),
    "densenet169": Download(
        title="DenseNet-169",
        about="the full image network",
        files=(
            RemoteFile(
                url="https://download.pytorch.org/models/densenet169-b2777c0a.pth",
                size=57_365_526,
                digest="sha256:b2777c0a",
                destination="models/densenet169_imagenet.fp16.safetensors",
                unpacked_size=26_000_000,
                # The server names only 32 bits of the file's own checksum.
                unpack=partial(convert_weights, sha256=DENSENET169),
            ),
        ),
        terms="BSD-3-Clause",
    ),
    "clip": HubModel(
        title="CLIP ViT-B-32",
        about="for photos of your own, trained on LAION-2B",
        files=(
            hub_file(CLIP, CONFIG, size=1_000),
            hub_file(CLIP, WEIGHTS, size=605_200_000),
        ),
        terms="MIT",
    ),
    "clip-pe-core-s": HubModel(
        title="PE-Core-S-16-384",
        about="a small Perception Encoder, for photos of your own",
        files=(
            hub_file(PE_CORE_S, CONFIG, size=600),
            hub_file(PE_CORE_S, WEIGHTS, size=348_800_000),
        ),
        terms="Apache-2.0",
    ),
    "clip-siglip2": HubModel(
        title="SigLIP 2 B/16",
        about="for photos of your own and sentences in many languages",
        files=(
            hub_file(SIGLIP2, CONFIG, size=1_000),
            hub_file(SIGLIP2, "special_tokens_map.json", size=300),
            hub_file(SIGLIP2, "tokenizer_config.json", size=46_000),
            hub_file(SIGLIP2, "tokenizer.json", size=34_400_000),
            hub_file(SIGLIP2, WEIGHTS, size=1_500_800_000),
        ),
        terms="Apache-2.0",
        package="transformers",
    ),
}


def find_download(name: str) -> Download:
    """Return a download: one of `DOWNLOADS`, or OWNER/NAME of a model on the Hugging Face Hub.

    Raises:
        UserError: There is none with this name.
    """
    if name.count("/") == 1:
        return model_download(name)
    if name not in DOWNLOADS:
        raise UserError(f"There is no {name!r} to fetch; valid names are {', '.join(DOWNLOADS)}.")
    return DOWNLOADS[name]


def fetch(name: str, progress: StageProgress, cancel: Event) -> None:
    """Download and unpack the missing files of a download.

    Args:
        name: As `find_download` takes it.
        progress: Called with bytes, first in the stage `Fetching`, then in `Unpacking`.
        cancel: Set it to stop.

    Raises:
        Cancelled: `cancel` is set.
        BeingFetched: Another process is fetching the same download.
        UserError: The name is unknown, a package that its use needs is not installed, the server
            cannot be reached, the disk is full, or a file is not the expected one.
    """
    wanted = find_download(name)
    if wanted.missing:
        _check_package(wanted)
    with _exclusive(name, wanted):
        missing = wanted.checked()
        for i, file in enumerate(missing):
            if not file.path.exists():
                before = sum(bytes_on_disk(other.path) for other in missing[:i])
                after = sum(other.size for other in missing[i + 1 :])
                report = _overall(progress, before, after)
                download(file.url, file.path, report, cancel, limit=file.size)
            _verify(file)
        for file in missing:
            file.unpack(file.path, file.target, progress, cancel, file.unpacked_size)
        for file in wanted.files:
            for leftover in file.path.parent.glob(f"{file.path.name}*"):
                leftover.unlink()


def _check_package(wanted: Download) -> None:
    """Raise UserError if a download could not be used because a package is missing."""
    if wanted.package and find_spec(wanted.package) is None:
        raise UserError(
            f"{wanted.title} needs the package {wanted.package}; run "
            f"`pip install {wanted.package}`, then fetch it again."
        )


def _overall(progress: StageProgress, before: int, after: int) -> Progress:
    """Return a callback for one of several files that reports the bytes of all."""

    def report(done: int, total: int) -> None:
        progress(STAGE, before + done, before + total + after if total else 0)

    return report


def _verify(file: RemoteFile) -> None:
    """Delete a file and raise UserError if it is not the expected one."""
    algorithm, _, expected = file.digest.partition(":")
    with file.path.open("rb") as opened:
        if algorithm == "git":
            content = opened.read()  # small: large files have another checksum
            blob = b"blob %d\0" % len(content) + content
            actual = hashlib.sha1(blob, usedforsecurity=False).hexdigest()
        else:
            new = partial(hashlib.new, algorithm, usedforsecurity=False)
            actual = hashlib.file_digest(opened, new).hexdigest()
    if not actual.startswith(expected):
        file.path.unlink()
        raise UserError(
            f"{file.url} is not the expected file (its {algorithm.upper()} is {actual[:8]}..., not "
            f"{expected[:8]}...), so it has been deleted; fetch it again."
        )


@contextmanager
def _exclusive(name: str, wanted: Download) -> Iterator[None]:
    """Lock a download, check the disk space, and turn OSErrors into UserErrors."""
    root = fetch_root()
    try:
        (root / ".fetch").mkdir(parents=True, exist_ok=True)
        with FileLock(root / ".fetch" / f"{name.replace('/', '--')}.lock", timeout=0):
            required, free = _required_space(wanted), shutil.disk_usage(root).free
            if required > free:
                raise UserError(
                    f"{wanted.title} needs {format_size(required)} in {root}, where only "
                    f"{format_size(free)} are free; make room, or set VSDEMO_DATA to a folder on "
                    "another disk."
                )
            yield
    except Timeout:
        raise BeingFetched(
            f"{wanted.title} is being fetched already; wait until that is finished."
        ) from None
    except OSError as error:
        if error.errno in DISK_FULL:
            raise UserError(
                f"The disk with {root} is full; make room for "
                f"{format_size(_required_space(wanted))} and fetch {wanted.title} again, which "
                "resumes from there."
            ) from None
        reason = error.strerror or str(error)
        raise UserError(f"{error.filename or root} cannot be written ({reason}).") from None


def _required_space(wanted: Download) -> int:
    return sum(file.required_space for file in wanted.missing)
