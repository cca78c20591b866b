"""Where numba keeps what it has compiled."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from vsdemo.core.paths import home


def let_numba_cache() -> None:
    """Let numba keep what it compiles below VSDEMO_HOME if it can write nowhere else.

    To be called before numba is imported. Otherwise umap could not be imported, for instance by the
    user of a container. By default numba writes beside the code, or to the user's own folder.
    """
    packages = [Path(__file__).parents[1]]
    if (umap := find_spec("umap")) and umap.origin:
        packages.append(Path(umap.origin).parent)
    is_home_writable = os.access(Path.home(), os.W_OK)
    if not is_home_writable and not all(os.access(folder, os.W_OK) for folder in packages):
        os.environ.setdefault("NUMBA_CACHE_DIR", str(home() / "numba"))
