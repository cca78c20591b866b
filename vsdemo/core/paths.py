"""Locations of files, and writing that never leaves a partial file after a crash."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from threading import get_ident

import platformdirs

from vsdemo.core.errors import UserError

ROOT = Path(__file__).resolve().parents[2]

AnyPath = str | os.PathLike[str]


def to_path(path: AnyPath) -> Path:
    """Return a path that callers give as text or as a path; `~` is the user's home folder.

    Raises:
        UserError: It is neither.
    """
    try:
        return Path(path).expanduser()
    except (TypeError, RuntimeError):  # RuntimeError: `~` of an unknown user
        raise UserError(f"{str(path)[:80]!r} is not a path; give a string or a Path.") from None


def checkpoints_root() -> Path:
    """Return the folder of the included checkpoints: VSDEMO_CHECKPOINTS, or checkpoints/."""
    return _from_environment("VSDEMO_CHECKPOINTS") or ROOT / "checkpoints"


def short_name(folder: Path) -> str:
    """Return the last two parts of a checkpoint's path, such as "flickr8k/gru"."""
    return "/".join(folder.resolve().parts[-2:])


def fetch_root() -> Path:
    """Return the folder that `fetch` downloads to: VSDEMO_DATA, or data/ below VSDEMO_HOME."""
    return _from_environment("VSDEMO_DATA") or home() / "data"


def data_root() -> Path | None:
    """Return the folder of the data sets.

    It is VSDEMO_DATA or, if that is not set, the folder that `fetch` has downloaded to; None if
    that does not exist either.
    """
    root = fetch_root()
    return root if os.environ.get("VSDEMO_DATA") or root.is_dir() else None


def require_data(*parts: str, what: str) -> Path:
    """Return a path below the folder of the data sets.

    Args:
        *parts: The parts of the path.
        what: The data set's title for the error message.

    Raises:
        UserError: The path does not exist.
    """
    root = data_root()
    if root is None:
        raise UserError(
            f"{what} needs VSDEMO_DATA; set it to the folder that contains {parts[0]}/, or see "
            "`python -m vsdemo fetch`."
        )
    path = root.joinpath(*parts)
    if not path.exists():
        raise UserError(
            f"{what} is missing: {path}; see `python -m vsdemo data` for how to get it."
        )
    return path


def home() -> Path:
    """Return the cache folder: VSDEMO_HOME, or vsdemo/ in the platform's cache folder."""
    default = platformdirs.user_cache_path("vsdemo", appauthor=False, opinion=False)
    return _from_environment("VSDEMO_HOME") or default


def prepare_home() -> None:
    """Make the cache folder if it is missing.

    Raises:
        UserError: It cannot be made or written.
    """
    folder = home()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UserError(
            f"The cache folder {folder} cannot be written ({error.strerror or error}); set "
            "VSDEMO_HOME to a folder that you can write to."
        ) from None


def shorten_paths(text: str) -> str:
    """Return a message for visitors, who must not learn where the server keeps its folders."""
    folders = {ROOT: "", checkpoints_root(): "checkpoints/", home(): "VSDEMO_HOME/"}
    if data := data_root():
        folders[data] = "VSDEMO_DATA/"
    for folder in sorted(folders, key=lambda folder: len(folder.parts), reverse=True):
        text = text.replace(f"{folder}{os.sep}", folders[folder])
    return text


def printable(text: str) -> str:
    """Return a text with ? in place of what is not valid UTF-8, as in some file names."""
    return text.encode(errors="replace").decode()


def _from_environment(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value).expanduser().resolve() if value else None


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; its file replaces `path` if the block succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, in UTF-8."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
