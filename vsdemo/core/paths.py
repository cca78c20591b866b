"""Where things live, and how files are written so that a crash never leaves half of one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident

from vsdemo.core.errors import UserError

ROOT = Path(__file__).resolve().parents[2]


def checkpoints_root() -> Path:
    """The folder of the shipped checkpoints: VSDEMO_CHECKPOINTS, or the project's own."""
    value = os.environ.get("VSDEMO_CHECKPOINTS")
    return Path(value).expanduser().resolve() if value else ROOT / "checkpoints"


def fetch_root() -> Path:
    """The folder that `fetch` fills: VSDEMO_DATA, or data/ below VSDEMO_HOME."""
    value = os.environ.get("VSDEMO_DATA")
    return Path(value).expanduser().resolve() if value else home() / "data"


def data_root() -> Path | None:
    """The folder of the data sets: VSDEMO_DATA, or where it is not set the one that `fetch` has
    filled; None when there is neither."""
    root = fetch_root()
    return root if os.environ.get("VSDEMO_DATA") or root.is_dir() else None


def require_data(*parts: str, what: str) -> Path:
    """The path below the folder of the data sets. Raises UserError when it is not there."""
    root = data_root()
    if root is None:
        raise UserError(
            f"{what} needs VSDEMO_DATA; set it to the folder that holds {parts[0]}/, or see "
            "`python -m vsdemo fetch`."
        )
    path = root.joinpath(*parts)
    if not path.exists():
        raise UserError(
            f"{what} is missing: {path}; see `python -m vsdemo data` for how to get it."
        )
    return path


def home() -> Path:
    """The cache folder: VSDEMO_HOME, or vsdemo/ in the platform's own cache folder."""
    if value := os.environ.get("VSDEMO_HOME"):
        return Path(value).expanduser().resolve()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "vsdemo"


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yields a temporary path beside `path`, renamed to it only when the block succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text file atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
