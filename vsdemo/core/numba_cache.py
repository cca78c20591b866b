"""Where numba caches compiled code."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from vsdemo.core.paths import home


def let_numba_cache() -> None:
    """Let numba cache compiled code below VSDEMO_HOME if it cannot write anywhere else.

    Call this before numba is imported. By default numba writes next to the code or to the user's
    home folder; without write access to either, as in some containers, umap could not be imported.
    """
    packages = [Path(__file__).parents[1]]
    if (umap := find_spec("umap")) and umap.origin:
        packages.append(Path(umap.origin).parent)
    is_home_writable = os.access(Path.home(), os.W_OK)
    if not is_home_writable and not all(os.access(folder, os.W_OK) for folder in packages):
        os.environ.setdefault("NUMBA_CACHE_DIR", str(home() / "numba"))
